"""Packages: which version of one the manifests and lock files of a workspace name, and whether that fits what was said.

A lock file is believed before the manifest beside it. Files are read by their own rules, as far as names and versions
go; what cannot be read names nothing. It opens no file.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
# `name[extra]>=1.2,<2; marker`, as Python's requirements are written.
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#]*)")
_LOCKED = re.compile(r'^(name|version)\s*=\s*"([^"]*)"')
_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")
_NPM = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")

# (name, version or range) of each package a file names; '' for one of any version.
_Named = Iterator[tuple[str, str]]


class Told(NamedTuple):
    """What a workspace's files say of a package: whether they name it, and the versions."""

    named: bool
    versions: frozenset[str]


def told(package: str, files: Mapping[str, bytes]) -> Told:
    """What the files of one commit, by path, say of a package."""
    named = False
    locked: dict[str, set[str]] = defaultdict(set)
    loose: dict[str, set[str]] = defaultdict(set)
    for path, raw in files.items():
        folder, _, file = path.rpartition("/")
        read, locks = _reader(file, folder)
        for name, version in _tried(read, raw):
            if _same(name, package, python=file.startswith(_PYTHON)):
                named = True
                if found := _NUMBERS.search(version):
                    (locked if locks else loose)[folder].add(found[0])
    folders = locked.keys() | loose.keys()
    return Told(named, frozenset(version for at in folders for version in locked.get(at) or loose[at]))


def fits(wanted: str, version: str) -> bool:
    """`2.7` is any 2.7.x; `^1.3` any 1.x from 1.3; `~1.3` any 1.3.x; `>=2` anything from 2."""
    low, have = _numbers(wanted), _numbers(version)
    if wanted.startswith(">"):
        return have >= low
    if wanted.startswith("^"):
        first = next((at for at, number in enumerate(low) if number), len(low) - 1)
        return have >= low and have[: first + 1] == low[: first + 1]
    if wanted.startswith("~"):
        return have >= low and have[:2] == low[:2]
    return all(one == other for one, other in zip_longest(low, have[: len(low)], fillvalue=0))


def _numbers(version: str) -> list[int]:
    found = _NUMBERS.search(version)
    return [int(part[:9]) for part in found[0].split(".")] if found else []


def _same(name: str, package: str, *, python: bool) -> bool:
    if python:
        name, package = (re.sub(r"[-_.]+", "-", one) for one in (name, package))
    return name.casefold() == package.casefold()


def _tried(read: Callable[[str], _Named], raw: bytes) -> Iterable[tuple[str, str]]:
    """A file that is not as it should be names nothing; nesting without end is one of those."""
    try:
        return list(read(raw.decode("utf-8")))
    except (ValueError, AttributeError, TypeError, RecursionError):
        return []


# --- one reader for each form --------------------------------------------------------------------------------------


def _package_json(text: str) -> _Named:
    made = json.loads(text)
    for table in _NPM:
        yield from made.get(table, {}).items()


def _package_lock(text: str) -> _Named:
    made = json.loads(text)
    for place, one in made.get("packages", {}).items():
        if place.startswith("node_modules/") and place.count("node_modules/") == 1:
            yield place.removeprefix("node_modules/"), str(one.get("version", ""))
    for name, one in made.get("dependencies", {}).items():
        yield name, str(one.get("version", ""))


def _pyproject(text: str) -> _Named:
    made = tomllib.loads(text)
    project, poetry = made.get("project", {}), made.get("tool", {}).get("poetry", {})
    groups = (*project.get("optional-dependencies", {}).values(), *made.get("dependency-groups", {}).values())
    for listed in (project.get("dependencies", []), made.get("build-system", {}).get("requires", []), *groups):
        yield from _required(one for one in listed if isinstance(one, str))
    for table in (poetry, *poetry.get("group", {}).values()):
        yield from _tables(table)


def _requirements(text: str) -> _Named:
    return _required(line for line in text.splitlines() if not line.lstrip().startswith(("-", "#")))


def _required(lines: Iterable[str]) -> _Named:
    for line in lines:
        if found := _REQUIREMENT.match(line):
            yield found[1], found[2]


def _cargo(text: str) -> _Named:
    made = tomllib.loads(text)
    for table in (made, made.get("workspace", {}), *made.get("target", {}).values()):
        yield from _tables(table)


def _tables(made: Mapping[str, Any]) -> _Named:
    for table in _TABLES:
        for name, wanted in made.get(table, {}).items():
            yield name, wanted if isinstance(wanted, str) else str(wanted.get("version", ""))


def _locked(text: str) -> _Named:
    """Cargo.lock, poetry.lock and uv.lock: tables of packages, each with its name and then its version."""
    name = ""
    for line in text.splitlines():
        if found := _LOCKED.match(line):
            if found[1] == "version" and name:
                yield name, found[2]
            name = found[2] if found[1] == "name" else ""


def _go(text: str) -> _Named:
    """The lines `require name version`, alone or in a block."""
    block = ""
    for line in text.splitlines():
        words = line.split("//")[0].split()
        if words[1:] == ["("]:
            block = words[0]
        elif words == [")"]:
            block = ""
        else:
            words = words if not block else [block, *words]
            if len(words) == 3 and words[0] == "require":
                yield words[1], words[2]


_READERS: Mapping[str, tuple[Callable[[str], _Named], bool]] = {
    "package.json": (_package_json, False), "package-lock.json": (_package_lock, True),
    "pyproject.toml": (_pyproject, False), "poetry.lock": (_locked, True), "uv.lock": (_locked, True),
    "Cargo.toml": (_cargo, False), "Cargo.lock": (_locked, True), "go.mod": (_go, False),
}  # fmt: skip
_PYTHON = ("pyproject", "poetry", "uv.", "requirements")


def _reader(file: str, folder: str) -> tuple[Callable[[str], _Named], bool]:
    if file in _READERS:
        return _READERS[file]
    listed = file.endswith(".txt") and (file.startswith("requirements") or folder.endswith("requirements"))
    return (_requirements if listed else _nothing), False


def _nothing(_: str) -> _Named:
    return iter(())
