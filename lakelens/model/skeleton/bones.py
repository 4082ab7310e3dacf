"""The documents of a skeleton before they are written: what a format makes of its table, and what can be cut from it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Protocol


class Bones(Protocol):
    """A redacted table as plain documents. Nothing in it names a place: that is filled in when it is written."""

    def encode(self, location: str) -> Iterator[tuple[str, bytes]]:
        """Each file of the skeleton: its path below the table's directory, and its bytes, if the table is at `location`."""
        ...

    def list_parts(self, kind: str) -> list[str]:
        """What of a kind could be left out: a key for each part."""
        ...

    def leave_out(self, kind: str, keys: Collection[str]) -> Bones:
        """The same without some parts; what only they referred to is left out too."""
        ...

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of parts, those first of which much hangs."""
        ...
