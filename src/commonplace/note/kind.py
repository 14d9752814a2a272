"""Kind: the closed set of things worth remembering, and the one table that says what each means.

Prompt text, index headings, `--kind` choices and documentation are rendered from this table.
It knows nothing of notes, files or prompts.
"""

from __future__ import annotations

from enum import StrEnum

from commonplace.named import NamedTuple


class Kind(StrEnum):
    """What a note is about. OTHER is only ever read: a file whose type is none of ours, or has none."""

    USER = "user"
    FEEDBACK = "feedback"
    PROJECT = "project"
    REFERENCE = "reference"
    SESSION = "session"
    OTHER = "other"


class KindRow(NamedTuple):
    """One row of the table: all that is ever said about a kind."""

    heading: str  # over its lines in the index
    answers: str  # the question a note of this kind answers
    save: str  # when to save one
    use: str  # what to do with one
    shape: tuple[str, ...]  # labelled lines its body should carry
    scope: str  # where it belongs by default: "user" holds everywhere, "workspace" here
    stale: bool  # whether the world can change under it
    folder: str  # the folder new ones go to; "" is the notebook itself


WHY_AND_HOW = ("**Why:**", "**How to apply:**")

KINDS: dict[Kind, KindRow] = {
    Kind.USER: KindRow(
        heading="User",
        answers="who you work with",
        save="the person tells you their role, what they know, or how they like to work",
        use="choose depth, words and comparisons to suit them",
        shape=(),
        scope="user",
        stale=False,
        folder="",
    ),
    Kind.FEEDBACK: KindRow(
        heading="Feedback",
        answers="what was corrected, and what was confirmed",
        save="the person corrects how you work, or agrees to a choice that was not obvious",
        use="follow the rule; its reason decides the cases the rule does not name",
        shape=WHY_AND_HOW,
        scope="workspace",
        stale=False,
        folder="",
    ),
    Kind.PROJECT: KindRow(
        heading="Project",
        answers="why things are as they are, who does what, and by when",
        save="you learn a decision, a deadline or a constraint that the files do not show",
        use="understand what lies behind a request; check what may have changed",
        shape=WHY_AND_HOW,
        scope="workspace",
        stale=True,
        folder="",
    ),
    Kind.REFERENCE: KindRow(
        heading="Reference",
        answers="where to look outside the project",
        save="you learn the place of a dashboard, tracker, document or channel, and what it is for",
        use="go there when its subject comes up",
        shape=(),
        scope="workspace",
        stale=True,
        folder="",
    ),
    Kind.SESSION: KindRow(
        heading="Sessions",
        answers="what was done in an earlier session",
        save="a session ends; it is written for you",
        use="pick up open threads",
        shape=("## Summary", "## Decisions", "## Open threads"),
        scope="workspace",
        stale=True,
        folder="sessions",
    ),
}

OTHER_HEADING = "Other"

# The words of other systems (the handbook, the Go harness, Claude Code's plugins), accepted everywhere.
SYNONYMS: dict[str, Kind] = {
    "preference": Kind.USER,
    "preferences": Kind.USER,
    "correction": Kind.FEEDBACK,
    "fact": Kind.PROJECT,
    "decision": Kind.PROJECT,
    "session-summary": Kind.SESSION,
    "session_summary": Kind.SESSION,
    "sessions": Kind.SESSION,
    "summary": Kind.SESSION,
}

# Folders a note may lie in besides the notebook itself: ours for sessions, and those Qwen Code keeps by type.
FOLDERS: dict[str, Kind] = {
    "sessions": Kind.SESSION,
    "user": Kind.USER,
    "feedback": Kind.FEEDBACK,
    "project": Kind.PROJECT,
    "reference": Kind.REFERENCE,
}

_BY_WORD: dict[str, Kind] = {**SYNONYMS, **{str(kind): kind for kind in Kind}}


def kind_of(word: str) -> Kind:
    """The kind a word names, in our words or another system's; OTHER where it names none."""
    return _BY_WORD.get(word.strip().casefold(), Kind.OTHER)


def heading_of(kind: Kind) -> str:
    """The heading a kind's notes stand under."""
    row = KINDS.get(kind)
    return row.heading if row else OTHER_HEADING
