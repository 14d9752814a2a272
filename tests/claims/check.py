"""Compare the labels in `notes.json` with the repository that `build.py` makes.

It reads labels and says which are wrong; it judges no note by itself and does not know how claims are found in a text.
What it holds against each label is git's own word: trees, renames, refs, and the lines of tracked files.
"""

import collections
import fnmatch
import os
import re
import tempfile

import build
import marks
import versions

KINDS = ("path", "line", "symbol", "flag", "env", "package", "ref")
SAYS = ("holds", "changed", "gone")
# The forms in which the repository's languages define a name; {} is the name.
DEFINITIONS = (
    r"^\s*(?:async )?def {}\b.*",
    r"^(?:export )?class {}\b.*",
    r"^{}(?:: [^=]+)? = .*",
    r"^(?:export )?(?:default )?(?:async )?function {}\b.*",
    r"^(?:export )?const {} = .*",
    r"^func (?:\([^)]*\) )?{}\(.*",
    r"^type {} .*",
    r"^\s*(?:pub )?(?:fn|struct|const) {}\b.*",
    r"^{}\(\) \{{.*",
)


class World:
    """The repository as it was after each commit, and as it is."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.hashes: list[str] = []
        self.refs: list[dict[str, str]] = []
        for made in build.grow(folder):
            self.hashes.append(made)
            self.refs.append(self.refs_now())
        self.head = len(self.hashes) - 1
        self.main = set(self.git("rev-list", "main").splitlines())
        self.trees = [self.tree(made) for made in self.hashes]
        self.texts: dict[str, str] = {}

    def git(self, *words: str) -> str:
        return build.git(self.folder, "-c", "core.quotepath=false", *words)

    def refs_now(self) -> dict[str, str]:
        form = "%(refname:lstrip=2) %(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)"
        lines = self.git("for-each-ref", f"--format={form}", "refs/heads", "refs/tags").splitlines()
        return dict(line.split(" ") for line in lines)

    def tree(self, made: str) -> dict[str, str]:
        rows = (row.split("\t") for row in self.git("ls-tree", "-r", made).splitlines())
        return {path: meta.split()[2] for meta, path in rows}

    def text(self, at: int, path: str) -> str:
        blob = self.trees[at][path]
        if blob not in self.texts:
            self.texts[blob] = self.git("cat-file", "blob", blob)
        return self.texts[blob]

    def lines(self, at: int) -> list[tuple[str, str]]:
        return [(path, line) for path in self.trees[at] for line in self.text(at, path).splitlines()]

    def naming(self, at: int, token: str) -> list[tuple[str, str]]:
        """The lines in which the token stands as a whole."""
        whole = re.compile(
            rf"(?<![\w-]){re.escape(token)}(?![\w-])" if token.startswith("-") else rf"\b{re.escape(token)}\b"
        )
        return [(path, line) for path, line in self.lines(at) if whole.search(line)]

    def defined(self, at: int, name: str) -> list[tuple[str, str]]:
        forms = [re.compile(form.format(re.escape(name))) for form in DEFINITIONS]
        return [(path, line) for path, line in self.lines(at) if any(form.match(line) for form in forms)]

    def versions_at(self, at: int) -> dict[str, str]:
        """The files that say which version of a package there is."""
        paths = [path for path in self.trees[at] if os.path.basename(path) in versions.FILES]
        return {path: self.text(at, path) for path in paths}

    def edited(self, since: int, path: str) -> bool:
        return bool(self.git("log", "--format=%h", f"{self.hashes[since]}..{self.hashes[self.head]}", "--", path))

    def renamed(self, since: int, path: str) -> str | None:
        """Where git's own rename detection leads from a path, commit by commit, if that is still there."""
        span = f"{self.hashes[since]}..{self.hashes[self.head]}"
        rows = self.git("log", "--reverse", "-M", "--diff-filter=R", "--name-status", "--format=", span).splitlines()
        here = path
        for _, old, new in (row.split("\t") for row in rows if row):
            here = new if old == here else here
        return here if here != path and here in self.trees[self.head] else None


def path_is(world: World, claim: dict, at: int) -> str:
    text, then, now = claim["text"], world.trees[at], world.trees[world.head]
    if "*" in text:
        form = text.replace("**/", "*")
        return "holds" if fnmatch.filter(then, form) and fnmatch.filter(now, form) else "gone"
    if os.path.islink(os.path.join(world.folder, text)):
        target = os.path.relpath(os.path.realpath(os.path.join(world.folder, text)), os.path.realpath(world.folder))
        return "changed" if world.edited(at, text) or world.edited(at, target) else "holds"
    if text in now:
        return "not there when written" if text not in then else "changed" if world.edited(at, text) else "holds"
    under = text.rstrip("/") + "/"
    if any(path.startswith(under) for path in now):
        return "folder with changes" if world.edited(at, under) else "holds"
    if text not in then and not any(path.startswith(under) for path in then):
        return "holds" if text in build.load("repo.json")["untracked"] else "never there"
    return "gone"


def line_is(world: World, claim: dict, at: int) -> str:
    path, number = claim["text"].rsplit(":", 1)
    now = world.trees[world.head]
    if path not in world.trees[at]:
        return "never there" if path not in now else "written before it was there"
    old = world.text(at, path).splitlines()[int(number) - 1]
    if path not in now:
        return "gone"
    after = world.text(world.head, path).splitlines()[int(number) - 1 :]
    new = after[0] if after else ""
    return "an empty line" if not old.strip() or not new.strip() else "holds" if old == new else "changed"


def symbol_is(world: World, claim: dict, at: int) -> str:
    owner, _, name = claim["text"].rpartition(".")
    then, now = world.defined(at, name), world.defined(world.head, name)
    if len(then) != 1 or (owner and [path for path, _ in world.defined(at, owner)] != [then[0][0]]):
        return f"defined {len(then)} times when written"
    if not now:
        return "named but not defined" if world.naming(world.head, name) else "gone"
    return f"defined {len(now)} times" if len(now) > 1 else "holds" if then == now else "changed"


def mention_is(world: World, claim: dict, at: int) -> str:
    """Flags and variables: with no definition to compare, every line that named it must be as it was."""
    then, now = world.naming(at, claim["text"]), world.naming(world.head, claim["text"])
    if not then:
        return "not there when written"
    python = claim["text"].strip("-").replace("-", "_")
    if not now:
        return "gone" if "_" not in python or not world.naming(world.head, python) else "named otherwise"
    return "holds" if set(then) <= set(now) else "some lines changed"


def package_is(world: World, claim: dict, at: int) -> str:
    name, wanted = versions.spoken(claim["text"])
    then, now = (versions.found(name, world.versions_at(when)) for when in (at, world.head))
    if not then or not all(versions.fits(wanted, version) for version in then):
        return f"not so when written: {then}"
    named = {path for path, _ in world.naming(world.head, name) if os.path.basename(path) in versions.MANIFESTS}
    if not now and named:
        return f"still named in {named}"
    fit = {versions.fits(wanted, version) for version in now}
    return "gone" if not now else "fits in one place only" if len(fit) > 1 else "holds" if fit == {True} else "changed"


def ref_is(world: World, claim: dict, at: int) -> str:
    then, now = world.refs[at].get(claim["text"]), world.refs[world.head].get(claim["text"])
    return (
        "not there when written" if then is None else "gone" if now is None else "holds" if then == now else "changed"
    )


JUDGES = {
    "path": path_is,
    "line": line_is,
    "symbol": symbol_is,
    "flag": mention_is,
    "env": mention_is,
    "package": package_is,
    "ref": ref_is,
}


def where_to(world: World, claim: dict, at: int) -> str | None:
    """The new place a label must name."""
    if claim["kind"] in {"path", "line"} and claim["is"] == "gone":
        path = claim["text"].rsplit(":", 1)[0] if claim["kind"] == "line" else claim["text"]
        return world.renamed(at, path)
    if claim["kind"] == "symbol" and claim["is"] == "changed":
        name = claim["text"].rpartition(".")[2]
        then, now = world.defined(at, name)[0][0], world.defined(world.head, name)[0][0]
        return now if now != then else None
    return None


def claim_faults(world: World, claim: dict, at: int) -> list[str]:
    found = JUDGES[claim["kind"]](world, claim, at)
    if claim.get("never"):
        path = claim["text"].rsplit(":", 1)[0] if claim["kind"] == "line" else claim["text"]
        right = found == "never there" and claim["is"] == "gone" and not any(path in tree for tree in world.trees)
        return [] if right else [f"{claim['text']} is called never there, and is: {found}"]
    if found != claim["is"]:
        return [f"{claim['kind']} {claim['text']} is called {claim['is']}, and is: {found}"]
    place = where_to(world, claim, at)
    return [] if place == claim.get("moved_to") else [f"{claim['text']} went to {place}, not {claim.get('moved_to')}"]


def note_faults(world: World, note: dict) -> list[str]:
    at = note["written"]
    if world.hashes[at] not in world.main:
        return ["written on a branch, not on main"]
    faults = [fault for claim in note["claims"] for fault in claim_faults(world, claim, at)]
    return faults + marks.faults(world, note)


def main() -> int:
    notes = build.load("notes.json")["notes"]
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder)
        told = [f"{note['name']}: {fault}" for note in notes for fault in note_faults(world, note)]
    names = collections.Counter(note["name"] for note in notes)
    told += [f"{name}: {count} notes of that name" for name, count in names.items() if count > 1]
    print("\n".join(told) or f"{len(notes)} notes, and every label is as git says")
    print(table(notes))
    return bool(told)


def table(notes: list[dict]) -> str:
    counted = collections.Counter((c["kind"], c["is"], note["half"]) for note in notes for c in note["claims"])
    rows = [f"{'kind':8} {'half':8}" + "".join(f"{says:>9}" for says in SAYS)]
    for kind in KINDS:
        for half in ("tune", "confirm"):
            rows.append(f"{kind:8} {half:8}" + "".join(f"{counted[kind, says, half]:9}" for says in SAYS))
    return "\n".join(rows)
