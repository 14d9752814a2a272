"""Lines of programs, in whatever language: which of them define a name. A few rules for all, and no parser.

What they miss is a name that is only mentioned; what they take for a definition and is none is the same line before
and after, so it changes no verdict.
"""

from __future__ import annotations

import re

# Files that tell of programs, or set them up: what looks like a definition there is none.
_NO_PROGRAMS = frozenset(
    "md mdx rst txt adoc tex toml cfg ini conf json jsonl json5 yaml yml lock xml html htm svg csv tsv po pot properties ipynb".split()
)
_SHAPED = re.compile(r"[a-z0-9]_[a-z0-9]|[a-z][A-Z]|[A-Z]_[A-Z0-9]|^--")
_KEYWORDS = (
    "def|class|func|fn|function|struct|enum|trait|interface|type|const|let|var|val|static|module|mod|macro_rules!|record|"
    "protocol|object|union|defp|sub|proc|#define|TABLE|VIEW|namespace|alias|typedef"
)
_KEYWORD = re.compile(rf"(?:^|[\s;])(?:{_KEYWORDS})\s+(?:\([^()]*\)\s*)?[*&]?$")
_TYPED = re.compile(r"^(?:[\w:<>*&,\[\]]+ +)+[*&]*$")
_MODIFIED = re.compile(r"^\s+(?:(?:async|static|public|private|protected|get|set|override) )*$")
_STATEMENTS = frozenset(
    "return if else elif while for case throw await yield new print echo not and or in assert raise del import from "
    "require use using with do goto delete typeof match when unless then export".split()
)
_ASSIGNED = re.compile(r"\s*(?::[^=]*)?=(?![=>~])")
_LINE_CHARS = 500


def defines(line: str, name: str) -> bool:
    """Whether a line of a program, in whatever language, defines a name."""
    before, found, after = line[:_LINE_CHARS].partition(name)
    while found:
        if not (before[-1:].isidentifier() or after[:1].isidentifier() or after[:1].isdigit()):
            return _is_defined(before, after)
        more, found, after = after.partition(name)
        before += name + more
    return False


def _is_defined(before: str, after: str) -> bool:
    if _KEYWORD.search(before):
        return True
    if before in ("", "export ", "local ", "readonly "):
        return (bool(_ASSIGNED.match(after)) and not (before == "" and after[:1] == "=")) or after.startswith("()")
    if not after.startswith("("):
        return False
    ends = after.rstrip()
    if _MODIFIED.match(before):
        return ends.endswith("{") and ")" in after
    return bool(_TYPED.match(before)) and before.split(maxsplit=1)[0] not in _STATEMENTS and not ends.endswith(";")


def shaped(name: str) -> bool:
    """Whether only programs spell a name so: `snake_case`, `camelCase`, `A_CONSTANT`, a flag."""
    return bool(_SHAPED.search(name))


def is_program(path: str) -> bool:
    """Whether a file may define names."""
    return path.rpartition("/")[2].rpartition(".")[2].casefold() not in _NO_PROGRAMS
