"""Finding notes: `recall`, `list` and `show`. On the way to an answer nothing is imported that is not printed with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from commonplace.guard.text import one_line
from commonplace.note.kind import SYNONYMS, Kind, heading_of, kind_of
from commonplace.recall.asked import DAYS, DAYS_AHEAD, moment_of
from commonplace.recall.hit import Recall
from commonplace.recall.lexical import POOL
from commonplace.store.base import Problem
from commonplace.surfaces import shown
from commonplace.surfaces.cli.opened import Misuse, Opened
from commonplace.surfaces.cli.options import MOST_HITS, MOST_PUSHED, NARROWING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from commonplace.recall.hit import Hit

# As much of a failing command's output is read.
_OUTPUT_CHARS = 100_000
# As much of a word nobody knows is said back.
_SHOWN = 40


def recall(opened: Opened, query: Sequence[str], **given: Any) -> None:
    """Print the notes that answer a question, or that a situation calls for, best first."""
    found = _found(opened, " ".join(query), given)
    if given["trace"]:
        size = sum(len(hit.excerpt.encode()) for hit in found)
        opened.trace(given["trace"], "pushed" if given["push"] else "recalled", [hit.name for hit in found], size)
    if opened.json:
        return shown.say_json(shown.recall_json(found))
    for typed, read in found.guessed:
        shown.say_line(f"no note holds {typed!r}; looked for {read!r}", to_error=True)
    if not found and not given["push"]:
        shown.say_line(_nothing_found(opened, given), to_error=True)
    for hit in found:
        _print_hit(hit, explain=given["explain"])
    if found.more and not given["push"]:
        weighed = len(found) + found.more
        more = f"at least {found.more}" if weighed >= POOL else str(found.more)
        upto, what = (min(2 * weighed, MOST_HITS), "more") if weighed >= POOL else (weighed, "all")
        shown.say(f"{more} more; --limit {upto} shows {what}", to_error=True)
    return None


def _found(opened: Opened, query: str, given: Mapping[str, Any]) -> Recall:
    asked = {"kinds": kinds_of(given["kinds"]), "tags": given["tags"], "since": day_of(opened, given["since"])}
    output, places = given["on_error"], [given[name] for name in ("for_path", "for_command", "for_tool")]
    if output is not None:
        from commonplace.recall.situations import asked_by

        query = f"{query} {asked_by(_read_all() if output == '-' else output)}"
    to = None
    if any(place is not None for place in places):
        from commonplace.recall.situations import Situation

        to = Situation(*(place or "" for place in places))
    elif not query.strip():
        if output is not None or given["push"]:
            return Recall()  # a hook that had nothing to ask with gets nothing
        raise Misuse("say what to look for, or what it is for: --for-path, --for-command, --for-tool or --on-error")
    if given["push"]:
        if to or any(asked.values()):
            raise Misuse("--push takes a prompt alone; ask for kinds, tags, days and situations without it")
        return opened.memory.push(query, most=min(given["limit"], MOST_PUSHED))
    return opened.memory.recall(
        query, limit=given["limit"], to=to, verify=given["verify"], workspace=_workspace(given), **asked
    )


def _workspace(given: Mapping[str, Any]) -> str | None:
    """The folder the notes speak of: the one given; for who wants it looked at, the repository they are in."""
    if given["workspace"] is not None or not given["verify"]:
        folder: str | None = given["workspace"]
        return folder
    from commonplace.evidence.workspace import repository_of

    return repository_of(".") or "."


def _read_all() -> str:
    """What is piped in; of a long log, its end, where what went wrong stands."""
    import sys

    return sys.stdin.read()[-_OUTPUT_CHARS:] if sys.stdin else ""


def _print_hit(hit: Hit, *, explain: bool) -> None:
    facts = [str(hit.kind), hit.age, f"by {hit.trust}", *(["expired"] if hit.expired else [])]
    shown.say_line(f"{hit.name} ({', '.join(facts)})")
    shown.say_line(hit.description, indent=2)
    shown.say_line(f"found by: {', '.join(hit.reasons)}", indent=2)
    if hit.broken:
        shown.say_line(f"no longer so: {'; '.join(hit.broken)}", indent=2)
    if explain:
        shown.say_line(f"{hit.score:.2f} = " + " + ".join(f"{part} {worth:.2f}" for part, worth in hit.parts), indent=2)


def listed(opened: Opened, kinds: Sequence[str], tags: Sequence[str], since: str | None) -> None:
    """Print the notes, by kind."""
    scan = opened.memory.notes(kinds=kinds_of(kinds), tags=tags, since=day_of(opened, since))
    notes = scan.notes
    if opened.json:
        problems = [shown.problem_json(problem) for problem in scan.problems]
        return shown.say_json({"notes": [shown.note_json(note, body=False) for note in notes], "problems": problems})
    today = opened.memory.today()
    for kind in Kind:
        group = [note for note in notes if note.kind is kind]
        if group:
            shown.say(heading_of(kind))
        for note in group:
            marks = ["pinned"] * note.pinned + ["expired"] * bool(note.expires and note.expires < today)
            shown.say_entry(note.name + (f" ({', '.join(marks)}):" if marks else ":"), note.description, indent=2)
    if not notes:
        shown.say_line("no notes like that" if kinds or tags or since else _empty(opened), to_error=True)
    if 0 < shown.screenful() < len(notes):
        shown.say_line(f"{len(notes):,} notes; --kind, --tag and --since show fewer", to_error=True)
    print_problems([problem for problem in scan.problems if problem.unread])
    return None


def show(opened: Opened, name: str) -> None:
    """Print a note whole, and the notes that link to it."""
    from commonplace.care.links import backlinks
    from commonplace.note.note import spaced

    found = opened.memory.find(name)
    note = found.note
    linking = backlinks(opened.memory.notes().notes, note.name)
    if opened.json:
        return shown.say_json({**shown.note_json(note, body=True), "trust": found.author(), "backlinks": linking})
    day = note.updated or note.created
    facts = [str(note.kind), *(f"#{tag}" for tag in note.tags), f"by {found.author()}"]
    facts += [f"in session {note.session}"] if note.session else []
    facts += [f"updated {day}"] if day else []
    facts += ["pinned"] if note.pinned else []
    facts += [f"expires {note.expires}"] if note.expires else []
    facts += [f"corrects {', '.join(note.supersedes)}"] if note.supersedes else []
    shown.say_line(f"{note.name} ({', '.join(facts)})")
    said = (one_line(note.body), note.name, spaced(note.name))
    for line in (note.title, note.description):
        if not any(text.startswith(one_line(line)) for text in said):  # else it is said twice
            shown.say_line(line)
    shown.say("")
    shown.say_prose(note.body)
    if linking:
        shown.say("")
        shown.say_line(f"linked from: {', '.join(linking)}")
    return None


def _empty(opened: Opened) -> str:
    return f'no notes in {opened.memory.where}; save one: `commonplace remember "..."{opened.at}`'


def _nothing_found(opened: Opened, given: Mapping[str, Any]) -> str:
    """What to try where a recall found nothing."""
    if not any(opened.memory.status().counts.values()):
        return _empty(opened)
    said = {option: given[option.name] for option in NARROWING if given[option.name]}
    asked = [
        f"{option.flags[0]} {word}" for option, words in said.items() for word in (words if option.many else [words])
    ]
    only = f" with {' '.join(asked)}; try without or with" if asked else "; try"
    return f"nothing found{only} fewer or other words; `commonplace list{opened.at}` shows what there is"


def print_problems(problems: Sequence[Problem]) -> None:
    """Tell of files a person should know about."""
    for problem in problems:
        shown.complain(f"{problem.file}: {problem.what}")


def kinds_of(words: Sequence[str]) -> tuple[str, ...]:
    """Words for kinds, each of which there is."""
    for word in words:
        kind_word(word, tuple(Kind))
    return tuple(words)


def kind_word(word: str, kinds: Sequence[Kind]) -> None:
    """Let through what names one of these kinds, in our words or another system's."""
    said = word.strip().casefold()
    if kind_of(said) is Kind.OTHER and said not in kinds:
        from commonplace.recall.near import nearest

        meant = nearest(said[:_SHOWN], dict.fromkeys((*kinds, *SYNONYMS), 1))
        raise Misuse(f"{word[:_SHOWN]!r} is no kind; choose {', '.join(kinds)}", [meant] if meant else [])


def day_of(opened: Opened, word: str | None, *, ahead: bool = False) -> date | None:
    """A day as people say it; one that is to come, or `never`, where it is the last of something."""
    if word is None:
        return None
    day = moment_of(word, datetime.fromtimestamp(opened.memory.now()), days=True, ahead=ahead)
    if day is None:
        raise Misuse(f"{word!r} is no day; write {DAYS_AHEAD if ahead else DAYS}")
    return day.date()
