"""Open tables, kept while they are looked at, and opened again once their newest state is another one."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, TypeVar

from lakelens.model.table import Table
from lakelens.model.warehouse.catalog import FoundTable
from lakelens.threads import start_pool

T = TypeVar("T")
MOST_OPEN = 32
_READERS = 8
# a look that takes a second is not taken again before ten have gone by, nor ever later than that; a quick one always is
_QUICK, _PATIENCE, _MOST_PATIENCE = 0.005, 10, 10.0
#: Seconds after which the files of a table that keeps no snapshots are listed again.
LISTED_FOR = 5.0


class OpenTable:
    """An open table, with what pages keep of it: gone with it as soon as it has another newest state."""

    def __init__(self, found: FoundTable) -> None:
        self.found = found
        started = time.time()
        self.table: Table = found.open()
        _ = self.table.refs  # documents of their own in some formats: their directories are looked at too
        #: What opening it read; what it has read so far depends on who asked for what.
        self.reads = self.table.reads
        self._stamp = found.stamp(self.reads.paths, started)
        self._opened = self._looked = time.monotonic()
        self._patience = 0.0
        self._kept: dict[Any, Any] = {}
        self._locks: dict[Any, Lock] = {}
        self._lock = Lock()

    def is_fresh(self) -> bool:
        """Check whether the table still is what it was when it was opened, as far as a look at its directories says."""
        now = time.monotonic()
        if not self.table.traits.has_snapshots and now - self._opened > LISTED_FOR:
            return False
        if now - self._looked < self._patience:
            return True
        is_same = self.found.stamp(self.reads.paths) == self._stamp
        self._looked = time.monotonic()
        took = self._looked - now
        self._patience = min(_PATIENCE * took, _MOST_PATIENCE) if took > _QUICK else 0.0
        return is_same

    def keep(self, key: Any, make: Callable[[], T]) -> T:
        """Keep what is made once while the table is open, a source of rows or an answer; others who ask for it wait."""
        with self._lock:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self._kept:
                self._kept[key] = make()
            kept: T = self._kept[key]
            return kept


class _Slot:
    """The place of one table: who asks for it while it is being opened waits, and nobody else does."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.opened: OpenTable | None = None


class Shelf:
    """As many open tables as were looked at last. Any number of threads may ask."""

    def __init__(self, most: int = MOST_OPEN) -> None:
        self._most = most
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._lock = Lock()

    def open(self, found: FoundTable) -> OpenTable:
        """Give the table, open and fresh. Raises `LakeError` where it cannot be opened; it is tried again each time."""
        with self._lock:
            slot = self._slots.setdefault(found.path, _Slot())
            self._slots.move_to_end(found.path)
            while len(self._slots) > self._most:
                self._slots.popitem(last=False)
        with slot.lock:
            if slot.opened is None or not slot.opened.is_fresh():
                slot.opened = None
                slot.opened = OpenTable(found)
            return slot.opened

    def drop(self, found: FoundTable) -> None:
        """Forget a table, which is opened again when it is asked for."""
        with self._lock:
            self._slots.pop(found.path, None)

    def __len__(self) -> int:
        return len(self._slots)


class Outlines:
    """What each table of a warehouse is today, looked at again once its newest state is another one."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[FoundTable, object]] = {}
        self._lock = Lock()

    def read(self, tables: Sequence[FoundTable]) -> list[FoundTable]:
        """The tables, each outlined; only those that changed since they were outlined last are opened, several at once."""
        with start_pool(_READERS, "outlines") as pool:
            return list(pool.map(self._read, tables))

    def _read(self, found: FoundTable) -> FoundTable:
        kept, stamp = self._known.get(found.path, (None, None))
        if kept is not None and kept.format == found.format and kept.stamp(_list_read(kept)) == stamp:
            return kept
        fresh, started = found.again(), time.time()
        stamp = fresh.stamp(_list_read(fresh), started)
        with self._lock:
            self._known[found.path] = fresh, stamp
        return fresh


def _list_read(found: FoundTable) -> tuple[str, ...]:
    """List the documents that were read for an outline, which opens the table."""
    outline = found.outline
    if outline.reads is not None:
        return outline.reads.paths
    return (outline.error.path,) if outline.error is not None and outline.error.path else ()
