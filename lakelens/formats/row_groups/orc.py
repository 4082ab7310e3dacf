"""The stripes of an ORC file, with the proofs of their statistics and bloom filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.codecs.orc.bloom_filter import hash_value, read_bloom_filters
from lakelens.codecs.orc.statistics import OrcType, list_leaves, read_statistics
from lakelens.codecs.orc.tail import OrcTail
from lakelens.codecs.span.reader import in_file
from lakelens.errors import LakeError
from lakelens.formats.explain.stored import StoredOctets
from lakelens.formats.row_groups.columns import (
    FindColumn,
    TableColumn,
    make_ranges,
    promote_part,
    repeat_default,
)
from lakelens.formats.row_groups.values import StoredType, is_readable, restore
from lakelens.io.store import Store
from lakelens.model.predicate import Term
from lakelens.model.scan.row_groups import RowGroups
from lakelens.model.schema import DataType

if TYPE_CHECKING:
    from lakelens.model.scan.ranges import Ranges

_STORED = {
    "BOOLEAN": StoredType("boolean"),
    "BYTE": StoredType("integer", 8),
    "SHORT": StoredType("integer", 16),
    "INT": StoredType("integer", 32),
    "LONG": StoredType("integer", 64),
    "FLOAT": StoredType("float"),
    "DOUBLE": StoredType("double"),
    "STRING": StoredType("text"),
    "VARCHAR": StoredType("text"),
    "BINARY": StoredType("bytes"),
    "DATE": StoredType("date"),
    # nanoseconds, of which readers keep those digits that the column has: bounds stay bounds
    "TIMESTAMP": StoredType("timestamp", is_utc=False),
    "TIMESTAMP_INSTANT": StoredType("timestamp", is_utc=True),
}


def find_stored_type(leaf: OrcType) -> StoredType | None:
    """What a leaf of an ORC file stores; None for types without statistics that bound values.

    >>> find_stored_type(OrcType(("id",), 1, "LONG")).bits
    64
    """
    if leaf.kind == "DECIMAL":
        return StoredType("decimal", precision=leaf.precision, scale=leaf.scale)
    return _STORED.get(leaf.kind)


def open_tail(store: Store, path: str) -> OrcTail:
    """The tail of a stored ORC file. Raises `Missing`."""
    octets = StoredOctets(store, path, store.info(path).size)
    return OrcTail(octets, 0, len(octets))


class OrcStripes(RowGroups):
    """The stripes of one ORC file; `find` knows which of its leaves a column is, by number; `report` hears of damage."""

    noun = "stripe"

    def __init__(
        self,
        store: Store,
        path: str,
        tail: OrcTail,
        leaves: Sequence[OrcType],
        find: FindColumn,
        report: Callable[[LakeError], None],
    ) -> None:
        self.path = path
        self._store = store
        self._tail, self._leaves, self._find, self._report = tail, leaves, find, report
        stripes: list[Any] = tail.footer.get("stripes", [])
        lengths = ("indexLength", "dataLength", "footerLength")
        self.record_counts = tuple(stripe.get("numberOfRows", 0) for stripe in stripes)
        self.size_bytes = tuple(sum(stripe.get(name, 0) for name in lengths) for stripe in stripes)
        self.offsets = tuple(stripe.get("offset", 0) for stripe in stripes)

    @property
    def leaf_names(self) -> list[tuple[str, ...]]:
        """The names of the file's leaves, from the top down."""
        return [leaf.names for leaf in self._leaves]

    def ranges(self, column: str) -> Ranges | None:
        found = self._find(column)
        if found is None:
            return None
        if found.place is None:
            return repeat_default(found, self.record_counts)
        leaf = self._leaves[found.place]
        stored = find_stored_type(leaf)
        try:
            with in_file(self.path):
                parts = read_statistics(self._tail, leaf)
        except LakeError as error:
            self._report(error)
            return None
        if stored is not None and stored.family in ("date", "timestamp"):
            stored = replace(stored, is_hybrid=found.is_hybrid)
        return make_ranges(
            found.type, [promote_part(_anchor(part, found.type), stored, found.type) for part in parts]
        )

    def exclude(
        self, term: Term, among: Sequence[bool] | None = None
    ) -> Iterator[tuple[str, Sequence[bool]]]:
        found = self._find(term.column)
        if found is None or found.place is None or term.test not in ("=", "in"):
            return
        leaf = self._leaves[found.place]
        stored = find_stored_type(leaf)
        if stored is None or not is_readable(stored, found.type):
            return
        hashes = _hash_literals(term, stored, found, leaf.kind)
        if hashes is not None:
            wanted = [True] * self.count if among is None else list(among)
            mask = [asked and self._misses_all(i, leaf, hashes) for i, asked in enumerate(wanted)]
            # the blocks that were read are let go: there may be many files
            self._tail.data = StoredOctets(self._store, self.path, len(self._tail.data))
            yield "bloom", mask

    def _misses_all(self, number: int, leaf: OrcType, hashes: Sequence[int]) -> bool:
        """Whether every bloom filter of a stripe holds none of the literals; damage proves nothing and is reported."""
        try:
            with in_file(self.path):
                filters = read_bloom_filters(self._tail, number, leaf)
        except LakeError as error:
            self._report(error)
            return False
        return bool(filters) and not any(one.may_contain(hashed) for one in filters for hashed in hashes)


def _hash_literals(term: Term, stored: StoredType, column: TableColumn, kind: str) -> list[int] | None:
    """The hashes of the literals as a file would store them; None where that is not known of one."""
    hashes = []
    is_date = stored.family == "date"
    for literal in term.values:
        values = restore(literal, replace(stored, is_hybrid=column.is_hybrid and is_date), column.type)
        if values is None:
            return None
        found = [hash_value(value, kind) for value in values]
        if None in found:
            return None
        hashes += [hashed for hashed in found if hashed is not None]
    return hashes


def _anchor(part: Any, kind: DataType) -> Any:
    """The same statistics with timestamps as instants, where the column's are."""
    from datetime import UTC, datetime

    def anchor(value: Any) -> Any:
        return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value

    if kind.logical != "timestamptz":
        return part
    return replace(part, lower=anchor(part.lower), upper=anchor(part.upper))


def open_stripes(
    store: Store,
    path: str,
    make_find: Callable[[Sequence[OrcType]], FindColumn],
    report: Callable[[LakeError], None],
) -> OrcStripes:
    """The stripes of a stored ORC file. Raises `LakeError` for a tail that is damaged."""
    with in_file(path):
        tail = open_tail(store, path)
        leaves = list_leaves(tail)
        return OrcStripes(store, path, tail, leaves, make_find(leaves), report)
