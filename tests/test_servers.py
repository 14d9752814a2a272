"""The real SDKs of two providers, over three APIs, against the scripted servers. What they parse is what the script says."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import anthropic
import openai
import pytest
from tests.speakers import APIS, ChatApi, MessagesApi, ResponsesApi, answered, asked

from commonplace.testing.scripted import Message, Reply, Request, ScriptedModel, ToolCall, When, call
from commonplace.testing.servers import AnthropicServer, OpenAIServer

TEXT = "Releases go through ./deploy.sh; 深い理由 — and “no other way”.\n\n\U0001f5d2 \x85\u2028 done"
CALLS = (
    call("memory_search", query="how do I cut a release", limit=5),
    call("memory_read", name="größe", deep={"list": [1, 2.5, None, True], "empty": {}}),
)
TOOLS = ("memory_search", "memory_read")
STOPPED = {"messages": "end_turn", "chat": "stop", "responses": "completed"}
CALLED = {"messages": "tool_use", "chat": "tool_calls", "responses": "completed"}
CUT = {"messages": "max_tokens", "chat": "length", "responses": "max_output_tokens"}


@pytest.fixture(params=APIS, ids=lambda api: api.name)
def api(request):
    return request.param


@pytest.fixture(params=["say", "stream"])
def ask(request, api):
    """`ask(client, talk)`: whole and as a stream, over each API."""
    return getattr(api, request.param)


def named(*calls):
    return tuple(ToolCall(wanted.name, wanted.arguments, f"call_{place}") for place, wanted in enumerate(calls, 1))


# --- what comes back -----------------------------------------------------------------------------------------------


def test_a_text_arrives_as_the_script_says_it(api, ask):
    with api.server(ScriptedModel(TEXT)) as server, api.client(server) as client:
        said = ask(client, asked("how do I cut a release"))
    assert (said.text, said.calls, said.reason) == (TEXT, (), STOPPED[api.name])


def test_parallel_calls_arrive_with_their_arguments(api, ask):
    with api.server(ScriptedModel(Reply("Let me look.", CALLS))) as server, api.client(server) as client:
        said = ask(client, asked("how do I cut a release", tools=TOOLS))
    assert (said.text, said.calls, said.reason) == ("Let me look.", named(*CALLS), CALLED[api.name])


def test_a_tool_round_trip_brings_the_result_to_the_model(api, ask):
    model = ScriptedModel(Reply(calls=CALLS), lambda turn: f"It says: {turn.result}")
    with api.server(model) as server, api.client(server) as client:
        talk = asked("how do I cut a release", tools=TOOLS)
        said = ask(client, talk)
        said = ask(client, answered(talk, said, "run ./deploy.sh", "nothing"))
    assert said.text == "It says: run ./deploy.sh\nnothing"
    assert model.left == ()


def test_a_stream_comes_in_pieces_of_text_and_of_arguments(api):
    with api.server(ScriptedModel(Reply(TEXT, CALLS[:1]))) as server, api.client(server) as client:
        said = api.stream(client, asked("x", tools=TOOLS))
    assert len(said.pieces) > 8
    assert "".join(said.pieces) == TEXT + json.dumps(dict(CALLS[0].arguments))


def test_a_reply_may_be_empty(api, ask):
    with api.server(ScriptedModel("")) as server, api.client(server) as client:
        assert ask(client, asked("x"))[:3] == ("", (), STOPPED[api.name])


def test_a_reply_may_be_cut_short(api):
    half = Reply("Half a", cut_short=True)
    with api.server(ScriptedModel(half, half)) as server, api.client(server) as client:
        assert api.say(client, asked("x"))[:3] == ("Half a", (), CUT[api.name])
        if api is MessagesApi:
            assert api.stream(client, asked("x"))[:3] == ("Half a", (), "max_tokens")
        elif api is ChatApi:
            with pytest.raises(openai.LengthFinishReasonError):
                api.stream(client, asked("x"))
        else:
            *_, last = client.responses.create(**api.params(asked("x")), stream=True)
            assert (last.type, last.response.output_text) == ("response.incomplete", "Half a")


def test_a_call_without_arguments_is_an_empty_object(api, ask):
    with api.server(ScriptedModel(Reply(calls=(call("memory_view"),)))) as server, api.client(server) as client:
        assert ask(client, asked("x")).calls == (ToolCall("memory_view", {}, "call_1"),)


def test_eight_clients_at_once_are_each_told_their_own(api, ask):
    together = threading.Barrier(8, timeout=10)

    def play(turn):
        together.wait()  # all eight are inside at the same time
        return f"You are {turn.said}"

    def talk(number):
        with api.client(server) as client:
            return ask(client, asked(f"client {number}")).text

    with api.server(ScriptedModel(When(lambda _: True, play, again=True))) as server, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(talk, range(8))) == [f"You are client {number}" for number in range(8)]
    assert len(server.model.requests) == 8


# --- what the model is told ------------------------------------------------------------------------------------


def test_the_recorded_request_is_exact(api, ask):
    model = ScriptedModel(Reply("Looking.", CALLS[:1]), "Done.")
    with api.server(model) as server, api.client(server) as client:
        talk = asked("how do I cut a release", system="Be brief.\nUse notes.", tools=TOOLS)
        talk = answered(talk, ask(client, talk), "run ./deploy.sh")
        ask(client, talk)
    stream = ask.__name__ == "stream"
    sent = api.params(talk)
    raw = sent | ({"stream": True} if stream else {})
    if api is ChatApi and stream:
        raw["stream_options"] = {"include_usage": True}
    assert model.requests[1] == Request(
        api=api.name, model=sent["model"], system="Be brief.\nUse notes.", messages=talk.turns, tools=TOOLS,
        stream=stream, raw=raw,
    )  # fmt: skip
    assert model.requests[0].messages == talk.turns[:1]


def test_what_the_sdk_gave_can_be_sent_back_as_it_is():
    first, second = Reply("Looking.", CALLS), "Done."
    with AnthropicServer(ScriptedModel(first, second)) as server, MessagesApi.client(server) as client:
        sent = MessagesApi.params(asked("x", tools=TOOLS))
        message = client.messages.create(**sent)
        results = [
            {
                "type": "tool_result",
                "tool_use_id": b.id,
                "content": [{"type": "text", "text": "none"}],
                "is_error": True,
            }
            for b in message.content[1:]
        ]
        turns = [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
        client.messages.create(**sent | {"messages": sent["messages"] + turns})
    assert [(r.id, r.text, r.failed) for r in server.model.requests[1].messages[2].results] == [
        ("call_1", "none", True), ("call_2", "none", True),
    ]  # fmt: skip
    with OpenAIServer(ScriptedModel(first, second)) as server, ChatApi.client(server) as client:
        sent = ChatApi.params(asked("x", tools=TOOLS))
        said = client.chat.completions.create(**sent).choices[0].message
        results = [{"role": "tool", "tool_call_id": c.id, "content": "none"} for c in said.tool_calls]
        client.chat.completions.create(**sent | {"messages": [*sent["messages"], said, *results]})
    assert server.model.requests[1].messages[1] == Message("assistant", "Looking.", named(*CALLS))


def test_a_response_goes_on_from_the_one_before_it():
    model = ScriptedModel(Reply("Looking.", CALLS[:1]), "Run ./deploy.sh.", "Still that.")
    with OpenAIServer(model) as server, ResponsesApi.client(server) as client:
        first = client.responses.create(model="m", instructions="Be brief.", input="how do I cut a release")
        output = [{"type": "function_call_output", "call_id": "call_1", "output": "deploy.sh"}]
        second = client.responses.create(model="m", input=output, previous_response_id=first.id)
        third = client.responses.create(
            model="m", input=[{"role": "user", "content": "again"}], previous_response_id=second.id, store=False
        )
        with pytest.raises(openai.BadRequestError, match=f"no response '{third.id}' is kept"):
            client.responses.create(model="m", input="and again", previous_response_id=third.id)
    assert [turn.role for turn in model.requests[2].messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert [turn.system for turn in model.requests] == ["Be brief.", "", ""]


def test_the_memorys_own_tools_are_taken_by_every_api(api, memory):
    shape = {"messages": "anthropic", "chat": "openai", "responses": "responses"}[api.name]
    fact = "We deploy with ./deploy.sh, which refuses a dirty tree."
    model = ScriptedModel(
        Reply(calls=(call("memory_write", text=fact, kind="project"),)),
        Reply(calls=(call("memory_search", query="deploy"),)),
        When(lambda turn: "./deploy.sh" in turn.result, "Run ./deploy.sh."),
    )
    with api.server(model) as server, api.client(server) as client:
        talk = asked("how do I cut a release")
        for _ in "12":
            said = api.say(client, talk, tools=memory.tools(shape))
            told = [memory.run_tool(wanted.name, wanted.arguments).text for wanted in said.calls]
            talk = answered(talk, said, *told)
        assert api.say(client, talk, tools=memory.tools(shape)).text == "Run ./deploy.sh."
    assert model.requests[0].tools == model.requests[2].tools
    assert "memory_search" in model.requests[0].tools


def test_the_sdks_own_tool_loop_runs_and_the_model_sees_all_of_it():
    @anthropic.beta_tool
    def memory_search(query: str) -> str:
        """Search the notes."""
        return f"{query}: run ./deploy.sh"

    model = ScriptedModel(Reply(calls=(call("memory_search", query="release"),)), lambda turn: turn.result)
    with AnthropicServer(model) as server, MessagesApi.client(server) as client:
        turns = [{"role": "user", "content": "how do I cut a release"}]
        loop = client.beta.messages.tool_runner(
            model="m", max_tokens=9, system="Be brief.", tools=[memory_search], messages=turns
        )
        assert loop.until_done().content[0].text == "release: run ./deploy.sh"
    first, second = model.requests
    assert second.raw["thread"] == {"type": "continue", "previous_message_id": "msg_1"}
    assert (second.system, second.tools) == (first.system, first.tools) == ("Be brief.", ("memory_search",))
    assert [turn.role for turn in second.messages] == ["user", "assistant", "tool"]


def test_instructions_come_from_wherever_the_api_has_them():
    block = {"type": "text", "text": "two", "cache_control": {"type": "ephemeral"}}
    with AnthropicServer(ScriptedModel("ok")) as server, MessagesApi.client(server) as client:
        system = [{"type": "text", "text": "one"}, block]
        turns = [{"role": "user", "content": "x"}, {"role": "system", "content": "three"}]
        client.messages.create(model="m", max_tokens=9, system=system, messages=turns)
    (request,) = server.model.requests
    assert (request.system, request.messages[1]) == ("one\ntwo", Message("system", "three"))
    with OpenAIServer(ScriptedModel("ok", "ok")) as server, ChatApi.client(server) as client:
        turns = [
            {"role": "system", "content": "one"}, {"role": "developer", "content": [{"type": "text", "text": "two"}]},
            {"role": "user", "content": "x"}, {"role": "developer", "content": "three"},
        ]  # fmt: skip
        client.chat.completions.create(model="m", messages=turns)
        client.responses.create(model="m", instructions="zero", input=[turns[0], *turns[2:]])
    chat, response = server.model.requests
    assert (chat.system, response.system) == ("one\ntwo", "zero\none")
    assert chat.messages == response.messages == (Message("user", "x"), Message("system", "three"))


def test_what_is_no_text_stands_as_its_type():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    with AnthropicServer(ScriptedModel("ok")) as server, MessagesApi.client(server) as client:
        turns = [{"role": "user", "content": [{"type": "text", "text": "see"}, image]}]
        client.messages.create(model="m", max_tokens=9, messages=turns)
    assert server.model.requests[0].said == "see\n[image]"


# --- tokens and models -------------------------------------------------------------------------------------------


def test_a_token_is_four_characters_and_the_count_agrees():
    with AnthropicServer(ScriptedModel("12345678", "ok")) as server, MessagesApi.client(server) as client:
        sent = MessagesApi.params(asked("x" * 4000, system="s" * 400, tools=TOOLS))
        message = client.messages.create(**sent)
        sent.pop("max_tokens")
        assert client.messages.count_tokens(**sent).input_tokens == message.usage.input_tokens
    assert message.usage.output_tokens == 2
    assert 1100 <= message.usage.input_tokens <= 1150
    assert len(server.model.requests) == 1


def test_a_marked_prefix_is_read_from_the_cache_until_a_byte_of_it_changes():
    def cost(system, *texts, tools=TOOLS, **more):
        mark = {"cache_control": {"type": "ephemeral"}}
        turns = [{"type": "text", "text": text} for text in texts]
        turns[-1] |= mark
        sent = MessagesApi.params(asked("x", tools=tools)) | {"messages": [{"role": "user", "content": turns}]} | more
        usage = client.messages.create(**sent, system=[{"type": "text", "text": system, **mark}]).usage
        return usage.cache_read_input_tokens, usage.cache_creation_input_tokens, usage.input_tokens

    model = ScriptedModel(When(lambda _: True, "ok", again=True))
    with AnthropicServer(model) as server, MessagesApi.client(server) as client:
        read, wrote, rest = cost("s" * 800, "a" * 400)
        assert (read, rest) == (0, 0)
        assert wrote > 300
        assert cost("s" * 800, "a" * 400) == (wrote, 0, 0)
        read, more, rest = cost("s" * 800, "a" * 400, "b" * 400)
        assert (read, rest) == (wrote, 0)
        assert more > 100
        assert cost("s" * 799 + "t", "a" * 400)[0] == 0
        assert cost("s" * 800, "a" * 400, tools=TOOLS[::-1])[0] == 0
        assert cost("s" * 800, "a" * 400, model="another")[0] == 0
        assert 200 < cost("s" * 800, "a" * 400, tool_choice={"type": "any"})[0] < wrote
    assert model.left == ()


@pytest.mark.parametrize("api", [ChatApi, ResponsesApi], ids=["chat", "responses"])
def test_openai_caches_every_prefix_without_being_asked(api):
    model = ScriptedModel(Reply(calls=CALLS[:1]), "ok", "ok")
    with api.server(model) as server, api.client(server) as client:
        talk = asked("x" * 400, system="s" * 400)
        first = api.say(client, talk)
        second = api.say(client, answered(talk, first, "found"))
        other = api.say(client, talk._replace(system="S" + "s" * 399))
    assert (first.cached, second.cached, other.cached) == (0, first.total, 0)
    assert second.total > first.total


def test_the_model_is_listed_by_its_name():
    with AnthropicServer(ScriptedModel(name="mini")) as server, MessagesApi.client(server) as client:
        assert [one.id for one in client.models.list()] == [client.models.retrieve("mini").id] == ["mini"]
        with pytest.raises(anthropic.NotFoundError):
            client.models.retrieve("maxi")
    with OpenAIServer(ScriptedModel(name="mini")) as server, ChatApi.client(server) as client:
        assert [one.id for one in client.models.list()] == [client.models.retrieve("mini").id] == ["mini"]
