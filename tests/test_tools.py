"""The list of tools: one table in every shape, the same bytes for everybody, and words a model can go by."""

import inspect
import json
import os
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from tests.places import snapshot
from tests.test_preamble import GOLDEN, assert_golden

from commonplace import Answer, Memory, Saved, open_memory
from commonplace.errors import NoTools
from commonplace.index.catalog import Catalog
from commonplace.index.sidecar import Sidecar
from commonplace.note.kind import KINDS, Kind
from commonplace.prompt.preamble import FULL, NO_TOOLS, PROFILES, Profile, authority
from commonplace.store.ram import RamStore
from commonplace.tools.dispatch import WORK
from commonplace.tools.gate import ROLES
from commonplace.tools.render import SHAPES, rendered
from commonplace.tools.table import DELETE, READ, TABLE, clue, description, offered
from commonplace.tools.toolbox import Toolbox

VERBS = [row.verb for row in TABLE]
# Every shape of the full list, and the smaller lists in one of them.
GOLDENS = [*((shape, "full") for shape in SHAPES), ("anthropic", "remember-recall"), ("anthropic", "write-search")]
# One tool fewer, one tool only, and names of one's own.
ODD_PROFILES = [
    *(FULL._replace(**{verb: ""}) for verb in VERBS),
    *(Profile(**{verb: "the_tool"}) for verb in VERBS),
    Profile(search="find", write="keep", view="look"),
]


def as_text(tools):
    return json.dumps(tools, ensure_ascii=False, indent=1) + "\n"


def compact(tools):
    return json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode()


def schema_of(tool):
    inner = tool.get("function", tool)
    return next(inner[key] for key in ("input_schema", "parameters", "inputSchema") if key in inner)


# --- shapes and bytes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "profile"), GOLDENS)
def test_the_list_of_tools_reads_as_it_did(shape, profile):
    assert_golden(f"tools-{shape}-{profile}.json", as_text(rendered(shape, PROFILES[profile])))


def test_no_golden_list_is_left_over():
    there = {file.name for file in GOLDEN.iterdir() if file.name.startswith("tools-")}
    assert there == {f"tools-{shape}-{profile}.json" for shape, profile in GOLDENS}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_says_the_same_of_the_same_tools(shape, profile):
    tools = rendered(shape, PROFILES[profile])
    plain = rendered("anthropic", PROFILES[profile])
    assert [tool.get("function", tool)["name"] for tool in tools] == [name for name in PROFILES[profile] if name]
    assert [tool.get("function", tool)["description"] for tool in tools] == [tool["description"] for tool in plain]
    assert [schema_of(tool) for tool in tools] == [tool["input_schema"] for tool in plain]


def test_the_keys_of_each_shape_are_those_its_api_knows():
    keys = {shape: [set(tool) for tool in rendered(shape)] for shape in SHAPES}
    assert keys["anthropic"] == [{"name", "description", "input_schema"}] * 6
    assert keys["openai"] == [{"type", "function"}] * 6
    assert keys["responses"] == [{"type", "name", "description", "parameters", "strict"}] * 6
    assert keys["mcp"] == [{"name", "title", "description", "inputSchema", "annotations"}] * 6
    assert {tool["type"] for shape in ("openai", "responses") for tool in rendered(shape)} == {"function"}
    assert {tool["strict"] for tool in rendered("responses")} == {False}
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["name"]) for tool in rendered("anthropic"))


def test_every_schema_is_closed_and_describes_each_thing_it_takes_in_a_line():
    for row in TABLE:
        taken = schema_of(next(tool for tool in rendered("mcp") if tool["name"] == getattr(FULL, row.verb)))
        assert taken["type"] == "object"
        assert taken["additionalProperties"] is False
        assert list(taken["properties"]) == [one.name for one in row.parameters]
        assert taken.get("required", []) == [one.name for one in row.parameters if one.required]
        for one in taken["properties"].values():
            assert one["type"] in {"string", "integer", "boolean", "array"}
            assert one["description"].strip() and "\n" not in one["description"]
            assert (one["type"] == "array") == ("items" in one)


def test_clients_are_told_which_tools_only_look_and_which_take_away():
    hints = {tool["name"]: tool["annotations"] for tool in rendered("mcp")}
    for row in TABLE:
        assert hints[getattr(FULL, row.verb)] == {
            "readOnlyHint": row.effect == READ,
            "destructiveHint": row.effect == DELETE,
        }


SHOW = """
import json, sys
from commonplace import open_memory
from commonplace.prompt.preamble import PROFILES
for profile in PROFILES.values():
    memory = open_memory(sys.argv[1], profile=profile)
    for shape in ("anthropic", "openai", "responses", "mcp"):
        sys.stdout.write(json.dumps(memory.tools(shape)))
    for tool in memory.tools("python"):
        sys.stdout.write(f"{tool.__name__}{__import__('inspect').signature(tool)}{tool.__doc__}")
"""


def test_the_list_of_tools_is_the_same_bytes_in_every_process(tmp_path):
    seen = set()
    for seed, book in (("0", "one"), ("1", "one"), ("4711", "two"), ("random", "two")):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", SHOW, str(tmp_path / book)], env=env, capture_output=True, check=True, timeout=60
        )
        seen.add(done.stdout)
        if book == "one":
            open_memory(tmp_path / "one").save(f"A fact of {seed}.")
    assert len(seen) == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_every_role_is_shown_the_same_list(memory, shape):
    assert len({compact(memory.tools(shape, role=role)) for role in ROLES}) == 1


def test_a_list_of_tools_is_the_hosts_own(memory):
    memory.tools()[0]["input_schema"]["properties"].clear()
    assert memory.tools() == rendered("anthropic")


def test_asking_for_the_tools_makes_and_reads_nothing(book, memory):
    for shape in (*SHAPES, "python"):
        memory.tools(shape)
    assert not book.exists()


# --- sizes ---------------------------------------------------------------------------------------------------------

# The six together stay under 1,000 tokens. Measured on this text, as compact JSON, the worst of three vocabularies
# (deepseek's; cl100k and Anthropic's published one have fewer) makes a token of every 4.16 bytes: 991 of the largest
# shape's 4,127.
MOST_BYTES = 4_150
# OpenAI refused longer descriptions for years, and some of those who speak its API still do.
MOST_CHARS = 1_024


@pytest.mark.parametrize("shape", SHAPES)
def test_the_six_together_cost_under_a_thousand_tokens(shape):
    assert len(compact(rendered(shape))) <= MOST_BYTES


def test_no_description_is_longer_than_every_api_takes():
    for profile in (*PROFILES.values(), *ODD_PROFILES):
        for row in offered(profile).values():
            assert len(description(row, profile)) <= MOST_CHARS


# --- words ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", [*PROFILES.values(), *ODD_PROFILES])
def test_a_description_names_no_tool_the_model_does_not_have(profile):
    for name, row in offered(profile).items():
        text = description(row, profile)
        assert set(re.findall(r"`([^`]+)`", text)) <= set(filter(None, profile))
        assert not re.search(r"[{}]|  |\n\n|\s$|^\s", text)
        assert name in filter(None, profile)


def test_the_preamble_and_the_tools_name_the_same_tools(book):
    for profile in PROFILES.values():
        memory = open_memory(book, profile=profile)
        memory.save("Deploys go through ./deploy.sh.", name="deploys")
        named = set(re.findall(r"`([a-z_]+)`", memory.preamble()))
        assert named == {tool["name"] for tool in memory.tools()}


@pytest.mark.parametrize("profile", [profile for profile in PROFILES.values() if profile.write])
def test_when_not_to_save_is_said_with_the_weight_of_when_to(profile):
    text = description(next(row for row in TABLE if row.verb == "write"), profile)
    _, when, when_not = re.split(r"\nSave what|\nDo not save", text)
    assert len(when_not) > 0.6 * len(when)
    assert when_not.count("\n- ") >= when.count("\n- ")
    for word in ("git history", "state of this task", "secrets", "nobody confirmed"):
        assert word in when_not


def test_the_kinds_are_those_of_the_one_table():
    text = description(next(row for row in TABLE if row.verb == "write"), FULL)
    for kind, row in KINDS.items():
        assert (f"- {kind}: {row.save}\n" in text) is (kind is not Kind.SESSION)
    enums = {tool["name"]: schema_of(tool)["properties"].get("kind", {}).get("enum") for tool in rendered("anthropic")}
    assert enums["memory_search"] == [*KINDS]
    assert enums["memory_write"] == [kind for kind in KINDS if kind is not Kind.SESSION]
    assert enums["memory_view"] == [*KINDS, "all"]


def test_search_repeats_how_far_a_note_may_be_relied_on():
    for profile in PROFILES.values():
        if profile.search:
            assert clue() in description(next(row for row in TABLE if row.verb == "search"), profile)
    for word in ("instruction", "authored context", "the person", "path, name, flag or version", "out of date"):
        assert word in clue()
        assert word in authority()


def test_descriptions_are_plain():
    for row in TABLE:
        for text in (description(row, FULL), row.title, *(one.about for one in row.parameters)):
            assert text.isascii()
            assert not re.search(r"!|\b(?:please|very|simply|just)\b", text, re.IGNORECASE)


# --- the table and what is run ----------------------------------------------------------------------------------------


def test_each_row_is_run_by_a_function_that_takes_just_that():
    assert list(WORK) == VERBS == list(Profile._fields)
    for row in TABLE:
        slots = list(inspect.signature(WORK[row.verb]).parameters.values())[1:]
        assert [slot.name for slot in slots] == [one.name for one in row.parameters]
        assert [slot.default is inspect.Parameter.empty for slot in slots] == [one.required for one in row.parameters]


# --- plain functions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
def test_the_plain_functions_show_what_the_rows_say(book, profile):
    memory = open_memory(book, profile=PROFILES[profile])
    functions, rows = memory.tools("python"), offered(PROFILES[profile])
    assert [function.__name__ for function in functions] == list(rows)
    for function, row in zip(functions, rows.values(), strict=True):
        slots = inspect.signature(function).parameters
        hints = typing.get_type_hints(function)
        assert inspect.signature(function).return_annotation is hints["return"] is str
        assert list(slots) == [one.name for one in row.parameters]
        doc = inspect.getdoc(function)
        assert doc.startswith(description(row, PROFILES[profile]))
        for one in row.parameters:
            assert hints[one.name] == slots[one.name].annotation
            assert (slots[one.name].default is inspect.Parameter.empty) is one.required
            assert (type(None) in typing.get_args(hints[one.name])) is not one.required
            assert f"\n    {one.name}: {one.about}" in doc


def test_the_plain_functions_run_and_answer_text(memory):
    tools = {function.__name__: function for function in memory.tools("python")}
    assert "created `deploys`" in tools["memory_write"]("Deploys go through ./deploy.sh.", "deploys", tags=["ops"])
    assert "./deploy.sh" in tools["memory_search"](query="deploy", kind=None, limit=3)
    assert "| Deploys go through" in tools["memory_read"]("deploys")
    assert "updated `deploys`" in tools["memory_update"]("deploys", "./deploy.sh", new="./release.sh")
    assert "release.sh" in tools["memory_view"]()
    assert "deleted `deploys`" in tools["memory_delete"](name="deploys")
    assert "no note named 'deploys'" in tools["memory_read"]("deploys")
    assert "it takes no 'colour'" in tools["memory_read"](name="x", colour="red")
    assert "name is missing" in tools["memory_read"]()
    with pytest.raises(TypeError, match="memory_read"):
        tools["memory_read"]("x", "y")
    with pytest.raises(TypeError, match="each once"):
        tools["memory_read"]("x", name="y")


def test_the_plain_functions_keep_to_their_role(memory):
    memory.save("Deploys go through ./deploy.sh.", name="deploys")
    tools = {function.__name__: function for function in memory.tools("python", role="read-only")}
    assert "may not delete" in tools["memory_delete"]("deploys")
    assert "may not write" in tools["memory_write"]("Another fact.")
    assert [note.name for note in memory.notes().notes] == ["deploys"]


# --- where there are none -----------------------------------------------------------------------------------------------


def test_a_profile_without_tools_has_none(book):
    memory = open_memory(book, profile=NO_TOOLS)
    assert all(memory.tools(shape) == [] for shape in (*SHAPES, "python"))
    assert "there are none" in memory.run_tool("memory_read", {"name": "x"}).text


def test_a_shape_there_is_not_is_an_error_that_names_those_there_are(memory):
    with pytest.raises(NoTools, match="'gemini'.*anthropic, openai, responses, mcp, python"):
        memory.tools("gemini")


def test_a_memory_put_together_without_tools_says_so_and_can_be_given_them():
    store = RamStore()
    memory = Memory(store, Catalog(store, Sidecar(None), today=lambda: None))
    with pytest.raises(NoTools, match="open_memory"):
        memory.tools()
    with pytest.raises(NoTools, match="open_memory"):
        memory.run_tool("memory_view", {})
    assert Toolbox(memory).tools() == rendered("anthropic")


def test_a_memory_that_is_off_has_no_tools_and_says_so_kindly(tmp_path, monkeypatch):
    monkeypatch.setenv("COMMONPLACE", "off")
    memory, before = open_memory(tmp_path / "notebook"), snapshot(tmp_path)
    assert all(memory.tools(shape, role="agent") == [] for shape in (*SHAPES, "python"))
    answer = memory.run_tool("memory_write", {"text": "A fact."}, role="agent")
    assert isinstance(answer, Answer)
    assert answer.failed
    assert "switched off" in answer.text and "Go on without it" in answer.text
    assert snapshot(tmp_path) == before


def test_three_lines_give_a_loop_its_memory(book):
    """What a host does: the preamble and the list out, the name and the arguments of a call in, text back."""
    memory = open_memory(book)
    offered_ = {tool["name"] for tool in memory.tools()}
    answer = memory.run_tool("memory_write", '{"text": "We deploy with ./deploy.sh.", "name": "deploy"}')
    assert "memory_write" in offered_
    assert not answer.failed
    assert isinstance(memory.save("We deploy with ./deploy.sh.", name="deploy"), Saved)
    assert "deploy.sh" in open_memory(book).run_tool("memory_search", {"query": "how do I deploy"}).text


def test_the_texts_of_the_tools_are_all_used():
    folder = Path(sys.modules["commonplace.tools.table"].__file__).parent / "texts"
    assert {file.name for file in folder.iterdir()} == {"clue.md", *(f"{verb}.md" for verb in VERBS)}
