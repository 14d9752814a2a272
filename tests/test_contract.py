"""Every store we ship keeps the one contract."""

import pytest

from commonplace.store.base import Store
from commonplace.store.files import FileStore
from commonplace.store.ram import RamStore
from commonplace.testing.contract import StoreContract

PERSONS_FILES = {
    "MEMORY.md": b"# my own index\n",
    "README.md": b"about this folder\n",
    "CLAUDE.md": b"rules\n",
    "notes.txt": b"plain text\n",
    ".obsidian.json": b"{}",
    "bad.md~": b"left by an editor",
    "two (conflicted copy).md": b"from a sync tool",
    "utf16.bin": "text".encode("utf-16"),
    "drafts/an-idea.md": b"in a folder notes are not read from",
    "sessions/index.json": b"[]",
}


class TestRamStore(StoreContract):
    history = False
    durable = False

    def make(self) -> Store:
        return RamStore()


class TestFileStore(StoreContract):
    @pytest.fixture(autouse=True)
    def place(self, tmp_path):
        self.around = tmp_path
        self.path = tmp_path / "deep" / "notebook"
        (tmp_path / "x.md").write_bytes(b"outside")
        self.path.parent.mkdir()
        (self.path.parent / "x.md").write_bytes(b"outside too")

    def make(self) -> Store:
        return FileStore(str(self.path))

    def again(self, store: Store) -> Store:
        return FileStore(str(self.path))

    def outside(self) -> object:
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for path in self.around.rglob("*")
            if self.path not in path.parents and path != self.path
        }


class TestFileStoreAmongAPersonsFiles(TestFileStore):
    def make(self) -> Store:
        for name, data in PERSONS_FILES.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_bytes(data)
        return FileStore(str(self.path))

    def outside(self) -> object:
        return super().outside(), self._persons()

    def _persons(self) -> object:
        return {name: (self.path / name).read_bytes() for name in PERSONS_FILES}

    def test_a_persons_files_stay_as_they_are(self, store):
        before = self._persons()
        self.test_no_put_is_lost_among_threads(store)
        assert self._persons() == before
