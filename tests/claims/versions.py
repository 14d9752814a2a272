"""Which version of a package a repository has, and whether it fits what a note says.

It reads the few forms `repo.json` uses, line by line; it is no parser of these formats. A lock file is believed
before the manifest beside it.
"""

import itertools
import re

# A file's name, and the line that names a package in it; {} is the package.
FILES = {
    "requirements.txt": r"^{}==(\S+)",
    "requirements-dev.txt": r"^{}==(\S+)",
    "pyproject.toml": r"^\s*\"{}==([^\"]+)\"",
    "package-lock.json": r"\"node_modules/{}\": \{{ \"version\": \"([^\"]+)\"",
    "go.sum": r"^{} v(\S+) ",
    "Cargo.lock": r"^name = \"{}\"\nversion = \"([^\"]+)\"",
}
MANIFESTS = {"package.json", "go.mod", "Cargo.toml", *FILES}
SPOKEN = re.compile(
    r"[\"`]?(?P<name>[\w./-]+?)[\"`]?(?:\s*(?P<sign>==|>=|@|:|=)\s*|\s+)[\"`]?(?P<wanted>[\^~v]?\d[\d.]*)[\"`]?"
)


def spoken(text: str) -> tuple[str, str]:
    """The name and the version in words such as `pydantic 2.7` or `"left-pad": "^1.3"`."""
    match = SPOKEN.fullmatch(text)
    if match is None:
        raise SystemExit(f"{text!r} is no package with a version: mend notes.json")
    sign = ">=" if match["sign"] == ">=" else ""
    return match["name"].lower(), sign + match["wanted"].removeprefix("v")


def found(name: str, texts: dict[str, str]) -> set[str]:
    versions = set()
    for path, text in texts.items():
        form = FILES[path.rsplit("/", 1)[-1]].format(re.escape(name))
        versions |= set(re.findall(form, text, re.MULTILINE))
    return versions


def numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def fits(wanted: str, version: str) -> bool:
    """`2.7` is any 2.7.x; `^1.3` any 1.x from 1.3; `~1.3` any 1.3.x; `>=2` anything from 2."""
    low, have = numbers(wanted.lstrip("^~>=")), numbers(version)
    if wanted.startswith(">="):
        return have >= low
    if wanted.startswith("^"):
        first = next((place for place, number in enumerate(low) if number), 0)
        return have >= low and have[: first + 1] == low[: first + 1]
    if wanted.startswith("~"):
        return have >= low and have[:2] == low[:2]
    return all(a == b for a, b in itertools.zip_longest(low, have[: len(low)], fillvalue=0))
