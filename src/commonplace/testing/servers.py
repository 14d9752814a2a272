"""Servers on this machine that speak as Anthropic's and OpenAI's do, so that their real SDKs run offline.

    with AnthropicServer(ScriptedModel("Run ./deploy.sh.")) as server:
        client = anthropic.Anthropic(base_url=server.base_url, api_key="any")

They know which address has which API, and leave sockets to `listener.py`, the APIs to the wire files and the answers to
the model. They import no SDK and reach no network.
"""

from __future__ import annotations

from threading import Thread
from types import TracebackType
from typing import Self

from commonplace.testing import wire_anthropic, wire_chat
from commonplace.testing.embeddings import ScriptedEmbeddings
from commonplace.testing.listener import Api, Asked, Listener
from commonplace.testing.scripted import ScriptedModel
from commonplace.testing.wire_embeddings import Embeddings
from commonplace.testing.wire_responses import Responses

# How soon the thread that accepts connections notices that it should end.
_NOTICE = 0.005


class ScriptedServer:
    """Serves a model on 127.0.0.1, on a port of its own, while the `with` block runs.

    Leaving it ends every thread and connection. If the script had no answer, or a function of it raised, and the block
    itself did not fail, leaving raises that: an agent that swallows errors does not hide it.
    """

    def __init__(self, model: ScriptedModel, api: Api, prefix: str = "") -> None:
        """`prefix` is what the SDK's base address ends with."""
        self.model = model
        self._api, self._prefix = api, prefix
        self._listener: Listener | None = None
        self._thread: Thread | None = None

    @property
    def base_url(self) -> str:
        """What the SDK takes under this name."""
        if self._listener is None:
            raise ValueError("a server has an address only inside its `with` block")
        return f"http://127.0.0.1:{self._listener.server_address[1]}{self._prefix}"

    def __enter__(self) -> Self:
        self._listener = Listener(self._api)
        self._thread = Thread(target=self._listener.serve_forever, args=(_NOTICE,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, at: TracebackType | None
    ) -> None:
        listener, thread = self._listener, self._thread
        self._listener = self._thread = None
        if listener is None or thread is None:
            return
        listener.shutdown()
        thread.join()
        listener.hang_up()
        if listener.problems and kind is None:
            raise listener.problems[0]


class AnthropicServer(ScriptedServer):
    """The Messages API: `anthropic.Anthropic(base_url=server.base_url, api_key="any")`."""

    def __init__(self, model: ScriptedModel) -> None:
        tells = {
            "POST /v1/messages/count_tokens": wire_anthropic.count_tokens,
            "GET /v1/models": lambda _: wire_anthropic.listed(model),
            f"GET /v1/models/{model.name}": lambda _: wire_anthropic.described(model),
        }
        asks = {"/v1/messages": Asked(wire_anthropic.Messages(), model)}
        keys = ("x-api-key", "authorization")
        super().__init__(model, Api(asks, tells, wire_anthropic.error, keys, id_header="request-id"))


class OpenAIServer(ScriptedServer):
    """Chat Completions, Responses and Embeddings: `openai.OpenAI(base_url=server.base_url, api_key="any")`."""

    def __init__(self, model: ScriptedModel, embeddings: ScriptedEmbeddings | None = None) -> None:
        self.embeddings = embeddings or ScriptedEmbeddings()
        tells = {
            "GET /v1/models": lambda _: wire_chat.listed(model),
            f"GET /v1/models/{model.name}": lambda _: wire_chat.described(model),
        }
        asks = {
            "/v1/chat/completions": Asked(wire_chat.Chat(), model),
            "/v1/responses": Asked(Responses(), model),
            "/v1/embeddings": Asked(Embeddings(), self.embeddings),
        }
        super().__init__(model, Api(asks, tells, wire_chat.error, ("authorization",), "x-request-id"), prefix="/v1")
