"""The scripted model by itself: no HTTP, no SDK."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from commonplace.testing.scripted import (
    Failure,
    Message,
    Reply,
    Request,
    ScriptedModel,
    ToolCall,
    ToolResult,
    When,
    call,
)


def asking(text, **more):
    return Request(messages=(Message("user", text),), **more)


def texts(model, *asked):
    return [model.answer(asking(text)).text for text in asked]


def test_a_script_is_played_from_top_to_bottom():
    model = ScriptedModel("One.", Reply("Two."), "Three.")
    assert texts(model, "a", "b", "c") == ["One.", "Two.", "Three."]
    assert model.left == ()


def test_a_step_may_be_a_function_of_what_is_asked():
    model = ScriptedModel(
        lambda asked: f"{asked.said}, {asked.system}, {asked.tools}",
        lambda _: Failure(500),
        lambda asked: Reply(calls=(call("memory_search", query=asked.said),)),
    )
    assert model.answer(asking("a", system="be brief", tools=("t",))).text == "a, be brief, ('t',)"
    assert model.answer(asking("b")) == Failure(500)
    assert model.answer(asking("c")).calls == (ToolCall("memory_search", {"query": "c"}, "call_1"),)


def test_a_guarded_step_waits_for_the_request_it_is_for():
    model = ScriptedModel(
        When(lambda asked: "deploy.sh" in asked.result, "Run it."),
        When(lambda asked: "notes" in asked.system, "With notes."),
        "Without.",
    )
    assert model.answer(asking("a")).text == "Without."
    assert len(model.left) == 2
    assert model.answer(asking("b", system="your notes")).text == "With notes."
    turns = (Message("assistant", calls=(call("x"),)), Message("tool", results=(ToolResult("x", "see ./deploy.sh"),)))
    assert model.answer(Request(messages=turns)).text == "Run it."
    assert model.left == ()


def test_a_step_that_is_played_again_stays_but_is_not_left_over():
    model = ScriptedModel(When(lambda asked: asked.said == "ping", "pong", again=True), "Done.")
    assert texts(model, "ping", "ping", "x", "ping") == ["pong", "pong", "Done.", "pong"]
    assert model.left == ()


def test_calls_get_ids_in_the_order_they_are_made_unless_they_have_one():
    model = ScriptedModel(Reply(calls=(call("a"), call("b"))), Reply(calls=(ToolCall("c", id="mine"), call("d"))))
    assert [[c.id for c in model.answer(asking("x")).calls] for _ in "12"] == [["call_1", "call_2"], ["mine", "call_3"]]


def test_past_the_end_the_error_says_what_was_asked():
    model = ScriptedModel("One.", name="mini")
    model.answer(asking("a"))
    with pytest.raises(AssertionError) as problem:
        model.answer(asking("how do I cut a release", tools=("memory_search", "memory_read")))
    said = str(problem.value)
    assert "'mini' has no step for request 2: every step was played" in said
    assert "from the user: 'how do I cut a release'" in said
    assert "Tools offered: memory_search, memory_read" in said
    assert len(model.requests) == 2


def test_if_no_guard_says_yes_the_error_says_so_and_quotes_results_in_part():
    model = ScriptedModel(When(lambda _: False, "Never."), When(lambda _: False, "Nor this."))
    with pytest.raises(AssertionError, match=r"of the steps left \(2\) each has a guard that says no") as problem:
        model.answer(Request(messages=(Message("tool", results=(ToolResult("x", "long " * 1000),)),)))
    assert "from the tool: 'long long" in str(problem.value)
    assert len(str(problem.value)) < 600


def test_requests_are_kept_as_they_were_and_a_guard_may_look_at_them():
    model = ScriptedModel(When(lambda _: len(model.requests) == 2, "Second."), "First.")
    first, second = asking("a", raw={"k": 1}), asking("b", system="s")
    assert [model.answer(one).text for one in (first, second)] == ["First.", "Second."]
    assert model.requests == (first, second)


def test_said_and_result_are_the_last_of_their_kind():
    turns = (
        Message("user", "old"), Message("assistant", calls=(call("x"),)), Message("tool", results=(ToolResult("1", "old"),)),
        Message("user", "new"), Message("assistant", calls=(call("x"), call("y"))),
        Message("tool", results=(ToolResult("2", "one"), ToolResult("3", "two"))), Message("user", "a reminder"),
    )  # fmt: skip
    request = Request(messages=turns)
    assert (request.said, request.result) == ("a reminder", "one\ntwo")
    assert Request(messages=turns[:5]).result == ""
    assert (Request().said, Request().result) == ("", "")


def test_no_step_is_played_twice_among_threads():
    model = ScriptedModel(*(str(number) for number in range(200)))
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda _: model.answer(asking("x")).text, range(200)))
    assert sorted(said, key=int) == [str(number) for number in range(200)]
    assert len(model.requests) == 200
