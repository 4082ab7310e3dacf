"""The storage tree: every object in a table's directory, with what it is for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


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
