"""Rows of one key that a reader merges: what a format's merge is given, and what comes out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Record:
    """One stored row: the number of its file and its place there, its values by slot, and its system columns.

    `sequence` orders the records of one key, `kind` says what the record does: +I 0, -U 1, +U 2, -D 3.
    """

    file: int
    position: int
    values: tuple[Any, ...]
    sequence: int = 0
    kind: int = 0
    row_id: int | None = None
    updated: int | None = None
    level: int = 0

    @property
    def removes(self) -> bool:
        """Whether the record takes a row away."""
        return self.kind in (1, 3)


@dataclass(frozen=True, slots=True)
class Merged:
    """What a reader sees of the records of a key: the values, and the record that decided last.

    `unknown` are the numbers of values that cannot be worked out. A key whose row is gone has no values.
    """

    values: tuple[Any, ...] | None
    last: Record
    unknown: tuple[int, ...] = ()


class Merge(ABC):
    """How the records of one key are merged: `words` say how, `keys` are the names of the key columns."""

    words: str
    keys: tuple[str, ...]
    #: whether a merged row may hold values that no single record holds together
    is_combining: bool = False

    def sees(self, level: int | None, bucket: int | None) -> bool:
        """Whether a reader reads files of this level and bucket."""
        return True

    @abstractmethod
    def merge(self, records: Sequence[Record]) -> Merged:
        """The row of one key, of one record or more, in any order."""
