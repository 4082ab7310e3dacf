"""Open tables, kept while they are looked at, and opened again once their newest state is another one."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

from lakelens.errors import LakeError
from lakelens.model.check.defect import DefectBook
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
        if all(found.path in self._known and not found.is_far for found in tables):
            # to look again at what is near takes no time that threads could share: they only wait for each other
            return [self._read(found) for found in tables]
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


#: What a table is searched by: what its newest metadata says, and what takes its manifests and footers.
KINDS, DEEP_KINDS = ("table", "column", "property"), ("writer", "known defect", "file")
#: Files of a table whose names are searched.
MOST_FILES = 100_000


class SearchIndex:
    """What tables say of themselves, one row each: the table, what it is, and the words; `words` are what is searched."""

    def __init__(self, tables: Sequence[tuple[str, _Says]]) -> None:
        self.tables = tables
        self.unread = sum(says.is_unread for _, says in tables)
        self.unlisted = sum(says.is_unlisted for _, says in tables)
        self.rows = [
            (name, kind, text) for name, says in tables for kind, text in (("table", name), *says.rows)
        ]
        self.words = [text.casefold() for _, _, text in self.rows]


class SearchIndexes:
    """What each table of a warehouse says of itself, read once for as long as its outline stays the same."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bool], tuple[FoundTable, _Says]] = {}
        self._index: SearchIndex | None = None
        self._lock = Lock()

    def read(
        self, tables: Sequence[FoundTable], name: Callable[[FoundTable], tuple[str, ...]], *, is_deep: bool
    ) -> SearchIndex:
        """Read what outlined tables say; `is_deep` reads manifests and footers. The same as before where nothing changed."""
        missing = [found for found in tables if self._find(found, is_deep) is None]
        with start_pool(_READERS, "search") as pool:
            for found, new in zip(
                missing, pool.map(lambda found: _ask(found, is_deep), missing), strict=True
            ):
                self._known[found.path, is_deep] = found, new
        listed = [
            ("/".join(name(found)), says)
            for found in tables
            if (says := self._find(found, is_deep)) is not None
        ]
        with self._lock:
            if self._index is None or self._index.tables != listed:
                self._index = SearchIndex(listed)
            return self._index

    def _find(self, found: FoundTable, is_deep: bool) -> _Says | None:
        known = self._known.get((found.path, is_deep))
        return known[1] if known is not None and known[0] is found else None


@dataclass(frozen=True, slots=True)
class _Says:
    """What one table says of itself; of one that `is_unread` only its name is known."""

    rows: tuple[tuple[str, str], ...]
    is_unread: bool = False
    is_unlisted: bool = False


def _ask(found: FoundTable, is_deep: bool) -> _Says:
    """Ask a table what it says of itself. Damage leaves out what it hides, and is no error of the search."""
    rows: list[tuple[str, str]] = []
    try:
        table = found.open()
        rows += [("column", path) for path, _ in table.schema.walk()]
        rows += [("property", f"{name}={value}") for name, value in table.properties.items()]
    except LakeError:
        return _Says(tuple(rows), is_unread=True)
    if not is_deep:
        return _Says(tuple(rows))
    is_unlisted = False
    try:
        book: DefectBook = table.driver.part("defects", DefectBook())
        writers = book.list_writers(table)
        rows += [("writer", str(writer)) for writer in writers]
        rows += [
            ("known defect", f"{rule.code}: {rule.title}; of {rule.writers}")
            for rule in book.rules
            if rule.products and rule.concerns(writers)
        ]
        is_unlisted = len(table.files) > MOST_FILES
        if not is_unlisted:
            rows += [("file", path.rpartition("/")[2]) for (path,) in table.files.pick("path")]
    except LakeError:
        return _Says(tuple(rows), is_unread=True)
    return _Says(tuple(rows), is_unlisted=is_unlisted)
