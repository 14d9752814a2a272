"""Doctor: everything about a notebook that is not as it should be, where it is and what to do; and the mending of what is safe.

`examine` changes nothing and makes no file. `mend` loses nothing: it makes derived things again, gives modes back and
takes away what dead writers left; no note, no line of the log and no version in the history is touched.
It knows Memory and what a checkup lays open; no files, no tables, no surface.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from shlex import quote
from typing import NamedTuple, TypeVar
from unicodedata import normalize

from commonplace.care import links
from commonplace.errors import BadName, StoreError
from commonplace.index.catalog import Catalog
from commonplace.index.checkup import Checkup, Derived, Drift
from commonplace.memory import Memory
from commonplace.note.format import OVERLONG
from commonplace.note.limits import DESCRIPTION_CHARS
from commonplace.note.note import Note
from commonplace.note.slug import slugify
from commonplace.store.audit import Audit
from commonplace.store.base import Problem, Pulse
from commonplace.store.looking import DAMAGE, NOTE, SEVERITIES, WARNING, Finding
from commonplace.store.paths import INDEX, SUFFIX, copied_from, place_of, printable, stem_of

_MENDING = "commonplace doctor --fix"
_FIX = f"`{_MENDING}` "
_AGAIN = _FIX + "lets it begin again from the files"
# Notes of one sort that are named; `--json` has them all.
_SOME = 3
# How often what others are changing is looked at again.
_LOOKS = 5
T = TypeVar("T")


class Examination(NamedTuple):
    """What was found, the worst first, and how many files were looked at."""

    findings: tuple[Finding, ...]
    looked_at: int

    @property
    def sound(self) -> bool:
        """Nothing is damaged, and nothing asks to be looked at."""
        return all(finding.severity == NOTE for finding in self.findings)


class Mended(NamedTuple):
    """One sort of finding, and what was done about it; or, where it is not `done`, why not."""

    check: str
    what: str
    done: bool


def examine(memory: Memory, at: str = "") -> Examination:
    """Look at every byte of a notebook, and at all that is derived from it.

    `at` is what a command needs to mean this notebook, so that the cures can be typed as they stand.
    """
    checkup = memory.checkup()
    if checkup is None:
        return Examination((), 0)
    findings: list[Finding] = []
    look = _tried_to(lambda: _Look(checkup.pulse(), checkup.afresh()), findings)
    notes = [note for note, _ in look.fresh.notes()] if look else []
    audit = _tried_to(lambda: checkup.audit({note.name: note.stamp for note in notes}), findings)
    findings += audit.findings if audit else ()
    if look:
        problems = look.fresh.problems()
        findings += [_copy(one, memory.where, notes, at) or _odd(one) for one in problems]
        findings += [found for check in (_twins, _undescribed) for found in check(notes)]
        findings += _dead_links(notes, _unread(problems))
        findings += _expired(notes, checkup)
        derived = _tried_to(lambda: _derived(checkup, look, findings), findings)
        findings += _unlogged(notes, audit, _lost_by_log(derived, audit) if derived else ())
        findings += _differing(derived, audit) if derived else ()
    found = {one._replace(cure=one.cure.replace(_MENDING, _MENDING + at)) for one in findings}
    return Examination(tuple(sorted(found, key=_worst_first)), audit.looked_at if audit else len(notes))


def mend(memory: Memory, examination: Examination, *, private: bool = False) -> tuple[Mended, ...]:
    """Put right what can be put right without losing anything; with `private`, also close the notes to others."""
    checkup = memory.checkup()
    if checkup is None:
        return ()
    wanted = {finding.check for finding in examination.findings if finding.fixable}
    wanted |= {"exposed"} if private else set()
    ways: dict[str, Callable[[], Mended]] = {
        "modes": lambda: _counted("modes", "private again: {}", checkup.make_private()),
        "exposed": lambda: _counted("exposed", "closed to others: {}", checkup.close_to_others()),
        "catalog": lambda: _unless("catalog", "begun again from the files", checkup.begin_again()),
        "staged": lambda: _cleared(checkup),
        "index": lambda: _unless("index", f"{INDEX} is written again", checkup.publish()),
    }
    done = (_tried(check, way) for check, way in ways.items() if check in wanted)
    return tuple(one for one in done if one.what)


def _worst_first(finding: Finding) -> tuple[int, str, str, str]:
    return (SEVERITIES.index(finding.severity), finding.check, finding.where, finding.what)


class _Look(NamedTuple):
    """What the notes say, read apart from all that is derived, and the store's pulse before."""

    pulse: Pulse
    fresh: Catalog


def _tried_to(look: Callable[[], T], findings: list[Finding]) -> T | None:
    """That one thing cannot be looked at does not hide the others."""
    try:
        return look()
    except StoreError as problem:
        findings.append(Finding("notebook", ".", str(problem), "see to that first, then look again", DAMAGE))
        return None


# --- the notes -----------------------------------------------------------------------------------------------


def _odd(problem: Problem) -> Finding:
    """What the store says of a file. What is to be done about one that is not read stands last in it."""
    if problem.what == OVERLONG:
        return Finding("description", problem.file, problem.what, f"shorten it to {DESCRIPTION_CHARS}", NOTE)
    if not problem.unread:
        return Finding("odd", problem.file, problem.what, "it is read all the same; nothing has to be done", NOTE)
    at = max(problem.what.rfind(". "), problem.what.rfind("; "))
    what, cure = (problem.what[:at], problem.what[at + 2 :]) if at > 0 else (problem.what, "")
    if not cure or cure == "not read":
        what, cure = problem.what, "put a plain file in its place, or remove it"
    return Finding("unread", problem.file, what, cure[:1].lower() + cure[1:], WARNING)


def _copy(problem: Problem, where: str, notes: Sequence[Note], at: str) -> Finding | None:
    """A sync tool's conflict copy of a note: no command can name it before it has a name a note can have."""
    folder, _, file = problem.file.rpartition("/")
    of = copied_from(file)
    if not problem.unread or not of.endswith(SUFFIX):
        return None
    path = os.path.join(where, problem.file)
    what, cure, command = problem.what.partition(";")[0], "", ""
    if of == INDEX:
        cure, command = "take it away: the index is made from the notes", f"rm {quote(path)}"
    elif (stem := stem_of(of)) and not stem.startswith("-") and file == printable(file):
        there = {note.name for note in notes}
        names = (stem, f"{stem}-copy", *(f"{stem}-copy-{number}" for number in range(2, 100)))
        spare = next((name for name in names if name not in there and stem_of(name + SUFFIX)), "")
        cure = f"the note it is a copy of is gone: let it be that note, as {stem}"
        command = f"mv -n {quote(path)} {quote(os.path.join(where, place_of(spare, folder)))}"
        if spare != stem:
            cure = "put the two together, then edit what stands there twice"
            command += f" && commonplace merge {quote(stem)} {quote(spare)}{at}"
    cure = cure or "give it a name of letters, digits and hyphens, ending in .md; then merge the two"
    return Finding("unread", problem.file, what, cure, WARNING, command=command)


def _twins(notes: Sequence[Note]) -> Iterator[Finding]:
    """Notes one name means, and those that would be one file on a disk that folds names."""
    same: dict[str, list[Note]] = {}
    for note in notes:
        same.setdefault(_slug(note.name), []).append(note)
    for group in same.values():
        where = ", ".join(map(_place, group))
        if len({(note.folder, _folded(note.name)) for note in group}) < len(group):
            what = "would be one file on a disk that is blind to case or to how letters are composed"
            yield Finding("twins", where, what, "rename all but one, or merge them", WARNING)
        elif len(group) > 1:
            what = "answer to the same name: whoever asks for it gets one of them"
            yield Finding("twins", where, what, "rename all but one, or merge them", WARNING)
        elif not group[0].folder and _folded(group[0].name + SUFFIX) == _folded(INDEX):
            what = f"would be {INDEX} itself on a disk that is blind to case"
            yield Finding("twins", where, what, "rename it before it goes to such a disk", NOTE)


def _dead_links(notes: Sequence[Note], unread: Container[str]) -> Iterator[Finding]:
    """Links to notes that are not there. One that is there and cannot be read is told of on its own."""
    places, there = {note.name: _place(note) for note in notes}, {note.name for note in notes}
    for name, link in links.dead(notes):
        if link not in unread:
            cure = "save a note of that name, or take the link out"
            yield Finding("links", places[name], f"links to [[{link}]], and there is no such note", cure, WARNING)
    for note in notes:
        for old in dict.fromkeys(note.supersedes):
            if old not in there and _slug(old) not in unread:
                what = f"says it corrects {old}, and there is no such note"
                yield Finding("links", _place(note), what, "nothing, if that was forgotten; else mend the name", NOTE)


def _unread(problems: Iterable[Problem]) -> set[str]:
    """The slugs of notes that cannot be read."""
    stems = (stem_of(problem.file.rpartition("/")[2]) for problem in problems if problem.unread)
    return {_slug(stem) for stem in stems if stem}


def _undescribed(notes: Sequence[Note]) -> Iterator[Finding]:
    for note in notes:
        if not note.description:
            what = "has no description, and no text to make one of: the index shows its name alone"
            yield Finding("description", _place(note), what, "give it a description, or forget it", NOTE)


def _expired(notes: Sequence[Note], checkup: Checkup) -> Iterator[Finding]:
    for note in notes:
        if note.expires is not None and note.expires < checkup.today:
            what = f"expired on {note.expires}: it is kept, and not in the index"
            yield Finding("expired", _place(note), what, "forget it, or give it another day", NOTE)


def _unlogged(notes: Sequence[Note], audit: Audit | None, lost: Container[str]) -> Iterator[Finding]:
    """Notes somebody changed with another tool. Where nobody has used ours, or the log cannot tell, there are none.

    Those the log has `lost` are told of there.
    """
    if audit is None or not audit.begun or audit.vouched is None:
        return
    found = [note for note in notes if note.name not in audit.vouched and note.name not in lost]
    names = tuple(note.name for note in found)
    if len(found) == 1:
        what = "made or changed with another tool: the log does not know these bytes"
        yield Finding("unlogged", _place(found[0]), what, "nothing, if it says what it should", NOTE, names=names)
    elif found:
        some = ", ".join(map(printable, names[:_SOME])) + (", ..." if len(names) > _SOME else "")
        what = f"{len(found):,} notes made or changed with another tool ({some}): the log does not know their bytes"
        yield Finding("unlogged", ".", what, "nothing, if they say what they should", NOTE, names=names)


# --- what is derived -----------------------------------------------------------------------------------------


def _derived(checkup: Checkup, look: _Look, findings: list[Finding]) -> Derived:
    """How what is derived stands beside the notes. What differs is looked at again: a writer may have come between."""
    before = None
    for _ in range(_LOOKS):
        found = checkup.derived(look.fresh)
        if found.agrees or (found == before and checkup.quiet() and checkup.pulse() == look.pulse):
            return found
        before, look = found, _Look(checkup.pulse(), checkup.afresh())
    what = "could not be compared with the notes: others kept writing"
    findings.append(Finding("catalog", found.catalog, what, "look again when it is quiet", NOTE))
    return found._replace(flaw="", drifts=(), apart=False, stale="")


def _differing(derived: Derived, audit: Audit | None) -> Iterator[Finding]:
    for drift in derived.drifts:
        if not _log_is_why(drift, audit):
            yield Finding("catalog", drift.where, drift.what, _AGAIN, DAMAGE, fixable=True)
    if derived.flaw:
        what = f"the catalog is damaged, and begins again when it is next used: {derived.flaw}"
        yield Finding("catalog", derived.catalog, what, _AGAIN, WARNING, fixable=True)
    if derived.apart:
        what = "the catalog has each note right, and makes another index of them than the files do"
        yield Finding("catalog", derived.catalog, what, _AGAIN, DAMAGE, fixable=True)
    if derived.stale and audit and audit.begun:  # where nobody has written with our tools, it is none of ours
        cure = _FIX + f"writes it again, as the next {'command' if derived.lags else 'save'} does"
        severity = NOTE if derived.lags else WARNING
        yield Finding("index", INDEX, derived.stale, cure, severity, fixable=True)


def _lost_by_log(derived: Derived, audit: Audit | None) -> set[str]:
    """The notes of which the catalog knows who wrote them and the log does not: it is the log that was changed."""
    lost = {drift.name for drift in derived.drifts if drift.forgotten}
    return lost | derived.remembered if _log_is_damaged(audit) else lost


def _log_is_why(drift: Drift, audit: Audit | None) -> bool:
    """Whether it is the log, and not the catalog, that was changed in what it says of who wrote a note; there it is told."""
    doubtful = audit is not None and audit.vouched is not None and audit.vouched.get(drift.name) is False
    return drift.author and (doubtful or (drift.forgotten and _log_is_damaged(audit)))


def _log_is_damaged(audit: Audit | None) -> bool:
    return audit is not None and any(finding.check == "log" for finding in audit.findings)


# --- mending -------------------------------------------------------------------------------------------------


def _tried(check: str, way: Callable[[], Mended]) -> Mended:
    try:
        return way()
    except StoreError as problem:
        return Mended(check, str(problem), done=False)


def _counted(check: str, what: str, count: int) -> Mended:
    files = f"{count} {'file or folder' if count == 1 else 'files and folders'}"
    return Mended(check, what.format(files) if count else "", done=True)


def _cleared(checkup: Checkup) -> Mended:
    checkup.clear()
    return Mended("staged", "what dead writers left is taken away", done=True)


def _unless(check: str, what: str, why_not: str) -> Mended:
    return Mended(check, why_not or what, done=not why_not)


# --- names ---------------------------------------------------------------------------------------------------


def _place(note: Note) -> str:
    return place_of(note.name, note.folder)


def _slug(name: str) -> str:
    try:
        return slugify(name)
    except BadName:
        return _folded(name)


def _folded(name: str) -> str:
    return normalize("NFC", normalize("NFC", name).casefold())
