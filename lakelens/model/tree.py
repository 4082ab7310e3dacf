"""The storage tree: every object in a table's directory, with what it is for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from lakelens.display import Displayable


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One stored object: where it lies, below the table as `relative_path`, its size, and its `role` in words.

    `referenced_by` names who refers to it ("snapshot 3, delta manifest list"); empty when nobody was found to.
    """

    path: str
    relative_path: str
    size_bytes: int
    role: str
    referenced_by: tuple[str, ...] = ()
    modified: datetime | None = None


@dataclass(frozen=True, repr=False)
class StorageTree(Displayable):
    """Every object below a table's directory, in path order; `truncated` when the listing was cut at a limit."""

    root: str
    files: tuple[StoredFile, ...]
    truncated: bool = False

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[StoredFile]:
        return iter(self.files)

    def __repr__(self) -> str:
        return f"<StorageTree {len(self)} files, {sum(f.size_bytes for f in self.files)} bytes>"
