"""The tree is the architecture: what ARCHITECTURE.md says of it is checked here."""

import ast
import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "commonplace"
# The order a fact travels. A module imports only its own stage and those to the left.
PATH = (
    "errors digest named note guard store index recall evidence adapters prompt outcomes drafting saving recalling memory nomemory trace care tools settings open surfaces testing"
).split()
CORE = [stage for stage in PATH[: PATH.index("settings")] if stage != "adapters"]
MODULES = sorted(SRC.rglob("*.py"))


def stage(path):
    return path.relative_to(SRC).with_suffix("").parts[0]


def imports(path):
    """Every module a file imports, anywhere in it, by full name."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            if node.module == "commonplace":
                yield from (f"commonplace.{name.name}" for name in node.names)
            else:
                yield node.module


def functions(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def code_of(path):
    """The source with docstrings and comments taken out."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [n for n in body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))] or [
                ast.Pass()
            ]
    return ast.unparse(tree)


def test_imports_point_back_along_the_path():
    for path in MODULES:
        here = stage(path)
        if here.startswith("__"):
            continue
        for name in imports(path):
            if name.startswith("commonplace."):
                there = name.split(".")[1]
                if there.startswith("__"):
                    continue
                assert PATH.index(there) <= PATH.index(here), f"{path.relative_to(SRC)} imports {name}"


def test_every_stage_on_the_path_is_on_the_disk_and_the_other_way_round():
    on_disk = {stage(path) for path in MODULES if not stage(path).startswith("__")}
    assert on_disk == set(PATH)


def test_the_core_imports_only_the_standard_library():
    for path in MODULES:
        if stage(path) in CORE:
            for name in imports(path):
                first = name.split(".")[0]
                if (stage(path), path.stem, first) == ("recall", "analyze", "Stemmer"):
                    continue  # Snowball, in C: what a stemmer of our own would cost every text
                assert first == "commonplace" or first in sys.stdlib_module_names, f"{path} imports {name}"


def test_other_peoples_libraries_are_loaded_only_when_asked_for():
    """Only the place that picks concrete classes knows an adapter, and it imports one where it is picked."""
    for path in MODULES:
        known = [name for name in imports(path) if name.startswith("commonplace.adapters")]
        if stage(path) not in ("adapters", "testing"):
            assert not known or path == SRC / "open.py", f"{path.relative_to(SRC)} imports {known}"
    at_once = [
        node for node in ast.parse((SRC / "open.py").read_text("utf-8")).body if isinstance(node, ast.ImportFrom)
    ]
    assert not [node.module for node in at_once if node.module.startswith("commonplace.adapters")]


def test_what_users_test_with_needs_nothing_but_pytest():
    """Only the small agent of the tour has an SDK, which it imports when it plays."""
    for path in (SRC / "testing").glob("*.py"):
        for name in imports(path):
            first = name.split(".")[0]
            if (path.stem, first) == ("player", "anthropic"):
                continue
            assert first in {"commonplace", "pytest"} or first in sys.stdlib_module_names, f"{path} imports {name}"


def test_a_note_knows_no_files_no_clock_and_no_database():
    for path in (SRC / "note").glob("*.py"):
        assert not {"os", "pathlib", "sqlite3", "time", "random"} & set(imports(path)), path


def test_no_surface_knows_another():
    """What all print with is shared; a surface that is a folder knows itself."""
    for path in (SRC / "surfaces").rglob("*.py"):
        own = path.relative_to(SRC / "surfaces").parts[0].removesuffix(".py")
        for name in imports(path):
            if name.startswith("commonplace.surfaces."):
                assert name.split(".")[2] in (own, "shown"), f"{path.relative_to(SRC)} imports {name}"


def test_only_the_sidecar_and_its_tables_know_sqlite():
    assert {path.relative_to(SRC).as_posix() for path in MODULES if "sqlite3" in set(imports(path))} == {
        "index/catalog.py", "index/front.py", "index/rows.py", "index/sidecar.py", "index/state.py",
        "index/values.py",
        "recall/documents.py", "recall/finder.py", "recall/lexical.py", "recall/notes.py", "recall/vectors.py",
    }  # fmt: skip


def test_one_module_turns_a_name_into_a_path():
    """Nothing but store/paths.py joins a name to the suffix of a note. (prompt/ and tools/ name their own texts.)"""
    joined = re.compile(r"\.md['\"]")
    users = {path.relative_to(SRC).as_posix() for path in MODULES if joined.search(code_of(path))}
    assert users - {"prompt/preamble.py", "tools/table.py", "testing/demo.py", "recall/documents.py"} <= {
        "store/paths.py",
        "store/publish.py",
    }


def test_every_system_call_of_the_store_goes_through_the_disk():
    """Outside disk.py the store uses `os` for words (paths, pids, random bytes), never to touch a file."""
    words = {"path", "getpid", "urandom", "stat_result"}
    for path in (SRC / "store").glob("*.py"):
        if path.name == "disk.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
                assert node.attr in words, f"{path.name} uses os.{node.attr}"
            assert not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "open"), path


def test_only_settings_reads_the_environment():
    for path in MODULES:
        if path.name != "settings.py" and stage(path) != "testing":
            assert "environ" not in code_of(path), path


def test_files_and_functions_stay_small_enough_to_read():
    lengths = []
    for path in MODULES:
        assert path.read_text("utf-8").count("\n") <= 400, path
        for node in functions(path):
            lengths.append(node.end_lineno - node.lineno + 1)
            assert lengths[-1] <= 50, f"{path}:{node.lineno} {node.name} has {lengths[-1]} lines"
    lengths.sort()
    assert lengths[int(len(lengths) * 0.9)] <= 30


def test_no_folder_holds_more_than_a_reader_keeps_in_mind():
    folders = Counter(path.parent for path in MODULES if path.name != "__init__.py")  # those are docstrings
    assert max(folders.values()) <= 20, folders.most_common(1)


def test_a_protocol_has_five_methods_at_most():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and any(getattr(base, "id", "") == "Protocol" for base in node.bases):
                methods = [
                    n for n in node.body
                    if isinstance(n, ast.FunctionDef) and not any(getattr(d, "id", "") == "property" for d in n.decorator_list)
                ]  # fmt: skip
                assert len(methods) <= 5, node.name


# The one except that may be broad, by file and function: there a model waits for an answer, whatever broke.
BROAD = {("tools/dispatch.py", "dispatch")}


def test_no_except_is_broad():
    """A memory system that swallows errors loses memories in silence."""
    broad = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                name = getattr(node.type, "id", None)
                reraises = any(isinstance(n, ast.Raise) and n.exc is None for n in node.body)
                if name in (None, "Exception") and not isinstance(node.type, ast.Tuple | ast.Attribute):
                    broad.append((path, node.lineno))
                assert name != "BaseException" or reraises, f"{path}:{node.lineno}"
    places = [
        (path.relative_to(SRC).as_posix(), function.name)
        for path, line in broad for function in functions(path) if function.lineno <= line <= function.end_lineno
    ]  # fmt: skip
    assert len(broad) == len(BROAD)
    assert set(places) == BROAD


def test_every_module_says_what_it_is_for():
    for path in MODULES:
        assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), path
        if path.name == "__init__.py" and path.parent != SRC:
            assert code_of(path).strip() == "pass", f"{path} is more than a docstring"


def test_the_map_in_the_architecture_page_is_the_tree():
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    for path in MODULES:
        if path.name not in ("__init__.py", "__main__.py"):
            assert path.name in page, f"ARCHITECTURE.md does not name {path.relative_to(SRC)}"


def test_every_invariant_in_the_architecture_page_names_a_test_that_exists():
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    paragraphs = re.findall(r"\*\*Invariant:\*\*.*?(?=\n\n|\n- \*\*|\Z)", page, re.DOTALL)
    named = re.findall(r"`(test_\w+)::(\w+)`", page)
    assert len(paragraphs) >= 8
    assert all("`test_" in paragraph for paragraph in paragraphs)
    for file, test in named:
        found = [path for path in (ROOT / "tests").rglob(f"{file}.py") if f"def {test}(" in path.read_text("utf-8")]
        assert found, f"no {file}::{test}"


def test_the_stages_of_the_path_stand_in_the_map_in_their_order():
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    places = [page.index(f"\n├── {name}") for name in PATH if f"\n├── {name}" in page]
    assert len(places) >= len(PATH) - 1
    assert all(one < two for one, two in pairwise(places))
