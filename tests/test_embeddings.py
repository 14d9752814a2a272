"""Vectors from a server: the scripted one for what servers do, and a bare socket's answers for what none should."""

import json
import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import isclose, sqrt

import pytest

from commonplace import open_memory
from commonplace.adapters.embeddings import EmbeddingsServer
from commonplace.errors import NoEncoder
from commonplace.open import encoder_of
from commonplace.recall.semantic import LENGTH, closeness
from commonplace.settings import read_settings
from commonplace.testing.embeddings import ScriptedEmbeddings, hashed
from commonplace.testing.scripted import Delivery, Failure, ScriptedModel
from commonplace.testing.servers import OpenAIServer

KEY = "sk-very-secret"
SOON = 5.0


@contextmanager
def serving(*script, size=64, **options):
    """An encoder over a scripted server."""
    embeddings = ScriptedEmbeddings(*script, size=size)
    with OpenAIServer(ScriptedModel(), embeddings) as server:
        yield EmbeddingsServer(server.base_url, "any-model", KEY, **options), embeddings


@contextmanager
def answering(body, status=200, headers=(), pause=0.0):
    """An encoder over a server that answers these bytes, one by one if there is a pause; and the requests it gets."""
    got = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            sent = self.rfile.read(int(self.headers["content-length"]))
            got.append((self.path, {name.lower(): value for name, value in self.headers.items()}, json.loads(sent)))
            said = body(json.loads(sent)["input"]) if callable(body) else body
            self.send_response(status)
            for name, value in (("content-length", str(len(said))), *headers):
                self.send_header(name, value)
            self.end_headers()
            for start in range(0, len(said), 1 if pause else max(1, len(said))):
                try:
                    self.wfile.write(said[start : start + (1 if pause else len(said))])
                except OSError:
                    return
                if pause and stopped.wait(pause):
                    return

        def log_message(self, *_):
            pass

    stopped = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", got
    finally:
        stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()


def listed(*vectors, **more):
    return json.dumps({"data": [{"index": i, "embedding": v} for i, v in enumerate(vectors)], **more}).encode()


def length(vector):
    return sqrt(sum(value * value for value in memoryview(vector).cast("b")))


# --- what it is for ------------------------------------------------------------------------------------------------


def test_texts_that_share_words_are_near_and_every_vector_has_the_one_length():
    with serving() as (encoder, _):
        query, near, far = encoder.vectors(["cut a release", "how we cut a release here", "tea without milk"])
    assert closeness(query, [near])[0] > 0.6 > 0.3 > closeness(query, [far])[0]
    assert all(isclose(length(vector), LENGTH, rel_tol=0.02) for vector in (query, near, far))


def test_bytes_say_what_the_numbers_said():
    texts = ["cut a release", "tea", "how we cut a release here"]
    with serving(size=768) as (encoder, _):
        one, *others = encoder.vectors(texts)
    first, *rest = [hashed(text, 768) for text in texts]
    exact = [sum(a * b for a, b in zip(first, other, strict=True)) for other in rest]
    assert closeness(one, others) == pytest.approx(exact, abs=0.02)


def test_the_key_names_server_model_and_size_once_the_server_has_told_it():
    with serving(size=48) as (encoder, embeddings):
        assert encoder.key.endswith("/v1/embeddings any-model")
        assert not embeddings.requests
        encoder.vectors(["one"])
        assert encoder.size == 48
        assert encoder.key.endswith("/v1/embeddings any-model/48")


def test_many_texts_go_in_pieces_and_come_back_in_their_order():
    texts = [f"text number {number}" for number in range(70)]
    with serving() as (encoder, embeddings):
        assert encoder.vectors(texts) == [encoder.vectors([text])[0] for text in texts]
    assert [len(request.messages) for request in embeddings.requests[:3]] == [32, 32, 6]


def test_no_text_asks_nothing_and_an_empty_one_is_near_to_nothing():
    with serving(size=8) as (encoder, embeddings):
        assert encoder.vectors([]) == []
        assert encoder.vectors(["", " \n"]) == [b"", b""]  # nobody has told a size yet
        assert not embeddings.requests
        first, empty, last = encoder.vectors(["one", "", "two"])
        assert (any(first), empty, any(last)) == (True, bytes(8), True)


def test_what_is_sent_is_what_the_api_takes():
    with answering(listed([1.0, 0.0], [0.0, 2.0])) as (url, got):
        EmbeddingsServer(f"{url}/v1/?api-version=3", "m", KEY).vectors(["half \ud800 a pair", "x" * 20_000])
    ((path, headers, body),) = got
    assert path == "/v1/embeddings?api-version=3"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert body == {"model": "m", "input": ["half ? a pair", "x" * 8_000]}


def test_a_server_that_wants_no_key_gets_none():
    with answering(listed([1.0])) as (url, got):
        EmbeddingsServer(f"{url}/v1/embeddings", "m").vectors(["one"])
    assert "authorization" not in got[0][1]
    assert got[0][0] == "/v1/embeddings"


def test_vectors_that_come_in_another_order_are_put_in_order():
    data = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [-1, 0]}]
    with answering(json.dumps({"data": data}).encode()) as (url, _):
        assert EmbeddingsServer(url, "m").vectors(["a", "b"]) == [bytes([129, 0]), bytes([0, 127])]


def test_numbers_of_any_size_become_bytes():
    with answering(listed([1e300, -1e300], [1e-300, 0], [0, 0], [3, 4])) as (url, _):
        found = EmbeddingsServer(url, "m").vectors(list("abcd"))
    assert [list(memoryview(vector).cast("b")) for vector in found] == [[90, -90], [127, 0], [0, 0], [76, 102]]


def test_a_proxy_is_not_asked_for_what_is_on_this_machine(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with serving() as (encoder, _):
        assert any(encoder.vectors(["one"])[0])


# --- what goes wrong -----------------------------------------------------------------------------------------------

TROUBLES = [
    (Failure(401, "Incorrect key"), ["status 401", "Incorrect key", "COMMONPLACE_EMBEDDINGS_KEY"]),
    (Failure(403), ["status 403", "COMMONPLACE_EMBEDDINGS_KEY"]),
    (Failure(404, "no such model"), ["status 404", "no such model", "COMMONPLACE_EMBEDDINGS_MODEL"]),
    (Failure(400, "too long"), ["status 400", "too long"]),
    (Failure(429, "Slow down", retry_after=1), ["status 429", "Slow down", "wait"]),
    (Failure(500), ["status 500"]),
    (Failure(503, "loading\n\x1b[31mred\u202e"), ["status 503", "loading"]),
    (Failure(401, f"no {KEY} here"), ["no (the key) here"]),
    (Delivery(wait=60), ["did not answer within 0.3 seconds", "start it"]),
    (Delivery(broken="cut", after=0), ["could not be reached", "start it"]),
    (Delivery(broken="cut"), ["is not JSON"]),
    (Delivery(broken="json"), ["is not JSON"]),
    (Delivery(broken="error"), ["status 500"]),
    (lambda _: [hashed("one"), hashed("two", 3)], ["3 and 64 numbers", "which model"]),
    (lambda _: [hashed("one")], ["1 vectors to 2 texts"]),
    (lambda _: [hashed("x")] * 3, ["3 vectors to 2 texts"]),
    (lambda _: [], ["0 vectors to 2 texts"]),
    (lambda _: [[], []], ["no list of numbers"]),
    (lambda _: [[float("nan")], [1.0]], ["not finite"]),
    (lambda _: [[float("inf")], [1.0]], ["not finite"]),
    (lambda _: [[1e308, 1e308, 1e308, 1e308], [1.0]], ["not finite"]),
    (lambda _: [["1"], ["2"]], ["what are no numbers"]),
    (lambda _: [[True], [False]], ["what are no numbers"]),
    (lambda _: [[None], [1.0]], ["what are no numbers"]),
]


@pytest.mark.parametrize(("trouble", "told"), TROUBLES, ids=[f"{i}-{told[0]}" for i, (_, told) in enumerate(TROUBLES)])
def test_a_trouble_is_told_with_its_cure_and_nothing_is_asked_twice(trouble, told):
    began = time.monotonic()
    with serving(trouble, timeout=0.3) as (encoder, embeddings):
        with pytest.raises(NoEncoder) as problem:
            encoder.vectors(["one", "two"])
    assert all(part in str(problem.value) for part in told), problem.value
    assert "COMMONPLACE_EMBEDDINGS=words" in str(problem.value)
    assert KEY not in str(problem.value)
    assert str(problem.value).isprintable()
    assert len(embeddings.requests) == 1
    assert time.monotonic() - began < SOON


ANSWERS = [
    (b"", "not JSON"),
    (b"<html>welcome</html>", "not JSON"),
    (b"[" * 100_000, "not JSON"),
    (b"\xff\xfe", "not JSON"),
    (b"null", "without a list"),
    (b"[]", "without a list"),
    (b"{}", "without a list"),
    (b'{"data": {}}', "without a list"),
    (b'{"data": [1]}', "without a list"),
    (b'{"data": [{"index": 1, "embedding": [1]}]}', "or not one for each"),
    (b'{"data": [{"index": "0", "embedding": [1]}]}', "or not one for each"),
    (b'{"data": [{"index": [], "embedding": [1]}]}', "or not one for each"),
    (b'{"data": [{"index": true, "embedding": [1]}]}', "or not one for each"),
    (b'{"data": [{"index": 0}]}', "no list of numbers"),
    (b'{"data": [{"embedding": "AACAPw=="}]}', "no list of numbers"),
    (b'{"data": [{"embedding": {}}]}', "no list of numbers"),
    (b'{"data": [{"embedding": [1' + b",1" * 16_384 + b"]}]}", "no list of numbers"),
    (b'{"data": [{"embedding": [[1]]}]}', "no numbers"),
    (b'{"data": [{"embedding": [1' + b"0" * 400 + b"]}]}", "not finite"),
    (b'{"data": [{"embedding": [1' + b"0" * 5000 + b"]}]}", "not JSON"),
    (b'{"data": [{"embedding": [NaN]}]}', "not finite"),
]


@pytest.mark.parametrize(("body", "told"), ANSWERS, ids=[f"{i}-{body[:30]!r}" for i, (body, _) in enumerate(ANSWERS)])
def test_no_answer_is_taken_unseen(body, told):
    with answering(body) as (url, _):
        with pytest.raises(NoEncoder, match=told):
            EmbeddingsServer(url, "m").vectors(["one"])


def test_a_vector_of_another_size_than_before_is_refused():
    with serving(Delivery(), lambda _: [hashed("two", 3)]) as (encoder, _):
        encoder.vectors(["one"])
        with pytest.raises(NoEncoder, match="3 and 64 numbers"):
            encoder.vectors(["two"])
        assert encoder.size == 64


def test_what_is_no_http_is_told_in_plain_letters():
    def greet():
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"\x1b[31mSSH-2.0 \xe2\x80\xae\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(NoEncoder, match="could not be reached: ") as problem:
            EmbeddingsServer(f"http://127.0.0.1:{listening.getsockname()[1]}", "m").vectors(["one"])
        thread.join()
    assert str(problem.value).isprintable()


def test_an_answer_that_drips_in_is_cut_off_in_time():
    began = time.monotonic()
    with answering(listed([1.0] * 200), pause=0.05) as (url, _):
        with pytest.raises(NoEncoder, match=r"did not answer within 0\.3 seconds"):
            EmbeddingsServer(url, "m", timeout=0.3).vectors(["one"])
        assert time.monotonic() - began < SOON


def test_an_answer_without_an_end_is_cut_off():
    with answering(b" " * (16 * 1024 * 1024 + 1)) as (url, _):
        with pytest.raises(NoEncoder, match="more than 16,777,216 bytes"):
            EmbeddingsServer(url, "m").vectors(["one"])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_text_and_key_go_nowhere_else(status):
    with answering(listed([1.0])) as (elsewhere, stolen), answering(b"", status, [("location", elsewhere)]) as (url, _):
        with pytest.raises(NoEncoder, match=f"status {status}"):
            EmbeddingsServer(url, "m", KEY).vectors(["one"])
    assert not stolen


def test_a_server_that_is_not_there_is_told_at_once():
    with answering(b"") as (url, _):
        pass
    with pytest.raises(NoEncoder, match="could not be reached: .*refused; start it"):
        EmbeddingsServer(url, "m").vectors(["one"])


@pytest.mark.parametrize("trouble", [Failure(500), Failure(429), Delivery(broken="cut", after=0), Delivery(wait=60)])
def test_a_server_that_failed_is_left_alone_for_a_while(trouble):
    with serving(trouble, timeout=0.3, rest=0.6) as (encoder, embeddings):
        for told in ("embeddings server", "asked again 0.6 seconds after"):
            with pytest.raises(NoEncoder, match=told):
                encoder.vectors(["one"])
        assert len(embeddings.requests) == 1
        time.sleep(0.7)
        assert any(encoder.vectors(["one"])[0])


def test_a_text_a_server_cannot_take_does_not_hide_the_others():
    with serving(Failure(400)) as (encoder, _):
        with pytest.raises(NoEncoder):
            encoder.vectors(["one"])
        assert any(encoder.vectors(["two"])[0])


# --- settings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "model", "key", "told"),
    [
        ("ftp://example.com", "m", "", "no address"),
        ("file:///etc/passwd", "m", "", "no address"),
        ("http://", "m", "", "no address"),
        ("http://host:99999", "m", "", "no address"),
        ("http://host:0", "m", "", "no address"),
        ("http://[::1", "m", "", "no address"),
        ("http://a..b/v1", "m", "", "no address"),
        (f"http://{'a' * 64}.example/v1", "m", "", "no address"),
        ("http://host/a b", "m", "", "no address"),
        ("http://host/\r\nx: y", "m", "", "no address"),
        ("http://größe/v1", "m", "", "no address"),
        ("http://user:hunter2@host/v1", "m", "", "COMMONPLACE_EMBEDDINGS_KEY"),
        ("http://host/v1", "", "", "COMMONPLACE_EMBEDDINGS_MODEL"),
        ("http://host/v1", "m", "a\r\nb", "COMMONPLACE_EMBEDDINGS_KEY"),
        ("http://host/v1", "m", "schlüssel", "COMMONPLACE_EMBEDDINGS_KEY"),
    ],
)
def test_a_setting_that_cannot_be_right_is_told_before_anything_is_sent(base, model, key, told):
    with pytest.raises(NoEncoder, match=told) as problem:
        EmbeddingsServer(base, model, key)
    assert "hunter2" not in str(problem.value)


def test_the_settings_pick_the_server(book):
    env = {"HOME": "/home/ana", "COMMONPLACE_EMBEDDINGS_MODEL": " m ", "COMMONPLACE_EMBEDDINGS_KEY": f" {KEY}\n"}
    with OpenAIServer(ScriptedModel()) as server:
        settings = read_settings(book, {**env, "COMMONPLACE_EMBEDDINGS": server.base_url})
        assert any(encoder_of(settings).vectors(["one"])[0])
    assert settings.embeddings_key == KEY
    assert KEY not in repr(settings)


@pytest.mark.parametrize(
    ("said", "meant"),
    [("", "words"), (" WORDS ", "words"), ("minilm", "minilm"), ("off", "off"), ("0", "off"), ("No", "off"), ("http://A/v1", "http://A/v1")],
)  # fmt: skip
def test_the_word_in_the_settings_may_be_written_as_people_write(book, said, meant):
    assert read_settings(book, {"HOME": "/home/ana", "COMMONPLACE_EMBEDDINGS": said}).embeddings == meant


@pytest.mark.parametrize("trouble", [None, Failure(500), Failure(401), Delivery(broken="cut", after=0), lambda _: []])
def test_words_find_whatever_the_server_does(home, book, trouble):
    embeddings = ScriptedEmbeddings(*([] if trouble is None else [trouble] * 9))
    with OpenAIServer(ScriptedModel(), embeddings) as server:
        env = {
            "COMMONPLACE_EMBEDDINGS": server.base_url,
            "COMMONPLACE_EMBEDDINGS_MODEL": "m",
            "COMMONPLACE_EMBEDDINGS_KEY": KEY,
        }
        with open_memory(settings=read_settings(book, {"COMMONPLACE_HOME": str(home), **env})) as memory:
            memory.save("We deploy with ./deploy.sh, which refuses a dirty tree.", name="deploys")
            memory.save("The office is on the third floor.", name="office")
            assert [hit.name for hit in memory.recall("how do we deploy").hits] == ["deploys"]
    sent = [turn.text for request in embeddings.requests for turn in request.messages]
    assert "how do we deploy" in sent
    assert any("./deploy.sh" in text for text in sent) == (trouble is None)


def test_a_word_nobody_knows_is_told_with_those_there_are(book):
    settings = read_settings(book, {"HOME": "/home/ana", "COMMONPLACE_EMBEDDINGS": "ada-002"})
    with pytest.raises(NoEncoder, match="none of: words, minilm, off, the address of a server"):
        encoder_of(settings)


def test_off_is_no_encoder_and_the_default_is_the_shipped_table(book):
    assert encoder_of(read_settings(book, {"HOME": "/home/ana", "COMMONPLACE_EMBEDDINGS": "off"})) is None
    assert type(encoder_of(read_settings(book, {"HOME": "/home/ana"}))).__name__ == "StaticWords"
