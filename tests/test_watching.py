"""A process that watches looks at no file while nothing changes, and sees every change all the same."""

import time

import pytest

from commonplace import open_memory
from commonplace.store.disk import Disk

watchfiles = pytest.importorskip("watchfiles", reason="the extra `watch` is not installed")


class Counting(Disk):
    """Counts the files that are looked at."""

    def __init__(self):
        self.stats = 0

    def stat(self, name, at):
        self.stats += name.endswith(".md")
        return super().stat(name, at)


@pytest.fixture
def watched(book):
    open_memory(book).save("The zeppelin flies at noon.", name="first")
    disk = Counting()
    with open_memory(book, watch=True, disk=disk) as memory:
        yield memory, disk


def settled(memory, disk):
    """Wait until a recall looks at no file but what it shows."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        before = disk.stats
        memory.recall("nothing there is")
        if disk.stats == before:
            return
        time.sleep(0.05)
    raise AssertionError("it never came to rest")


def seen(memory, query, name):
    until = time.monotonic() + 10
    while name not in {hit.name for hit in memory.recall(query)}:
        assert time.monotonic() < until, f"{name} was never seen"
        time.sleep(0.02)


def test_while_nothing_changes_no_file_is_looked_at(watched):
    memory, disk = watched
    settled(memory, disk)
    before = disk.stats
    for _ in range(20):
        assert not memory.recall("quokka")
    assert disk.stats == before


def test_a_write_by_another_is_seen_at_once(watched, book):
    memory, disk = watched
    settled(memory, disk)
    other = open_memory(book)
    for number in range(10):
        other.save(f"Quokka number {number} sleeps.", name=f"q{number}")
        assert f"q{number}" in {hit.name for hit in memory.recall(f"quokka {number}", limit=50)}


def test_an_edit_in_place_is_seen_when_the_system_tells_of_it(watched, book):
    memory, disk = watched
    settled(memory, disk)
    with open(book / "first.md", "r+", encoding="utf-8") as file:
        text = file.read()
        file.seek(0)
        file.write(text.replace("zeppelin flies", "quokkas sleep"))
        file.truncate()
    seen(memory, "quokkas", "first")


def test_a_notebook_that_is_made_later_is_watched_from_then_on(book):
    disk = Counting()
    with open_memory(book, watch=True, disk=disk) as memory:
        assert not memory.recall("zeppelin")
        open_memory(book).save("The zeppelin flies.", name="late")
        assert [hit.name for hit in memory.recall("zeppelin")] == ["late"]
        settled(memory, disk)
