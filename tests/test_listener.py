"""The scripted servers as bytes see them: what they refuse, what they bound, and that nothing of them stays behind."""

import copy
import http.client
import json
import os
import socket
import threading
import time

import pytest
from tests.speakers import APIS, MessagesApi, Said, answered, asked

from commonplace.testing.listener import BODY_BYTES
from commonplace.testing.scripted import Delivery, Reply, ScriptedModel, ToolCall, When, call
from commonplace.testing.servers import AnthropicServer, OpenAIServer

PATHS = {"messages": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses"}
KEYS = {"x-api-key": "any", "authorization": "Bearer any"}


@pytest.fixture(params=APIS, ids=lambda api: api.name)
def api(request):
    return request.param


def port(server):
    return int(server.base_url.split(":")[2].split("/")[0])


def post(server, path, body, *, method="POST", **headers):
    """The status and the JSON of one request, sent as it stands."""
    connection = http.client.HTTPConnection("127.0.0.1", port(server), timeout=10)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, KEYS | headers)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, {} if answer.getheader("content-type").startswith("text/event") else json.loads(text)
    finally:
        connection.close()


def message(answer):
    return answer[1]["error"]["message"]


def good(api):
    """A body each API takes."""
    return json.loads(json.dumps(api.params(asked("hello", tools=("look",)))))


# --- what is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b"{" * 5000, b"[" * 100_000, b'{"a": 1} x'],
    ids=lambda body: repr(body[:8]),
)
def test_a_body_that_is_no_json_object_is_the_providers_400(api, body):
    with api.server(ScriptedModel()) as server:
        status, told = post(server, PATHS[api.name], body)
    assert status == 400
    assert told["error"]["type"] == "invalid_request_error"
    assert "the body is not" in told["error"]["message"]


def spots(value, *at):
    """Where something stands in a JSON document, everywhere."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (*at, key)
        yield from spots(inner, *at, key)


def changed(body, spot, wrong):
    body = copy.deepcopy(body)
    holder = body
    for key in spot[:-1]:
        holder = holder[key]
    holder[spot[-1]] = wrong
    return body


def test_whatever_stands_anywhere_the_answer_is_the_providers(api):
    """Taken or refused with its 400, never a crash: leaving the server would raise it."""
    talk = asked("hello", system="Be brief.", tools=("look",))
    said = Said("Looking.", (ToolCall("look", {"a": 1}, "a"), ToolCall("look", {}, "b")), "", 0, 0)
    body = api.params(answered(talk, said, "one", "two"))
    body |= {"stream": True, "stream_options": {"include_usage": True}} if api.name == "chat" else {}
    tried = [changed(body, spot, wrong) for spot in spots(body) for wrong in (None, 5, True, "text", [], {}, [5], [[]])]
    with api.server(ScriptedModel(When(lambda _: True, Reply("ok", (call("x"),)), again=True))) as server:
        for one in tried:
            status, told = post(server, PATHS[api.name], one)
            assert (status, "message" in (told.get("error") or {})) in {(200, False), (400, True)}, one
    assert len(tried) > 150
    assert 10 < len(server.model.requests) < len(tried) / 2


TURN = {"role": "user", "content": "hello"}
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "x", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "y"}]}
CALL = {
    "role": "assistant",
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "x", "arguments": "{}"}}],
}
TOOL = {"role": "tool", "tool_call_id": "a", "content": "y"}
FUNCTION = {"type": "function_call", "call_id": "a", "name": "x", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "a", "output": "y"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"max_tokens": None}, "max_tokens: this should be an integer, not null"),
        ({"messages": []}, "messages: at least one message is required"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages.0.role: this should be one of user, assistant"),
        ({"messages": [{"role": "user", "content": ""}]}, "messages.0.content: only the last message may be empty"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}, "a text block should have text"),
        ({"messages": [TURN, USE]}, "no result follows for the tool calls a"),
        ({"messages": [TURN, USE, TURN, RESULT]}, "no result follows for the tool calls a"),
        ({"messages": [RESULT]}, "no tool call stands before the results a"),
        ({"thread": {"type": "continue", "previous_message_id": "msg_9"}}, "no message 'msg_9' is held here"),
        ({"thread": "continue"}, "thread: this should be an object, not a string"),
        ({"tools": [{"name": "x"}]}, "tools.0.input_schema: this field is required"),
        ({"tools": [{"name": "x y", "input_schema": {}}]}, "tools.0.name: 'x y' should be 1 to 128 letters"),
        ({"tools": [{"name": "x", "input_schema": {}}] * 2}, "tools: each name may be there once"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_messages_api_would_refuse_is_refused(change, why):
    with AnthropicServer(ScriptedModel()) as server:
        answer = post(server, "/v1/messages", good(MessagesApi) | change)
    assert answer[0] == 400
    assert why in message(answer)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"messages": []}, "messages: at least one message is required"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages.0.role: this should be one of system, developer"),
        ({"messages": [{"role": "user"}]}, "messages.0.content: this field is required"),
        ({"messages": [TURN, CALL]}, "no result follows for the tool calls a"),
        ({"messages": [TURN, TOOL]}, "no tool call stands before the results a"),
        ({"messages": [{**CALL, "tool_calls": [{"id": "a"}]}]}, "tool_calls.0.function: this field is required"),
        ({"tools": [{"type": "function", "function": {"name": "x" * 65}}]}, "should be 1 to 64 letters"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_chat_completions_would_refuse_is_refused(change, why):
    with OpenAIServer(ScriptedModel()) as server:
        answer = post(server, "/v1/chat/completions", {"model": "m", "messages": [TURN]} | change)
    assert answer[0] == 400
    assert why in message(answer)
    assert answer[1]["error"].keys() == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"input": []}, "input: at least one item is required"),
        ({"input": [{"role": "tool", "content": "x"}]}, "input.0.role: this should be user, assistant"),
        ({"input": [{"role": "user"}]}, "input.0.content: this field is required"),
        ({"input": [TURN, FUNCTION]}, "no output follows for the function calls a"),
        ({"input": [OUTPUT, FUNCTION]}, "no function call stands before the outputs a"),
        ({"input": [{**FUNCTION, "arguments": "{"}]}, "arguments: this should be JSON"),
        ({"previous_response_id": "resp_9"}, "no response 'resp_9' is kept here"),
        ({"previous_response_id": ["x"]}, "previous_response_id: this should be a string, not an array"),
        ({"tools": [{"type": "function"}]}, "tools.0.name: this field is required"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_responses_api_would_refuse_is_refused(change, why):
    with OpenAIServer(ScriptedModel()) as server:
        answer = post(server, "/v1/responses", {"model": "m", "input": "hello"} | change)
    assert answer[0] == 400
    assert why in message(answer)


def test_outputs_of_the_responses_api_may_come_later():
    items = [TURN, FUNCTION, {**FUNCTION, "call_id": "b"}, {**OUTPUT, "call_id": "b"}, TURN, OUTPUT]
    with OpenAIServer(ScriptedModel("ok")) as server:
        assert post(server, "/v1/responses", {"model": "m", "input": items})[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}"])
def test_a_page_that_points_here_under_another_name_is_refused(api, host):
    with api.server(ScriptedModel()) as server:
        answer = post(server, PATHS[api.name], good(api), host=host.format(port=port(server)))
    assert answer[0] == 403
    assert "this server is called 127.0.0.1:" in message(answer)


def test_localhost_is_a_name_of_it_too(api):
    with api.server(ScriptedModel("ok")) as server:
        assert post(server, PATHS[api.name], good(api), host=f"localhost:{port(server)}")[0] == 200


def test_any_key_will_do_but_none_will_not(api):
    with api.server(ScriptedModel()) as server:
        answer = post(server, PATHS[api.name], good(api), **dict.fromkeys(KEYS, ""))
    assert answer[0] == 401
    assert "send any in the header" in message(answer)


@pytest.mark.parametrize(("method", "path"), [("POST", "/v1/nothing"), ("GET", "/v1/messages"), ("POST", "/v1/models")])
def test_an_address_that_is_not_served_is_not_found(api, method, path):
    with api.server(ScriptedModel()) as server:
        answer = post(server, path, {}, method=method)
    assert answer[0] == 404
    assert message(answer) == f"there is no {method} {path} here"


def test_another_method_is_refused_in_json(api):
    with api.server(ScriptedModel()) as server:
        answer = post(server, PATHS[api.name], {}, method="PATCH")
    assert answer[0] == 501


# --- what is bounded -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [BODY_BYTES + 1, "9" * 5000], ids=["a byte", "5000 digits"])
def test_a_body_that_is_too_long_is_refused_before_it_is_read(api, length):
    with api.server(ScriptedModel()) as server:
        connection = http.client.HTTPConnection("127.0.0.1", port(server), timeout=10)
        connection.putrequest("POST", PATHS[api.name])
        connection.putheader("content-length", str(length))
        connection.endheaders()
        answer = connection.getresponse()
        assert answer.status == 413
        assert str(BODY_BYTES) in json.loads(answer.read())["error"]["message"]
        connection.close()


def test_a_client_that_sends_too_much_is_told_so_all_the_same():
    talk = asked("x" * (BODY_BYTES + 1))
    with AnthropicServer(ScriptedModel()) as server, MessagesApi.client(server) as client:
        with pytest.raises(MessagesApi.sdk.RequestTooLargeError):
            MessagesApi.say(client, talk)


@pytest.mark.parametrize("length", ["", "-1", "many", "0x10"])
def test_a_body_of_no_stated_length_is_refused(length):
    with AnthropicServer(ScriptedModel()) as server:
        connection = http.client.HTTPConnection("127.0.0.1", port(server), timeout=10)
        connection.putrequest("POST", "/v1/messages")
        if length:
            connection.putheader("content-length", length)
        connection.endheaders()
        answer = connection.getresponse()
        assert answer.status == 411
        answer.read()
        connection.close()


# --- what stays behind -----------------------------------------------------------------------------------------


def open_files():
    return len(os.listdir("/dev/fd"))


def test_nothing_of_a_server_stays_when_it_is_left(api):
    threads, files = set(threading.enumerate()), open_files()
    late = Reply("late", delivery=Delivery(wait=60))
    began = time.monotonic()
    with api.server(ScriptedModel(late, late, "ok")) as server:
        silent = [socket.create_connection(("127.0.0.1", port(server))) for _ in range(3)]
        half = [socket.create_connection(("127.0.0.1", port(server))) for _ in range(3)]
        for one in half:
            one.sendall(b"POST /v1/messages HTTP/1.1\r\ncontent-length: 100\r\n\r\n{")
        for _ in range(2):
            one = http.client.HTTPConnection("127.0.0.1", port(server), timeout=10)
            one.request("POST", PATHS[api.name], json.dumps(good(api)), KEYS)
            half.append(one)
        while len(server.model.requests) < 2:
            time.sleep(0.005)
        assert post(server, PATHS[api.name], good(api))[0] == 200
    for one in silent + half:
        one.close()
    assert time.monotonic() - began < 5
    assert set(threading.enumerate()) <= threads
    assert open_files() <= files


def test_a_server_has_an_address_only_while_it_runs_and_may_run_again():
    server = AnthropicServer(ScriptedModel("one", "two"))
    for _ in range(2):
        with pytest.raises(ValueError, match="only inside its `with` block"):
            server.base_url  # noqa: B018
        with server, MessagesApi.client(server) as client:
            MessagesApi.say(client, asked("x"))
    assert server.model.left == ()


def test_a_client_that_goes_away_is_no_error_of_the_script():
    long = Reply("x" * 5000, (call("y"),), delivery=Delivery(pause=0.001))
    with AnthropicServer(ScriptedModel(long, "ok")) as server:
        connection = http.client.HTTPConnection("127.0.0.1", port(server), timeout=10)
        connection.request("POST", "/v1/messages", json.dumps(good(MessagesApi) | {"stream": True}), KEYS)
        connection.getresponse().read(10)
        connection.close()
        assert post(server, "/v1/messages", good(MessagesApi))[0] == 200


def test_the_same_script_gives_the_same_bytes(api):
    def play():
        model = ScriptedModel(Reply("Looking.", (call("look", a=1),)), "ok")
        with api.server(model) as server:
            return [post(server, PATHS[api.name], good(api)) for _ in range(2)]

    assert play() == play()
