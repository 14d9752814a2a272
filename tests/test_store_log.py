"""The log says who wrote which bytes. What is done to it by others shows, and never raises anybody's word."""

import json
import os
import threading
from hashlib import sha256

import hypothesis
import pytest
from hypothesis import strategies as st
from tests.texts import examples

from commonplace import Call, Saved, open_memory
from commonplace.note.format import stamp_of
from commonplace.note.note import Note
from commonplace.store import log
from commonplace.store.base import ORIGINS, trust_of
from commonplace.store.disk import Disk
from commonplace.store.files import FileStore
from commonplace.store.paths import KEY, LOG

PERSON = Call("person", "2026-05-15-08h00-a1b2", False, "commonplace")
HAND = trust_of("hand")


def log_of(book):
    return book / ".commonplace" / LOG


def key_of(book):
    return (book / ".commonplace" / KEY).read_bytes()


def entries(book):
    return list(log.read_entries(log_of(book).read_bytes(), key_of(book)))


def whole(book):
    """Whether the chain holds: every line an entry, as we wrote it, numbered in a row."""
    found = entries(book)
    lines = log_of(book).read_bytes().count(b"\n")
    numbered = [entry.number for entry, _ in found] == list(range(1, lines + 1))
    return numbered and all(sound for _, sound in found) and log_of(book).read_bytes()[-1:] in (b"", b"\n")


def author(book, name):
    """Who wrote a note, as a process that has never asked is told."""
    return FileStore(str(book)).get(name).author()


@pytest.fixture
def store(book):
    return FileStore(str(book))


def put(store, name, body, call=PERSON):
    from commonplace.errors import NotFound

    try:
        old = store.get(name).note.stamp
    except NotFound:
        old = ""
    return store.put(Note(name=name, body=body, description=body), call=call, expect=old)


# --- the chain -------------------------------------------------------------------------------------------------

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 4), st.integers(0, 3), st.sampled_from(ORIGINS)),
        st.tuples(st.just("delete"), st.integers(0, 4), st.just(0), st.just("")),
        st.tuples(st.just("hand"), st.integers(0, 4), st.integers(0, 9), st.just("")),
        st.tuples(st.just("remove"), st.integers(0, 4), st.just(0), st.just("")),
    ),
    max_size=12,
)


@examples(25, 400)
@hypothesis.given(steps=STEPS)
def test_the_chain_holds_after_any_sequence_of_changes_and_names_who_wrote_last(tmp_path_factory, steps):
    book = tmp_path_factory.mktemp("log") / "notebook"
    store = FileStore(str(book))
    put(store, "begun", "To begin with")
    last = {}
    for what, number, body, origin in steps:
        name, there = f"note-{number}", f"note-{number}" in {seen.name for seen in store.scan().seen}
        if what == "put" and put(store, name, f"It is {body}", Call(origin)).outcome != "unchanged":
            last[name] = origin
        elif what == "delete" and there:
            store.delete(name, call=PERSON, expect=store.get(name).note.stamp)
        elif what == "hand":
            (book / f"{name}.md").write_text(f"By hand, {body}\n")
            last[name] = "hand"
        elif what == "remove" and there:
            (book / f"{name}.md").unlink()
    assert whole(book)
    for seen in store.scan().seen:
        if seen.name != "begun":
            assert author(book, seen.name) == store.get(seen.name).author() == last[seen.name]


def test_an_entry_says_what_was_there_and_what_is(book, store):
    first, second = put(store, "x", "One"), put(store, "x", "Two")
    store.delete("x", call=PERSON, expect=second.note.stamp)
    found = [entry for entry, _ in entries(book)]
    assert [entry.op for entry in found] == ["put", "put", "delete"]
    assert [(entry.was, entry.hash) for entry in found] == [
        ("", first.note.stamp), (first.note.stamp, second.note.stamp), (second.note.stamp, ""),
    ]  # fmt: skip
    assert {entry.call for entry in found} == {PERSON}
    assert len({entry.id for entry in found}) == 1
    lines = log_of(book).read_bytes().split(b"\n")
    assert json.loads(lines[2])["prev"] == sha256(lines[1]).hexdigest()[:32]


def test_the_chain_holds_when_threads_and_memories_write_at_once(book, scale):
    each = scale(5, 60)

    def work(me):
        memory = open_memory(book)
        for number in range(each):
            assert isinstance(memory.save(f"Fact {number} of {me}", name=f"{me}-{number}", call=PERSON), Saved)

    threads = [threading.Thread(target=work, args=(f"t{me}",)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert whole(book)
    assert len(entries(book)) == 4 * each
    assert {author(book, f"t{me}-{number}") for me in range(4) for number in range(each)} == {"person"}


# --- a torn end ------------------------------------------------------------------------------------------------


def test_a_line_torn_anywhere_is_cut_and_the_next_one_stands_in_its_place(book, store, scale):
    put(store, "kept", "It is kept")
    before = log_of(book).read_bytes()
    put(store, "torn", "It is torn")
    full = log_of(book).read_bytes()
    step = scale(9, 1)
    for cut in range(len(before), len(full), step):
        log_of(book).write_bytes(full[:cut])
        (book / "torn.md").unlink(missing_ok=True)
        assert author(book, "kept") == "person"
        put(FileStore(str(book)), "after", f"It is after {cut}")
        assert whole(book), cut
        assert author(book, "after") == author(book, "kept") == "person"
        (book / "after.md").unlink()


TAILS = [b"x", b"\0" * 4096, b"{", b'{"n":', b"\xff\xfe", b"x" * 100_000, b"{}", b"[" * 5000, b'{"n":99,"prev":""}']


@pytest.mark.parametrize("tail", TAILS, ids=[repr(tail[:12]) for tail in TAILS])
def test_whatever_lies_behind_the_last_line_is_cut(book, store, tail):
    put(store, "kept", "It is kept")
    with log_of(book).open("ab") as file:
        file.write(tail)
    assert author(book, "kept") == "person"
    put(store, "after", "It is after")
    assert whole(book)
    assert author(book, "after") == "person"


@pytest.mark.parametrize(
    "line", [b"", b"x", b"{}", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"n":"x"}', b"9" * 5000, b"\0\0"]
)
def test_a_line_that_is_no_entry_is_stepped_over_and_the_log_goes_on(book, store, line):
    put(store, "kept", "It is kept")
    with log_of(book).open("ab") as file:
        file.write(line + b"\n")
    put(store, "after", "It is after")
    put(store, "later", "It is later")
    assert [author(book, name) for name in ("kept", "later")] == ["person", "person"]
    assert trust_of(author(book, "after")) <= trust_of("person")
    assert entries(book)[-1][1]


def test_a_failed_append_leaves_the_log_as_it_was(book, store):
    put(store, "kept", "It is kept")
    before = log_of(book).read_bytes()

    class Failing(Disk):
        def write(self, fd, data):
            if data.startswith(b'{"n"'):
                super().write(fd, data[:40])
                raise OSError(28, "No space left on device")
            return super().write(fd, data)

    with pytest.raises(Exception, match="No space left"):
        put(FileStore(str(book), disk=Failing()), "lost", "It is lost")
    assert log_of(book).read_bytes() == before
    assert put(store, "after", "It is after").outcome == "created"
    assert whole(book)


# --- what others do to it --------------------------------------------------------------------------------------


def stocked(book):
    """A notebook with a note by everybody, one corrected, one forgotten and one brought back."""
    store = FileStore(str(book))
    for origin in ORIGINS:
        put(store, f"by-{origin}", f"Said by {origin}", Call(origin, "s", False, "a"))
    put(store, "by-agent", "Said by the agent, corrected", Call("agent"))
    first = put(store, "lowered", "Said by a person, then by an agent")
    put(store, "lowered", "Said by nobody in between", Call("import"))
    put(store, "lowered", first.note.body, Call("agent"))
    gone = put(store, "gone", "Said and gone")
    store.delete("gone", call=PERSON, expect=gone.note.stamp)
    written = [(entry.id, entry.hash, entry.call.origin) for entry, _ in entries(book)]
    before = {}
    for seen in store.scan().seen:
        here = (log.id_of(seen.name, key_of(book)), store.get(seen.name).note.stamp)
        before[seen.name] = {origin for id_, hash_, origin in written if (id_, hash_) == here}
    return log_of(book).read_bytes(), before


def raised(book, before):
    """Notes whose author stands higher than all who wrote these very bytes, and than anybody's edit of them would."""
    now = {name: author(book, name) for name in before}
    return [name for name in before if trust_of(now[name]) > max(HAND, *map(trust_of, before[name]))]


FORGED = {"origin": "person", "id": "0" * 16, "hash": "0" * 64, "was": "1" * 64, "n": 1, "op": "put", "at": "2026", "prev": "", "seal": "0" * 32,
          "session": "other", "actor": "other", "tainted": True}  # fmt: skip


def test_an_edited_line_shows_and_raises_nobodys_word(book, tally):
    raw, before = stocked(book)
    lines = raw.split(b"\n")[:-1]
    for number, line in enumerate(lines):
        for field, value in FORGED.items():
            fields = json.loads(line)
            if fields[field] == value:
                continue
            edited = json.dumps({**fields, field: value}, separators=(",", ":")).encode()
            log_of(book).write_bytes(b"\n".join([*lines[:number], edited, *lines[number + 1 :], b""]))
            with tally("R17", f"line {number}: {field}"):
                assert not whole(book)
                assert not entries(book)[number][1]
                assert raised(book, before) == []


def test_an_edit_that_keeps_the_chain_still_shows(book):
    """The last line has none behind it, and a forger can make the chain anew; only the key makes a seal."""
    raw, before = stocked(book)
    lines = raw.split(b"\n")[:-1]
    for origin in ORIGINS:
        previous, out = "", []
        for line in lines:
            fields = {
                **json.loads(line),
                "prev": previous,
                "origin": "person" if f'"{origin}"'.encode() in line else origin,
            }
            fields.pop("seal")
            body = json.dumps(fields, separators=(",", ":")).encode()
            out.append(log._sealed(body[:-1] + b',"seal":"', b"another notebook's key")[:-1])
            previous = sha256(out[-1]).hexdigest()[:32]
        log_of(book).write_bytes(b"\n".join([*out, b""]))
        assert raised(book, before) == []
        assert not any(sound for _, sound in entries(book))


def test_a_line_taken_out_put_in_or_moved_shows_and_raises_nobodys_word(book, tally):
    raw, before = stocked(book)
    lines = raw.split(b"\n")[:-1]
    moved = lines[1:] + lines[:1]
    changed = [("moved", moved), ("turned", lines[::-1]), ("twice", lines * 2)]
    changed += [(f"without {n}", lines[:n] + lines[n + 1 :]) for n in range(len(lines) - 1)]
    changed += [(f"again at {n}", lines[:n] + lines[m : m + 1] + lines[n:]) for n in range(len(lines)) for m in range(0, len(lines), 3) if m not in (n, n - 1)]  # fmt: skip
    for what, kept in changed:
        log_of(book).write_bytes(b"\n".join([*kept, b""]))
        with tally("R17", what):
            assert not all(sound for _, sound in entries(book))
            assert raised(book, before) == []


def test_a_log_cut_short_or_taken_away_leaves_notes_by_hand(book):
    raw, before = stocked(book)
    for count in range(raw.count(b"\n")):
        log_of(book).write_bytes(b"".join(line + b"\n" for line in raw.split(b"\n")[:count]))
        assert raised(book, before) == []
    log_of(book).unlink()
    assert {author(book, name) for name in before} == {"hand"}


@pytest.mark.parametrize("key", [b"", b"x", b"\0" * 32, b"k" * 64, b"k" * 65, b"k" * 300, None, "folder", "link"])
def test_another_key_vouches_for_nobody(book, key):
    _, before = stocked(book)
    path = book / ".commonplace" / KEY
    path.unlink()
    if key == "folder":
        path.mkdir()
    elif key == "link":
        path.symlink_to("/etc/hostname")
    elif key is not None:
        path.write_bytes(key)
    assert {author(book, name) for name in before} == {"hand"}


def test_a_key_that_is_put_back_vouches_at_once_also_to_who_asked_in_between(book):
    open_memory(book).save("It is so.", name="fact", call=PERSON)
    path, key, store = book / ".commonplace" / KEY, key_of(book), FileStore(str(book))
    path.write_bytes(bytes(32))
    assert store.get("fact").author() == "hand"
    path.write_bytes(key)
    assert store.get("fact").author() == "person"


@pytest.mark.parametrize("what", ["folder", "link", "fifo", "empty", "control gone"])
def test_something_else_in_the_logs_place_vouches_for_nobody_and_hinders_no_reader(book, tmp_path, what):
    _, before = stocked(book)
    elsewhere = tmp_path / "elsewhere.jsonl"
    log_of(book).rename(elsewhere)
    if what == "folder":
        log_of(book).mkdir()
    elif what == "link":
        log_of(book).symlink_to(elsewhere)
    elif what == "fifo":
        os.mkfifo(log_of(book))
    elif what == "empty":
        log_of(book).touch()
    else:
        (book / ".commonplace").rename(tmp_path / "control")
    assert {author(book, name) for name in before} == {"hand"}
    assert open_memory(book).recall("said").hits


def test_a_log_from_another_notebook_vouches_for_nobody(book, tmp_path):
    theirs = tmp_path / "theirs"
    put(FileStore(str(theirs)), "rule", "The rule of theirs")
    put(FileStore(str(book)), "begun", "To begin with")
    log_of(book).write_bytes(log_of(theirs).read_bytes())
    (book / "rule.md").write_bytes((theirs / "rule.md").read_bytes())
    assert author(theirs, "rule") == "person"
    assert author(book, "rule") == "hand"


# --- who wrote these bytes -------------------------------------------------------------------------------------


def test_bytes_the_log_does_not_know_are_by_hand(book, store):
    put(store, "rule", "The rule")
    source = (book / "rule.md").read_bytes()
    for changed in (
        source + b"\n",
        source.replace(b"rule", b"Rule"),
        b"",
        source[:-1],
        b"\xef\xbb\xbf" + source,
        b"x" * 100,
    ):
        (book / "rule.md").write_bytes(changed)
        assert author(book, "rule") == "hand"
    (book / "rule.md").write_bytes(source)
    assert author(book, "rule") == "person"
    for name in ("Rule", "rule-2", "rules"):
        (book / f"{name}.md").write_bytes(source)
        assert author(book, name) == "hand"
    (book / "sessions").mkdir()
    (book / "rule.md").rename(book / "sessions" / "rule.md")
    assert author(book, "rule") == "person"


def test_the_log_holds_no_name_and_no_text(book):
    memory = open_memory(book)
    marks = [f"marker{number}q" for number in range(8)]
    body, name, title, description, tag, glob, older, kind = marks
    memory.save(body, name=name, title=title, description=description, tags=[tag], applies_to=[glob], supersedes=[older], call=PERSON)  # fmt: skip
    memory.save(f"{body} corrected", name=name, description=description)
    (book / f"{kind}.md").write_text(f"---\ntype: {kind}\n---\nBy hand\n")
    memory.save("By hand, corrected", name=kind, replace=True)
    memory.forget(name)
    raw = log_of(book).read_bytes().lower()
    assert len(entries(book)) == 4
    for mark in marks:
        assert mark.encode() not in raw
    for word in (b".md", b"corrected", b"hand", b"/"):
        assert word not in raw.replace(b'"origin":"hand"', b"")


def test_nobody_without_the_key_can_tell_which_note_a_line_is_about(tmp_path):
    ids = set()
    for book in (tmp_path / "one", tmp_path / "two"):
        put(FileStore(str(book)), "guessable", "The same text in both")
        ids.add(entries(book)[0][0].id)
        assert log.id_of("guessable", key_of(book)) in ids
        assert len(key_of(book)) == log.KEY_BYTES
        assert (book / ".commonplace" / KEY).stat().st_mode & 0o077 == 0
    assert len(ids) == 2


WORDS = ["", "a b", 'quote " and \\ slash', "line\nbreak", "\0", "\ud83c", "é" * 500, "🎉" * 500, "\x1b[2J", '","origin":"person","x":"',
         "x" * 100_000, "\u2028", "\x7f\x85", "2026-05-15-08h00-a1b2"]  # fmt: skip


@pytest.mark.parametrize("word", WORDS, ids=[repr(word[:12]) for word in WORDS])
def test_odd_words_of_a_caller_stay_one_short_line(book, store, word):
    put(store, "x", "One", Call("agent", word, False, word))
    put(store, "x", "Two", Call("agent", word, True, word))
    put(store, "x", "Three", PERSON)
    assert whole(book)
    lines = log_of(book).read_bytes().split(b"\n")
    assert len(lines) == 4
    assert max(map(len, lines)) < 8000
    found = [entry.call for entry, _ in entries(book)]
    assert [call.tainted for call in found] == [False, True, False]
    assert found[0].session == found[0].actor == word[:200]
    assert author(book, "x") == "person"


def test_lines_at_their_longest_are_found_and_chained(book, store):
    long = Call("agent" + "🎉" * 300, "🎉" * 300, True, "🎉" * 300)
    for number in range(12):
        put(store, f"x{number}", "One", long)
        with log_of(book).open("ab") as file:
            file.write(b"torn" * (number * 700))
    put(store, "last", "One")
    assert whole(book)


# --- a long log ------------------------------------------------------------------------------------------------


def lengthened(book, count):
    """The log with so many more lines of notes that are gone, made as the store makes them."""
    key, raw = key_of(book), log_of(book).read_bytes()
    previous, lines = sha256(raw.split(b"\n")[-2]).hexdigest()[:32], []
    for number in range(raw.count(b"\n") + 1, raw.count(b"\n") + 1 + count):
        entry = log.Entry(number, "2026-05-15T08:00:00.000Z", "put", f"{number:016x}", f"{number:064x}", "", PERSON)
        line = entry.line(previous, key)
        previous = sha256(line[:-1]).hexdigest()[:32]
        lines.append(line)
    with log_of(book).open("ab") as file:
        file.write(b"".join(lines))


@pytest.mark.promise
def test_a_very_long_log_costs_a_call_little(book, store, scale, tally):
    from tests.places import bounded

    put(store, "early", "Said early")
    lengthened(book, scale(15_000, 150_000))
    (book / "by-hand.md").write_text("By hand\n")
    with tally("R13", "author"), bounded():
        assert author(book, "early") == "person"
        assert author(book, "by-hand") == "hand"
    with tally("R13", "put"), bounded():
        put(store, "late", "Said late")
    with tally("R13", "recall"), bounded():
        assert [hit.trust for hit in open_memory(book).recall("said").hits] == ["person", "person"]
    assert author(book, "late") == "person"


def test_the_log_is_read_once_for_each_state_of_it(book):
    class Counting(Disk):
        reads = 0

        def open_read(self, name, at):
            self.reads += name == LOG
            return super().open_read(name, at)

    disk = Counting()
    store = FileStore(str(book), disk=disk)
    for number in range(20):
        put(store, f"x{number}", "One")
    disk.reads = 0
    for _ in range(3):
        assert {store.get(f"x{number}").author() for number in range(20)} == {"person"}
    assert disk.reads == 1
    put(store, "y", "One", Call("import"))
    assert store.get("y").author() == "import"
    assert disk.reads == 2
    assert stamp_of((book / "y.md").read_bytes()) in log_of(book).read_text()


def test_threads_that_ask_while_others_write_are_told_right(book, scale):
    rounds = scale(30, 600)
    store = FileStore(str(book))
    for number in range(5):
        put(store, f"x{number}", "One")
    wrong, done = [], threading.Event()

    def ask():
        while not done.is_set():
            told = {store.get(f"x{number}").author() for number in range(5)}
            if told != {"person"}:
                wrong.append(told)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(rounds):
        put(store, "y", f"It is {number}", Call("import"))
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []
