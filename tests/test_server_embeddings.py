"""The real OpenAI SDK asks the scripted server for vectors: what it parses is what the script says, failures too."""

import math
import time

import openai
import pytest

from commonplace.testing.embeddings import ScriptedEmbeddings, hashed
from commonplace.testing.scripted import Delivery, Failure, ScriptedModel, When
from commonplace.testing.servers import OpenAIServer

SHORT, SOON = 0.15, 5.0


@pytest.fixture
def serve():
    """`serve(*script)`: a server and the SDK's client for it, until the test ends."""
    open_ = []

    def start(*script, model=None, **options):
        server = OpenAIServer(model or ScriptedModel(), ScriptedEmbeddings(*script))
        open_.append(server.__enter__())
        client = openai.OpenAI(base_url=server.base_url, api_key="any", **{"max_retries": 0, **options})
        open_.append(client)
        return server, client

    yield start
    for one in reversed(open_):
        one.__exit__(None, None, None)


def test_each_text_gets_its_vector_in_its_place(serve):
    server, client = serve()
    answer = client.embeddings.create(model="any-model", input=["cut a release", "größe 深い"])
    assert [row.index for row in answer.data] == [0, 1]
    assert [row.embedding for row in answer.data] == [
        pytest.approx(hashed("cut a release"), abs=1e-6), pytest.approx(hashed("größe 深い"), abs=1e-6),
    ]  # fmt: skip
    assert (answer.model, answer.object, answer.usage.total_tokens) == ("any-model", "list", 6)
    (request,) = server.embeddings.requests
    assert (request.api, request.model) == ("embeddings", "any-model")
    assert [turn.text for turn in request.messages] == ["cut a release", "größe 深い"]


@pytest.mark.parametrize("form", ["float", "base64"])
def test_both_forms_of_a_vector_say_the_same(serve, form):
    _, client = serve()
    (row,) = client.embeddings.create(model="m", input="cut a release", encoding_format=form).data
    if form == "float":
        assert tuple(row.embedding) == hashed("cut a release")
    else:
        assert isinstance(row.embedding, str)
        assert len(row.embedding) == 4 * math.ceil(64 * 4 / 3)


def test_a_size_that_is_asked_for_is_given(serve):
    _, client = serve()
    assert len(client.embeddings.create(model="m", input="x", dimensions=5).data[0].embedding) == 5


def test_words_make_the_vector_and_nothing_else_does(serve):
    _, client = serve()
    one, same, other = client.embeddings.create(model="m", input=["The Release!", "release: the", "tea"]).data
    assert one.embedding == pytest.approx(same.embedding)
    assert sum(a * b for a, b in zip(one.embedding, other.embedding, strict=True)) < 0.5


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"input": ""}, "input.0: this should not be empty"),
        ({"input": ["one", ""]}, "input.1: this should not be empty"),
        ({"input": []}, "1 to 2,048 texts, not 0"),
        ({"input": ["x"] * 2049}, "not 2,049"),
        ({"input": [1, 2]}, "input.0: this should be a string"),
        ({"input": [[1, 2]]}, "input.0: this should be a string"),
        ({"input": "x", "dimensions": 0}, "dimensions: this should be 1 to 3,072"),
        ({"input": "x", "dimensions": 10**9}, "dimensions"),
        ({"input": "x", "encoding_format": "hex"}, "encoding_format"),
    ],
)
def test_what_the_provider_would_refuse_is_refused(serve, given, told):
    server, client = serve()
    with pytest.raises(openai.BadRequestError, match=told):
        client.embeddings.create(model="m", **given)
    assert not server.embeddings.requests


def test_a_failure_is_the_sdks_own_error_and_a_patient_client_gets_through(serve):
    server, client = serve(Failure(429, "Slow down"), Failure(429, retry_after=0.1))
    with pytest.raises(openai.RateLimitError, match="Slow down"):
        client.embeddings.create(model="m", input="x")
    assert client.with_options(max_retries=1).embeddings.create(model="m", input="x").data
    assert len(server.embeddings.requests) == 3
    assert server.embeddings.left == ()


def test_an_answer_that_does_not_come_times_out(serve):
    _, client = serve(Delivery(wait=60), timeout=SHORT)
    began = time.monotonic()
    with pytest.raises(openai.APITimeoutError):
        client.embeddings.create(model="m", input="x")
    assert time.monotonic() - began < SOON


@pytest.mark.parametrize("how", [Delivery(broken="cut", after=0), Delivery(broken="cut"), Delivery(broken="json"), Delivery(broken="error")])  # fmt: skip
def test_an_answer_that_breaks_off_is_an_error(serve, how):
    _, client = serve(how)
    with pytest.raises((ValueError, openai.APIError)):
        client.embeddings.create(model="m", input="x")


def test_a_function_makes_the_vectors_the_server_should_not(serve):
    _, client = serve(lambda request: [[0.5] * 3 for _ in request.messages], lambda _: [])
    assert client.embeddings.create(model="m", input="x", encoding_format="float").data[0].embedding == [0.5] * 3
    with pytest.raises(ValueError, match="No embedding data"):
        client.embeddings.create(model="m", input="x")


def test_what_a_step_raises_is_raised_where_the_server_is_left():
    embeddings = ScriptedEmbeddings(lambda request: request.raw["no such key"])
    with pytest.raises(KeyError, match="no such key"), OpenAIServer(ScriptedModel(), embeddings) as server:
        with openai.OpenAI(base_url=server.base_url, api_key="any", max_retries=0) as client:
            with pytest.raises(openai.BadRequestError):
                client.embeddings.create(model="m", input="x")


def test_asking_for_vectors_takes_no_step_of_the_models_script(serve):
    server, client = serve(model=ScriptedModel(When(lambda request: request.api == "chat", "Hello.")))
    client.embeddings.create(model="m", input="x")
    ask = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    assert client.chat.completions.create(**ask).choices[0].message.content == "Hello."
    assert len(server.model.requests) == len(server.embeddings.requests) == 1
