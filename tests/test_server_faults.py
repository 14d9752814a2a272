"""What the real SDKs make of a provider that refuses, is slow or breaks off, and of a script that has no answer."""

import time

import anthropic
import pytest
from tests.speakers import APIS, MessagesApi, ResponsesApi, asked

from commonplace.testing.scripted import Delivery, Failure, Reply, ScriptedModel, call
from commonplace.testing.servers import AnthropicServer

TEXT = "Releases go through ./deploy.sh, and no other way."
CALLS = (call("memory_search", query="how do I cut a release", limit=5), call("memory_read", name="größe"))
# How long an answer that never comes lets a client wait, and the least and most that shows it.
LATE, SHORT, SOON = 60.0, 0.15, 5.0


@pytest.fixture(params=APIS, ids=lambda api: api.name)
def api(request):
    return request.param


@pytest.fixture(params=["say", "stream"])
def ask(request, api):
    """`ask(client, talk)`: whole and as a stream, over each API."""
    return getattr(api, request.param)


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, "BadRequestError", "invalid_request_error"),
        (401, "AuthenticationError", "authentication_error"),
        (403, "PermissionDeniedError", "permission_error"),
        (404, "NotFoundError", "not_found_error"),
        (429, "RateLimitError", "rate_limit_error"),
        (500, "InternalServerError", "api_error"),
        (529, "InternalServerError", "overloaded_error"),
    ],
)
def test_a_failure_is_the_sdks_own_error(api, ask, status, error, kind):
    with api.server(ScriptedModel(Failure(status, "no, said the script"))) as server, api.client(server) as client:
        with pytest.raises(getattr(api.sdk, error), match="no, said the script") as problem:
            ask(client, asked("x"))
    assert problem.value.status_code == status
    assert problem.value.request_id == "req_1"
    assert problem.value.response.headers[api.request_id] == "req_1"
    if api is MessagesApi:
        assert problem.value.type == kind
        assert problem.value.body["request_id"] == "req_1"
    else:
        kinds = {429: "requests", 500: "server_error", 529: "server_error"}
        assert problem.value.type == kinds.get(status, "invalid_request_error")


def test_a_client_waits_as_long_as_it_is_told_and_asks_once_more(api):
    model = ScriptedModel(Failure(429, retry_after=0.6), "Now.")
    began = time.monotonic()
    with api.server(model) as server, api.client(server, max_retries=1) as client:
        assert api.say(client, asked("x")).text == "Now."
    assert time.monotonic() - began >= 0.6  # by itself an SDK waits half a second at most
    assert len(model.requests) == 2
    assert model.requests[0] == model.requests[1]


def test_an_answer_that_does_not_begin_times_out(api, ask):
    model = ScriptedModel(Reply("late", delivery=Delivery(wait=LATE)))
    began = time.monotonic()
    with api.server(model) as server, api.client(server, timeout=SHORT) as client:
        with pytest.raises(api.sdk.APITimeoutError):
            ask(client, asked("x"))
    assert SHORT <= time.monotonic() - began < SOON


def test_a_stream_that_stalls_times_out(api):
    model = ScriptedModel(Reply(TEXT, delivery=Delivery(pause=LATE)))
    began = time.monotonic()
    with api.server(model) as server, api.client(server, timeout=SHORT) as client:
        with pytest.raises(api.lost) as problem:
            api.stream(client, asked("x"))
    assert "Timeout" in type(problem.value).__name__
    assert SHORT <= time.monotonic() - began < SOON


def test_a_slow_stream_arrives_whole(api):
    model = ScriptedModel(Reply("One two three.", delivery=Delivery(wait=0.02, pause=0.005)))
    with api.server(model) as server, api.client(server) as client:
        assert api.stream(client, asked("x")).text == "One two three."


@pytest.mark.parametrize("after", [0, 1, 3, 99])
def test_a_connection_that_is_cut_is_an_error(api, ask, after):
    model = ScriptedModel(Reply(TEXT, CALLS, delivery=Delivery(broken="cut", after=after)))
    with api.server(model) as server, api.client(server) as client:
        with pytest.raises(api.lost):
            ask(client, asked("x"))


def test_half_a_document_is_an_error(api, ask):
    model = ScriptedModel(Reply(TEXT, CALLS, delivery=Delivery(broken="json", after=3)))
    with api.server(model) as server, api.client(server) as client:
        with pytest.raises((ValueError, api.sdk.APIError)):
            ask(client, asked("x"))


def test_a_provider_that_gives_up_says_so_in_its_own_words(api):
    broken = Reply(TEXT, delivery=Delivery(broken="error", after=3))
    with api.server(ScriptedModel(broken, broken)) as server, api.client(server) as client:
        with pytest.raises(api.sdk.InternalServerError, match="the script ends this here"):
            api.say(client, asked("x"))
        if api is ResponsesApi:  # its SDK hands the event on
            events = list(client.responses.create(**api.params(asked("x")), stream=True))
            assert [event.sequence_number for event in events] == [0, 1, 2, 3]
            assert (events[-1].type, events[-1].message) == ("error", "the script ends this here")
        else:
            with pytest.raises(api.sdk.APIError, match="the script ends this here"):
                api.stream(client, asked("x"))


def test_past_the_end_of_the_script_the_client_is_told_once_and_the_test_fails(api):
    model = ScriptedModel("One.")
    with pytest.raises(AssertionError, match="no step for request 2"), api.server(model) as server:  # noqa: PT012
        with api.client(server, max_retries=2) as client:
            api.say(client, asked("a"))
            with pytest.raises(api.sdk.BadRequestError, match="no step for request 2: every step was played"):
                api.say(client, asked("b"))
    assert len(model.requests) == 2


def test_what_a_step_raises_is_raised_where_the_server_is_left(api, ask):
    def play(turn):
        return turn.raw["no such key"]

    with pytest.raises(KeyError, match="no such key"), api.server(ScriptedModel(play)) as server:
        with api.client(server) as client, pytest.raises(api.sdk.BadRequestError, match="KeyError"):
            ask(client, asked("x"))


def test_an_error_of_the_test_itself_is_not_hidden_by_the_scripts():
    with pytest.raises(anthropic.BadRequestError), AnthropicServer(ScriptedModel()) as server:
        with MessagesApi.client(server) as client:
            MessagesApi.say(client, asked("x"))
