"""StoreContract: the contract of `store.base.Store`, executable. Subclass it in your own suite and make a store.

    class TestMyStore(StoreContract):
        history = False

        def make(self) -> Store:
            return MyStore()

It knows the protocol and nothing of any store. What a store cannot do is declared on the class and shows as a skip.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from threading import Barrier, Event, Thread

import pytest

from commonplace.errors import Changed, CommonplaceError, NotFound
from commonplace.note.kind import Kind
from commonplace.note.note import FACTS, Note
from commonplace.store.base import Call, Change, Store, Then, Written

AGENT = Call()
THREADS = 8
PUTS = 25
# A thread that is not through after this long never will be.
_PATIENCE = 30.0
# Long enough for a call that waits for nobody, short enough to sit through.
_MOMENT = 0.2

# Names nobody may give a note: what climbs, what hides, what is no text, what is too long, what is the index's own.
HOSTILE = (
    "../x", "..", ".", "", "/etc/x", "/", "a/b", "a\\b", "\0", "x\0y", "x\ny", ".hidden", " padded ", "n" * 5000,
    "MEMORY", "README", "\ud800", "sessions/../../x", "plan.sync-conflict-20260101-101010-ABCDEFG", "plan.conflict",
)  # fmt: skip

WHOLE = Note(
    name="every-field",
    title="Every field: a title",
    description='One line with "quotes", a colon: and # a hash',
    kind=Kind.FEEDBACK,
    word="correction",
    body="First line.\n\n---\n- [not](a-header): `---`\n\n**Why:** 深い理由 \u2026\n  indented, kept",
    tags=("deploy", "a, comma", 'a "quote"', "größe"),
    created=date(2026, 5, 15),
    updated=date(2026, 5, 16),
    expires=date(2027, 1, 1),
    pinned=True,
    applies_to=("src/**/*.py", "git push *"),
    supersedes=("an-older-note",),
    origin="agent",
    session="2026-05-15-08h00-a1b2",
)


class StoreContract:
    """What every Store must do. Implement `make`, or override the fixture `store`."""

    history = True
    """It keeps the versions it replaces, and says where in `Written.kept`."""
    durable = True
    """What it holds outlives the object: `again` opens the same place a second time."""
    free_readers = True
    """`get`, `scan` and `pulse` never wait for a writer."""

    def make(self) -> Store:
        """An empty store of its own."""
        pytest.fail("implement make(), or override the fixture `store`")

    def again(self, store: Store) -> Store:
        """A second store on the same place, as another process would open it."""
        pytest.fail("implement again(), or declare durable = False")

    def outside(self) -> object:
        """All that lies around the store, as a value to compare: no name may change it."""
        return None

    @pytest.fixture
    def store(self) -> Store:
        return self.make()

    # --- put, get, delete ------------------------------------------------------------------------------------

    def test_what_was_put_is_got(self, store: Store) -> None:
        written = _put(store, _note("a-fact", "It is so."))
        found = store.get("a-fact")
        assert written.outcome == "created"
        assert found.note == written.note
        assert found.note.body == "It is so."
        assert found.note.stamp == written.note.stamp != ""
        assert found.seen.name == "a-fact"

    def test_every_field_comes_back(self, store: Store) -> None:
        written = _put(store, WHOLE)
        back = store.get(WHOLE.name).note
        for field in FACTS:
            assert getattr(back, field) == getattr(WHOLE, field), field
        assert back == written.note == WHOLE
        assert back.odd == ()

    @pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.OTHER])
    def test_every_kind_comes_back(self, store: Store, kind: Kind) -> None:
        _put(store, replace(_note("of-a-kind", "It is so."), kind=kind))
        assert store.get("of-a-kind").note.kind is kind
        assert [seen.name for seen in store.scan().seen] == ["of-a-kind"]

    def test_a_correction_replaces_and_keeps_what_it_does_not_say(self, store: Store) -> None:
        old = _put(store, WHOLE).note
        written = _put(store, replace(old, body="It is otherwise."), expect=old.stamp)
        assert written.outcome == "updated"
        assert store.get(WHOLE.name).note == replace(WHOLE, body="It is otherwise.")
        assert store.get(WHOLE.name).note.stamp not in {"", old.stamp}

    def test_a_put_that_says_the_same_changes_nothing(self, store: Store) -> None:
        note = _put(store, _note("a-fact", "It is so.")).note
        before, told = _state(store), list[Change]()
        written = _put(store, note, expect=note.stamp, then=_noting(told))
        assert written.outcome == "unchanged"
        assert _state(store) == before
        assert told == []

    def test_a_deleted_note_is_gone_and_may_be_made_again(self, store: Store) -> None:
        old = _put(store, _note("a-fact", "It is so.")).note
        written = store.delete("a-fact", call=AGENT, expect=old.stamp)
        assert (written.outcome, written.note) == ("deleted", old)
        assert store.scan().seen == ()
        with pytest.raises(NotFound):
            store.get("a-fact")
        assert _put(store, _note("a-fact", "It is so again.")).outcome == "created"

    def test_a_name_that_is_not_there_is_not_found(self, store: Store) -> None:
        _put(store, _note("a-fact", "It is so."))
        before = _state(store)
        with pytest.raises(NotFound):
            store.get("no-such-note")
        with pytest.raises(NotFound):
            store.delete("no-such-note", call=AGENT, expect="")
        assert _state(store) == before

    def test_the_old_version_is_kept(self, store: Store) -> None:
        if not self.history:
            pytest.skip("this store keeps no history")
        first = _put(store, _note("a-fact", "One."))
        second = _put(store, _note("a-fact", "Two."), expect=first.note.stamp)
        third = store.delete("a-fact", call=AGENT, expect=second.note.stamp)
        assert first.kept == ""
        assert second.kept
        assert third.kept
        assert second.kept != third.kept

    def test_who_wrote_a_note_is_known(self, store: Store) -> None:
        _put(store, _note("a-fact", "It is so."), call=Call(origin="person"))
        assert store.get("a-fact").author() == "person"
        _put(store, _note("a-fact", "Or so."), expect=store.get("a-fact").note.stamp, call=Call(origin="extractor"))
        assert store.get("a-fact").author() == "extractor"

    def test_what_returned_is_there_for_whoever_opens_it_next(self, store: Store) -> None:
        if not self.durable:
            pytest.skip("this store does not outlive the object")
        kept = _put(store, WHOLE).note
        gone = _put(store, _note("a-fact", "It is so.")).note
        store.delete("a-fact", call=AGENT, expect=gone.stamp)
        other = self.again(store)
        assert other.get(WHOLE.name).note == kept
        assert [seen.name for seen in other.scan().seen] == [WHOLE.name]

    # --- compare and swap ------------------------------------------------------------------------------------

    @pytest.mark.parametrize("expect", ["", "0" * 64, "not a stamp"])
    def test_a_put_that_expects_something_else_changes_nothing(self, store: Store, expect: str) -> None:
        old, told = _put(store, _note("a-fact", "It is so.")).note, list[Change]()
        before = _state(store)
        with pytest.raises(Changed) as refusal:
            _put(store, _note("a-fact", "It is otherwise."), expect=expect, then=_noting(told))
        assert (refusal.value.name, refusal.value.expected, refusal.value.found) == ("a-fact", expect, old.stamp)
        with pytest.raises(Changed):
            store.delete("a-fact", call=AGENT, expect=expect, then=_noting(told))
        assert _state(store) == before
        assert store.get("a-fact").note == old
        assert told == []

    def test_a_stamp_that_was_replaced_or_is_another_notes_does_not_count(self, store: Store) -> None:
        first = _put(store, _note("a-fact", "One.")).note
        _put(store, replace(first, body="Two."), expect=first.stamp)
        before = _state(store)
        with pytest.raises(Changed):
            _put(store, replace(first, body="Three."), expect=first.stamp)
        with pytest.raises(Changed):
            _put(store, _note("another", "One."), expect=first.stamp)
        assert _state(store) == before

    # --- scan and pulse --------------------------------------------------------------------------------------

    def test_a_scan_names_every_note_once_in_order(self, store: Store) -> None:
        names = ["m", "z-last", "a-first", "b2", "b-10", "größe", "笔记"]
        for name in names:
            _put(store, _note(name, f"About {name}."))
        assert [seen.name for seen in store.scan().seen] == sorted(names)
        assert all(store.get(seen.name).seen == seen for seen in store.scan().seen)

    def test_a_signature_changes_with_every_change_and_no_other(self, store: Store) -> None:
        other = _put(store, _note("another", "It stays.")).note
        stamp, signatures = "", list[object]()
        for body in ("One.", "Two.", "One.", "Six.", "One."):  # one length, and old texts come back
            known = store.scan()
            stamp = _put(store, _note("a-fact", body), expect=stamp).note.stamp
            told = store.scan(known.mark)  # which may leave out what is as it was then
            assert {*told.seen, *(known.seen if told.part else ())} >= {*store.scan().seen}
            signatures.append(_signature(store, "a-fact"))
            assert store.get("a-fact").seen.signature == signatures[-1]
        store.delete("a-fact", call=AGENT, expect=stamp)
        _put(store, _note("a-fact", "One."))
        signatures.append(_signature(store, "a-fact"))
        assert len(set(signatures)) == len(signatures)
        assert store.get("another").note == other

    def test_the_pulse_changes_with_every_change_and_no_other(self, store: Store) -> None:
        pulses = [store.pulse()]
        first = _put(store, _note("a-fact", "One.")).note
        pulses.append(store.pulse())
        second = _put(store, replace(first, body="Two."), expect=first.stamp).note
        pulses.append(store.pulse())
        _state(store)
        assert store.pulse() == pulses[-1]
        store.delete("a-fact", call=AGENT, expect=second.stamp)
        pulses.append(store.pulse())
        assert len(set(pulses)) == len(pulses)

    # --- what follows a change -------------------------------------------------------------------------------

    def test_then_is_told_of_each_change_once(self, store: Store) -> None:
        told = list[Change]()
        pulses = [(_put(store, _note("another", "It stays.")), store.pulse())[1]]
        first = _put(store, _note("a-fact", "One."), then=_noting(told))
        pulses.append(store.pulse())
        second = _put(store, _note("a-fact", "Two."), expect=first.note.stamp, then=_noting(told))
        pulses.append(store.pulse())
        third = store.delete("a-fact", call=AGENT, expect=second.note.stamp, then=_noting(told))
        assert [change.name for change in told] == ["a-fact"] * 3
        assert [change.found and change.found.note for change in told] == [first.note, second.note, None]
        assert [change.before for change in told] == pulses
        assert [w.warnings for w in (first, second, third)] == [("told 1",), ("told 2",), ("told 3",)]

    def test_then_is_told_once_the_change_can_be_read(self, store: Store) -> None:
        seen = list[object]()

        def then(change: Change) -> tuple[str, ...]:
            assert change.found is not None
            seen.append(store.get(change.name).note == change.found.note)
            seen.append(_signature(store, change.name) == change.found.seen.signature)
            seen.append(change.found.author())
            return (change.publish("an index\n"),)

        written = _put(store, _note("a-fact", "It is so."), then=then, call=Call(origin="person"))
        assert seen == [True, True, "person"]
        assert written.warnings == ("",)
        assert [s.name for s in store.scan().seen] == ["a-fact"]

    def test_other_writers_wait_while_then_is_told(self, store: Store) -> None:
        order = list[str]()

        def other() -> None:
            _put(store, _note("another", "It is so too."))
            order.append("other")

        def then(_: Change) -> tuple[str, ...]:
            waiting.start()
            waiting.join(_MOMENT)
            order.append("then")
            return ()

        waiting = Thread(target=other)
        _put(store, _note("a-fact", "It is so."), then=then)
        waiting.join(_PATIENCE)
        assert order == ["then", "other"]

    def test_readers_do_not_wait_for_a_writer(self, store: Store) -> None:
        if not self.free_readers:
            pytest.skip("readers of this store wait for a writer")
        old = _put(store, _note("a-fact", "One.")).note
        through = {name: Event() for name in ("get", "scan", "pulse")}

        def then(_: Change) -> tuple[str, ...]:
            for name, event in through.items():
                Thread(target=_read_and_tell, args=(store, name, event), daemon=True).start()
            return tuple(name for name, event in through.items() if not event.wait(_MOMENT))

        waited = _put(store, _note("a-fact", "Two."), expect=old.stamp, then=then).warnings
        assert waited == ()

    # --- hostile names ---------------------------------------------------------------------------------------

    @pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:24])
    def test_no_name_reaches_outside(self, store: Store, name: str) -> None:
        _put(store, _note("a-fact", "It is so."))
        before, around = _state(store), self.outside()
        with pytest.raises(CommonplaceError):
            _put(store, _note(name, "It is not so."))
        with pytest.raises(CommonplaceError):
            store.delete(name, call=AGENT, expect="")
        with pytest.raises(NotFound):
            store.get(name)
        assert _state(store) == before
        assert self.outside() == around

    # --- threads ---------------------------------------------------------------------------------------------

    def test_no_put_is_lost_among_threads(self, store: Store) -> None:
        def work(who: int) -> None:
            for turn in range(PUTS):
                _put(store, _note(f"fact-{who}-{turn}", f"Fact {turn} of {who}."))

        _at_once(work)
        names = {f"fact-{who}-{turn}" for who in range(THREADS) for turn in range(PUTS)}
        assert {seen.name for seen in store.scan().seen} == names
        assert all(store.get(name).note.body == "Fact {2} of {1}.".format(*name.split("-")) for name in names)

    def test_threads_that_compare_and_swap_lose_nothing_in_silence(self, store: Store) -> None:
        _put(store, _note("shared", ""))
        applied, refused = list[str](), list[str]()

        def work(who: int) -> None:
            for turn in range(PUTS):
                old = store.get("shared").note
                try:
                    _put(store, replace(old, body=f"{old.body}{who}:{turn}\n"), expect=old.stamp)
                except Changed:
                    refused.append(f"{who}:{turn}")
                else:
                    applied.append(f"{who}:{turn}")

        _at_once(work)
        assert len(applied) + len(refused) == THREADS * PUTS
        assert sorted(store.get("shared").note.body.split()) == sorted(applied)
        assert applied

    def test_a_reader_sees_the_old_note_or_the_new(self, store: Store) -> None:
        texts = ["One. " * 700, "Two. " * 300]
        stamp = _put(store, _note("a-fact", texts[0])).note.stamp
        done, seen = Event(), set[str]()

        def read() -> None:
            while not done.is_set():
                seen.add(store.get("a-fact").note.body)

        reader = Thread(target=read)
        reader.start()
        for turn in range(1, 2 * PUTS):
            stamp = _put(store, _note("a-fact", texts[turn % 2]), expect=stamp).note.stamp
        done.set()
        reader.join(_PATIENCE)
        assert seen
        assert seen <= set(texts)


def _note(name: str, body: str) -> Note:
    return Note(name=name, description="what the contract is tried on", body=body)


def _put(store: Store, note: Note, *, expect: str = "", then: Then | None = None, call: Call = AGENT) -> Written:
    return store.put(note, call=call, expect=expect, then=then)


def _noting(told: list[Change]) -> Then:
    def then(change: Change) -> tuple[str, ...]:
        told.append(change)
        return (f"told {len(told)}",)

    return then


def _state(store: Store) -> object:
    """All a store shows of itself: a change that did not happen leaves it as it was."""
    inventory = store.scan()
    return inventory, store.pulse(), [store.get(seen.name).note.source for seen in inventory.seen]


def _signature(store: Store, name: str) -> object:
    return next(seen.signature for seen in store.scan().seen if seen.name == name)


def _read_and_tell(store: Store, verb: str, through: Event) -> None:
    getattr(store, verb)(*(["a-fact"] if verb == "get" else []))
    through.set()


def _at_once(work: Callable[[int], None]) -> None:
    """Run the work in threads that all start together, and pass on what any of them raised."""
    start = Barrier(THREADS)

    def run(who: int) -> None:
        start.wait(_PATIENCE)
        work(who)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(run, range(THREADS), timeout=_PATIENCE))
