"""From the footer of a file to its row groups, whichever format of files it is."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.orc.footer import OrcTail
from lakelens.codecs.orc.statistics import OrcType, hash_value, list_leaves, read_bloom_filters
from lakelens.codecs.orc.statistics import read_statistics as read_stripe_statistics
from lakelens.codecs.parquet.footer import ParquetFooter
from lakelens.codecs.parquet.pages import is_dictionary_encoded, read_dictionary
from lakelens.codecs.parquet.statistics import decode_bloom_filter, iter_chunks, read_statistics
from lakelens.codecs.parquet.structure import SchemaLeaf
from lakelens.codecs.parquet.thrift_schema import UNITS, decode_statistic
from lakelens.codecs.part_statistics import PartStatistics
from lakelens.codecs.span.reader import in_file
from lakelens.errors import LakeError
from lakelens.formats.row_groups.values import (
    FindColumn,
    StoredType,
    TableColumn,
    is_readable,
    make_ranges,
    promote,
    promote_part,
    repeat_default,
    restore,
)
from lakelens.formats.stored import StoredOctets
from lakelens.io.store import Store
from lakelens.lazy import dataclass
from lakelens.model.datafile import Footer
from lakelens.model.scan.ranges import judge
from lakelens.model.scan.row_groups import RowGroups
from lakelens.model.schema import DataType
from lakelens.model.stats import Term

if TYPE_CHECKING:
    from lakelens.model.scan.ranges import Ranges


@dataclass(frozen=True, slots=True)
class FileLeaf:
    """One leaf column of a file: its names from the top down, its field id, and its place among the leaves."""

    names: tuple[str, ...]
    field_id: int | None
    place: int


def open_row_groups(
    store: Store,
    footer: Footer,
    make_find: Callable[[Sequence[FileLeaf]], FindColumn],
    report: Callable[[LakeError], None],
) -> RowGroups | None:
    """Open the row groups of a file by its footer; None for a file that has none.

    `make_find` is called with the leaves of the file, and gives what finds a column of the table among them; `report`
    hears of damage behind the footer. Raises `LakeError` for a footer that is damaged.
    """
    facts, path = footer.facts, footer.path or ""
    kind = getattr(facts, "format", None)
    if kind == "orc":

        def find_stripe_columns(leaves: Sequence[OrcType]) -> FindColumn:
            return make_find(
                [FileLeaf(leaf.names, leaf.field_id, place) for place, leaf in enumerate(leaves)]
            )

        return open_stripes(store, path, find_stripe_columns, report)
    if kind != "parquet":
        return None

    leaves = [
        FileLeaf(tuple(leaf.path.split(".")), leaf.field_id, place) for place, leaf in enumerate(facts.leaves)
    ]
    return ParquetRowGroups(store, path, facts, make_find(leaves), report)


# The stripes of an ORC file, with the proofs of their statistics and bloom filters.

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


def _find_orc_type(leaf: OrcType) -> StoredType | None:
    """Find what a leaf of an ORC file stores; None for types without statistics that bound values.

    >>> _find_orc_type(OrcType(("id",), 1, "LONG")).bits
    64
    """
    if leaf.kind == "DECIMAL":
        return StoredType("decimal", precision=leaf.precision, scale=leaf.scale)
    return _STORED.get(leaf.kind)


def open_tail(store: Store, path: str) -> OrcTail:
    """Open the tail of a stored ORC file. Raises `Missing`."""
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
        stored = _find_orc_type(leaf)
        try:
            with in_file(self.path):
                parts = read_stripe_statistics(self._tail, leaf)
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
        stored = _find_orc_type(leaf)
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
        """Check whether every bloom filter of a stripe holds none of the literals; damage proves nothing and is reported."""
        try:
            with in_file(self.path):
                filters = read_bloom_filters(self._tail, number, leaf)
        except LakeError as error:
            self._report(error)
            return False
        return bool(filters) and not any(one.may_contain(hashed) for one in filters for hashed in hashes)


def _hash_literals(term: Term, stored: StoredType, column: TableColumn, kind: str) -> list[int] | None:
    """Give the hashes of the literals as a file would store them; None where that is not known of one."""
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
    """Open the stripes of a stored ORC file. Raises `LakeError` for a tail that is damaged."""
    with in_file(path):
        tail = open_tail(store, path)
        leaves = list_leaves(tail)
        return OrcStripes(store, path, tail, leaves, make_find(leaves), report)


# The row groups of a Parquet file, with the proofs of its statistics, dictionaries and bloom filters.

_DIGITS = dict(zip(UNITS.values(), (3, 6, 9), strict=True))
_PLAIN_TYPES = {
    "BOOLEAN": StoredType("boolean"),
    "INT32": StoredType("integer", 32),
    "INT64": StoredType("integer", 64),
    "FLOAT": StoredType("float"),
    "DOUBLE": StoredType("double"),
    "BYTE_ARRAY": StoredType("bytes"),
    "FIXED_LEN_BYTE_ARRAY": StoredType("bytes"),
}
_FEW = 4
_NULL_TESTS = ("is null", "is not null")
_INTEGER = re.compile(r"Int\(bitWidth=(8|16|32|64), isSigned=(true|false)\)")
_DECIMAL = re.compile(r"Decimal\(precision=(\d{1,3}), scale=(\d{1,3})\)")
_TIME = re.compile(r"Time(?:stamp)?\(isAdjustedToUTC=(true|false), timeUnit=(\w+)\)")


def _find_parquet_type(leaf: SchemaLeaf) -> StoredType | None:
    """Find what a leaf of a Parquet file stores; None for types whose values or order are not known here.

    >>> found = _find_parquet_type(SchemaLeaf("id", "INT32", None, 1, 0, 0))
    >>> found.family, found.bits
    ('integer', 32)
    """
    logical, physical = leaf.logical_type or "", leaf.physical_type
    is_number = physical in ("INT32", "INT64")
    if matched := _INTEGER.fullmatch(logical):
        return StoredType("integer", int(matched[1]), matched[2] == "true") if is_number else None
    if matched := _DECIMAL.fullmatch(logical):
        return StoredType("decimal", precision=int(matched[1]), scale=int(matched[2]))
    if matched := _TIME.fullmatch(logical):
        digits = _DIGITS.get(matched[2])
        # a time in nanoseconds is cut to microseconds where it is decoded: it bounds nothing
        if not is_number or digits is None or (digits == 9 and not logical.startswith("Timestamp")):
            return None
        family: Any = "timestamp" if logical.startswith("Timestamp") else "time"
        return StoredType(family, digits=digits, is_utc=matched[1] == "true")
    if logical == "Date":
        return StoredType("date") if physical == "INT32" else None
    if logical in ("String", "Enum", "JSON"):
        return StoredType("text") if physical == "BYTE_ARRAY" else None
    if logical == "UUID":
        return StoredType("uuid") if leaf.width == 16 else None
    return None if logical else _PLAIN_TYPES.get(physical)


def encode_plain(value: Any, leaf: SchemaLeaf, stored: StoredType) -> bytes | None:
    """Encode a stored value as PLAIN bytes, a byte array without its length; None where several encodings are possible.

    >>> encode_plain(-2, SchemaLeaf("id", "INT32", None, 1, 0, 0), StoredType("integer", 32))
    b'\\xfe\\xff\\xff\\xff'
    """
    match leaf.physical_type:
        case "INT32" | "INT64":
            size = 4 if leaf.physical_type == "INT32" else 8
            return (int(value) & (1 << 8 * size) - 1).to_bytes(size, "little")
        case "FLOAT" | "DOUBLE":
            return struct.pack("<f" if leaf.physical_type == "FLOAT" else "<d", value)
        case "FIXED_LEN_BYTE_ARRAY" if stored.family == "decimal":
            return int(value).to_bytes(leaf.width, "big", signed=True)
        case "FIXED_LEN_BYTE_ARRAY" | "BYTE_ARRAY":
            return value if isinstance(value, bytes) else None  # decimals of any length have no one encoding
    return None


class ParquetRowGroups(RowGroups):
    """The row groups of one Parquet file; `find` knows which of its leaves a column is, `report` hears of damage."""

    noun = "row group"

    def __init__(
        self,
        store: Store,
        path: str,
        footer: ParquetFooter,
        find: FindColumn,
        report: Callable[[LakeError], None],
    ) -> None:
        self.path = path
        self._store, self._footer, self._find, self._report = store, footer, find, report
        groups = footer.row_groups
        self.record_counts = tuple(group.num_rows for group in groups)
        self.size_bytes = tuple(group.compressed_size for group in groups)
        self.offsets = tuple(group.start for group in groups)

    def ranges(self, column: str) -> Ranges | None:
        found = self._find(column)
        if found is None:
            return None
        if found.place is None:
            return repeat_default(found, self.record_counts)
        stored = self._find_stored(found)
        try:
            parts = read_statistics(self._footer, found.place)
        except LakeError as error:
            self._report(error)
            return None
        return make_ranges(found.type, [promote_part(part, stored, found.type) for part in parts])

    def exclude(
        self, term: Term, among: Sequence[bool] | None = None
    ) -> Iterator[tuple[str, Sequence[bool]]]:
        found = self._find(term.column)
        if found is None or found.place is None or not term.values:
            return
        if term.test in _NULL_TESTS or any(value != value for value in term.values):
            return
        leaf, stored = self._footer.leaves[found.place], self._find_stored(found)
        if stored is None or leaf.max_repetition_level or not is_readable(stored, found.type):
            return
        wanted = [True] * self.count if among is None else list(among)
        probes = _Probes(self, found, leaf, stored, term)
        excluded = [is_wanted and probes.ask_dictionary(i) for i, is_wanted in enumerate(wanted)]
        yield "dictionary", excluded
        if term.test in ("=", "in"):
            left = [a and not b for a, b in zip(wanted, excluded, strict=True)]
            yield "bloom", [is_wanted and probes.ask_bloom(i) for i, is_wanted in enumerate(left)]

    def _find_stored(self, column: TableColumn) -> StoredType | None:
        stored = _find_parquet_type(self._footer.leaves[column.place or 0])
        is_moment = stored is not None and stored.family in ("date", "timestamp")
        return replace(stored, is_hybrid=column.is_hybrid) if stored is not None and is_moment else stored

    @property
    def leaf_names(self) -> list[tuple[str, ...]]:
        """The names of the file's leaves, from the top down."""
        return [tuple(leaf.path.split(".")) for leaf in self._footer.leaves]

    def open(self) -> StoredOctets:
        """Open the bytes of the file, read where they are looked at; the blocks of them are kept as long as these are."""
        return StoredOctets(self._store, self.path, self._store.info(self.path).size)

    def read(self, start: int, length: int) -> bytes:
        """Read some bytes of the file."""
        return self._store.read_range(self.path, start, length)

    def attempt(self, ask: Callable[[], bool]) -> bool:
        """Say what a question answers; damage proves nothing and is reported."""
        try:
            with in_file(self.path):
                return ask()
        except LakeError as error:
            self._report(error)
            return False


class _Probes:
    """Asks the dictionaries and bloom filters of one column about one comparison."""

    def __init__(
        self, groups: ParquetRowGroups, column: TableColumn, leaf: SchemaLeaf, stored: StoredType, term: Term
    ) -> None:
        self.groups, self.leaf, self.stored = groups, leaf, stored
        self.term, self.kind, self.place = term, column.type, column.place or 0
        self.chunks = [chunk for chunk, _ in iter_chunks(groups._footer, self.place)]

    @cached_property
    def octets(self) -> StoredOctets:
        """The bytes of the file, for this one comparison."""
        return self.groups.open()

    def ask_dictionary(self, number: int) -> bool:
        """Check whether no value of a row group's dictionary fits, where the dictionary is all that its pages use."""
        return self.groups.attempt(lambda: self._ask_dictionary(number))

    def ask_bloom(self, number: int) -> bool:
        """Check whether a row group's bloom filter holds none of the literals."""
        return self.groups.attempt(lambda: self._ask_bloom(number))

    def _ask_dictionary(self, number: int) -> bool:
        if not is_dictionary_encoded(self.chunks[number]):
            return False
        chunk = self.groups._footer.row_groups[number].columns[self.place]
        octets, end = self.octets, chunk.start + chunk.compressed_size
        values = read_dictionary(octets, chunk.start, end, self.leaf, chunk.compression)
        parts = [self._describe_value(value) for value in values]
        if any(part.lower is None and not part.nans for part in parts):
            return False  # a value that is not understood may be the one
        verdict = judge(self.term, make_ranges(self.kind, parts))
        return bool(verdict.none.all())

    def _describe_value(self, plain: bytes) -> PartStatistics:
        """Describe one value of a dictionary, as a part of the file that holds nothing else."""
        value = decode_statistic(plain, self.leaf.physical_type, self.leaf.logical_type)
        if value is not None and value != value:
            return PartStatistics(None, None, 0, 1, 1)
        value = None if value is None else promote(value, self.stored, self.kind)
        return PartStatistics(value, value, 0, 1, 0)

    def _ask_bloom(self, number: int) -> bool:
        offset = self.chunks[number].optional("bloom_filter_offset")
        if not offset:
            return False
        encoded = self._encoded
        if encoded is None:
            return False
        octets = self.octets
        # one block each for few literals; for many of them the filter is read in larger pieces
        read = self.groups.read if len(encoded) <= _FEW else lambda start, size: octets[start : start + size]
        found = decode_bloom_filter(offset, len(octets), read)
        return not any(found.may_contain(plain) for plain in encoded)

    @cached_property
    def _encoded(self) -> list[bytes] | None:
        """The literals as the file would store them; None where that is not known of one."""
        encoded = []
        for literal in self.term.values:
            values = restore(literal, self.stored, self.kind)
            if values is None:
                return None
            for value in values:
                plain = encode_plain(value, self.leaf, self.stored)
                if plain is None:
                    return None
                encoded.append(plain)
        return encoded
