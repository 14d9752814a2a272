"""Every exception Commonplace raises. It knows nothing of how they are shown.

    CommonplaceError
    ├── NoteError                the note itself is wrong
    │   ├── BadName              no file name can be made of it
    │   └── BadFormat            the file's bytes are not a note we can read
    ├── StoreError               the notebook could not do it; nothing was changed unless it says so
    │   ├── NotFound             no such note
    │   ├── Changed              the note is not what the caller had read
    │   ├── Obstructed           something that is not a plain file stands in the way
    │   ├── Busy                 another process kept the lock too long
    │   ├── ReadOnly             the notebook may not be written
    │   ├── DiskFull             no room left
    │   ├── DiskFailed           the disk refused for any other reason
    │   └── NewerFormat          a later Commonplace wrote this notebook
    ├── BadPath                  no notebook can be at the path that was given
    ├── EditorFailed             a person's editor could not be used; what they wrote is kept
    ├── MissingExtra             something that is installed on request is not installed
    ├── NoEncoder                texts cannot be compared by meaning; their words still find them
    │   └── BadWords             the table of word vectors is missing or damaged
    ├── NoTools                  this memory has no tools, or none in the shape that was asked for
    └── Unsupported              this system is not one we have proved it on

A message says what happened, where, and what to do next. What a caller can plan for (a conflict, a refusal)
is a value in `commonplace.outcomes`, not an exception.
"""

from __future__ import annotations


class CommonplaceError(Exception):
    """The root of the tree: catch this to catch everything we raise."""


class NoteError(CommonplaceError, ValueError):
    """The note itself is wrong."""


class BadName(NoteError):
    """No file name can be made of this name."""


class BadFormat(NoteError):
    """The file's bytes are not a note we can read; they are left as they are."""


class StoreError(CommonplaceError):
    """The notebook could not do what was asked."""


class NotFound(StoreError, KeyError):
    """No note has this name. `name` is what was asked for, where something was."""

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name

    __str__ = Exception.__str__  # KeyError would print the message in quotes


class Changed(StoreError):
    """The note is not what the caller had read. `expected` and `found` are stamps; '' is no note."""

    def __init__(self, name: str, expected: str, found: str) -> None:
        super().__init__(f"{name!r} changed since it was read; read it again, then save with expect=")
        self.name = name
        self.expected = expected
        self.found = found


class Obstructed(StoreError):
    """Something that is not a plain file stands where a note or a folder belongs."""


class Busy(StoreError):
    """Another process held the notebook's lock for longer than we wait."""


class ReadOnly(StoreError):
    """The notebook may not be written."""


class DiskFull(StoreError):
    """No room left on the disk, in the quota or in the inode table."""


class DiskFailed(StoreError):
    """The disk, or the system under it, refused."""


class NewerFormat(StoreError):
    """A later version of Commonplace wrote this notebook; it may be read, not written."""


class BadPath(CommonplaceError, ValueError):
    """No notebook can be at the path that was given."""


class EditorFailed(CommonplaceError):
    """A person's editor could not be started, or ended badly."""


class NoEncoder(CommonplaceError):
    """What texts are to be compared by is missing, refused, or answered what it should not; words still find them."""


class BadWords(NoEncoder):
    """The table of word vectors is missing or not what was shipped; recall by words alone still works."""

    def __init__(self, path: str, trouble: str) -> None:
        super().__init__(f"the table of word vectors {path} cannot be used: {trouble}; install commonplace again")
        self.path = path


class NoTools(CommonplaceError, ValueError):
    """This memory has no tools, or none in the shape that was asked for."""


class MissingExtra(CommonplaceError):
    """Something that is installed on request is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra; install it with: pip install 'commonplace[{extra}]'")


class Unsupported(CommonplaceError):
    """This system is not one Commonplace has been proved on."""

    def __init__(self) -> None:
        super().__init__("Commonplace runs on Linux and macOS; on Windows, use it inside WSL")
