"""What a process pays before its first answer: which modules it loads, and how many classes it builds."""

import json
import subprocess
import sys
import time

import pytest

# What costs a process 5 to 65 ms and no recall needs.
HEAVY = {
    "argparse", "asyncio", "click", "concurrent.futures", "difflib", "email", "html", "http", "importlib.metadata", "logging",
    "mcp", "multiprocessing", "numpy", "pathlib", "pickle", "platformdirs", "pydantic", "random", "shutil", "socket",
    "subprocess", "tempfile", "textwrap", "unittest", "urllib", "uuid", "xml", "yaml", "zipfile",
}  # fmt: skip
# As many dataclasses as may be built on the way to an answer: each costs half a millisecond.
DATACLASSES = 5

STAGES = """
import json, sys
bare = set(sys.modules)
seen = {}
def stage(name):
    seen[name] = sorted(set(sys.modules) - bare)
import commonplace
stage("import")
from commonplace import open_memory
memory = open_memory(sys.argv[1])
stage("open")
hits = memory.recall("how do we deploy").hits
memory.preamble()
memory.listing()
stage("recall")
if not hits:
    memory.save("We deploy with ./deploy.sh, which refuses a dirty tree.", name="deploy", tags=["ops"])
stage("save")
if sys.argv[2:]:
    from commonplace.__main__ import main
    sys.argv = ["commonplace", "list"]
    main()
    stage("list")
ours = [module for name, module in sys.modules.items() if name.startswith("commonplace.")]
classes = {thing for module in ours for thing in vars(module).values() if isinstance(thing, type)}
seen["dataclasses"] = sorted(c.__qualname__ for c in classes if "__dataclass_fields__" in vars(c))
seen["hits"] = len(hits)
print(json.dumps(seen))
"""


def run(*args):
    done = subprocess.run(
        [sys.executable, "-I", "-c", STAGES, *args], capture_output=True, text=True, timeout=30, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    """A first process that saves, and a second that finds what it saved."""
    place = tmp_path_factory.mktemp("hot") / "notebook"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMMONPLACE_HOME", str(place.parent / "home"))
        return run(str(place)), run(str(place), "list")


def heavy(modules):
    return sorted(HEAVY.intersection(modules) | {name for name in modules if name.split(".")[0] in HEAVY})


def test_importing_the_package_loads_nothing_to_speak_of(stages):
    loaded = stages[1]["import"]
    assert "commonplace" in loaded
    assert [name for name in loaded if name.startswith("commonplace.")] == []
    assert len(loaded) <= 5, loaded


@pytest.mark.parametrize("stage", ["open", "recall", "save"])
def test_no_call_loads_what_it_does_not_need(stages, stage):
    for process in stages:
        assert heavy(process[stage]) == []
        outside = {name.split(".")[0] for name in process[stage]} - set(sys.stdlib_module_names) - {"commonplace"}
        assert {name for name in outside if "cython" not in name} == (set() if stage == "open" else {"Stemmer"})


def test_a_recall_of_plain_notes_in_a_fresh_process_reads_no_unicode_tables(stages):
    first, second = stages
    assert (first["hits"], second["hits"]) == (0, 1)
    assert "unicodedata" not in second["recall"] + first["save"]
    assert "commonplace.note.likeness" not in second["recall"]


# What a recall in a fresh process does without, where nothing changed; and after a change made outside.
QUIET = {"typing", "dataclasses", "inspect", "ast", "json", "hashlib", "unicodedata", "commonplace.note.note", "commonplace.index.rows"}  # fmt: skip
CHANGED = {"typing", "json", "unicodedata", "commonplace.guard.admission", "commonplace.outcomes", "commonplace.saving"}

RECALL = """
import sys
bare = set(sys.modules)
from commonplace.__main__ import main
sys.argv = ["commonplace", "recall", "deploy"]
assert main() == 0
print("loaded", *set(sys.modules) - bare)
"""


def loaded_by_recall():
    done = subprocess.run([sys.executable, "-I", "-c", RECALL], capture_output=True, text=True, timeout=30, check=True)
    assert "deploy" in done.stdout.splitlines()[0]
    return set(done.stdout.splitlines()[-1].split())


def test_a_recall_in_a_fresh_process_loads_only_what_looking_and_finding_take(tmp_path, monkeypatch):
    place = tmp_path / "notebook"
    monkeypatch.setenv("COMMONPLACE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMORY_DIR", str(place))
    run(str(place), "list")
    time.sleep(0.02)  # what is read in the moment it changed is read again
    loaded_by_recall()
    assert not QUIET & loaded_by_recall()
    with (place / "deploy.md").open("a") as file:
        file.write("A line more.\n")
    time.sleep(0.02)
    found = CHANGED & loaded_by_recall()
    assert not found, found
    assert not QUIET & loaded_by_recall()


def test_the_tools_are_loaded_by_those_who_ask_for_them(stages):
    for process in stages:
        for stage, loaded in process.items():
            if stage not in ("dataclasses", "hits"):
                assert [name for name in loaded if name.startswith("commonplace.tools")] == []
                assert "commonplace.guard.quotation" not in loaded


def test_what_looks_after_a_notebook_is_not_loaded_on_the_way(stages):
    store = ("audit", "chain", "looking", "surroundings", "tidy")
    care = {"commonplace.care.doctor", "commonplace.index.checkup", *(f"commonplace.store.{name}" for name in store)}
    for process in stages:
        for stage in ("open", "recall", "save", "list"):
            assert not care.intersection(process.get(stage, ()))


def test_the_command_loads_what_it_prints_with_and_no_more(stages):
    loaded = stages[1]["list"]
    assert "click" in loaded
    assert not {"asyncio", "yaml", "numpy", "pydantic", "platformdirs", "http", "multiprocessing"} & set(loaded)


def test_few_dataclasses_are_built_on_the_way(stages):
    assert len(stages[0]["dataclasses"]) <= DATACLASSES, stages[0]["dataclasses"]


def test_importing_the_package_costs_at_most_four_bare_processes():
    def best(code):
        times = []
        for _ in range(5):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-I", "-c", code], check=True, timeout=30)
            times.append(time.perf_counter() - began)
        return min(times)

    assert best("import commonplace") <= 4 * best("pass")
