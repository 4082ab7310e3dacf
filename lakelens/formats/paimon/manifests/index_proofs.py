"""What the file index of a data file proves: that no row of it fits a comparison.

The index is embedded in the manifest entry or in a `.index` file beside the data file; it is read once for each file. Its
columns have the names of the schema that the file was written with, its values the types of that schema: they are compared
as today's, where every reader takes them for the same values. An index that is damaged, or of other rows than the file's, is
a finding and proves nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.hashes import hash_number, hash_xx64
from lakelens.codecs.paimon.index.file_index_spans import FileIndex, explain_file_index
from lakelens.codecs.paimon.index.probes import (
    BloomFilter,
    Probe,
    SlicedValues,
    Values,
    read_probe,
)
from lakelens.codecs.paimon.types import PaimonField, PaimonType
from lakelens.codecs.part_statistics import PartStatistics
from lakelens.codecs.span.reader import in_file
from lakelens.codecs.span.span import Octets
from lakelens.codecs.temporal import date_from_days, time_from_millis, timestamp_from_micros
from lakelens.errors import Corrupt, LakeError
from lakelens.formats.row_groups.values import StoredType, is_readable, make_ranges, promote, restore
from lakelens.formats.stored import read_octets
from lakelens.model.scan.ranges import judge
from lakelens.model.stats import Term

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.datafile import PaimonDataFile

_INTEGERS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_PLAIN = {
    "BOOLEAN": StoredType("boolean"),
    "FLOAT": StoredType("float"),
    "DOUBLE": StoredType("double"),
    "DATE": StoredType("date"),
    "TIME": StoredType("time", digits=3),
    "VARCHAR": StoredType("text"),
    "VARBINARY": StoredType("bytes"),
}
_NULL_TESTS = ("is null", "is not null")


def find_stored_type(kind: PaimonType) -> StoredType | None:
    """Find what an index stores of a type; None for types whose values it does not keep exactly.

    >>> find_stored_type(PaimonType("INT")).bits, find_stored_type(PaimonType("TIMESTAMP", precision=9))
    (32, None)
    """
    if kind.name in _INTEGERS:
        return StoredType("integer", _INTEGERS[kind.name])
    if kind.name == "DECIMAL":
        return StoredType("decimal", precision=kind.precision or 0, scale=kind.scale or 0)
    precision = kind.precision or 0
    if kind.name in ("TIMESTAMP", "TIMESTAMP_LTZ") and precision <= 6:
        return StoredType("timestamp", digits=3 if precision <= 3 else 6, is_utc=kind.name == "TIMESTAMP_LTZ")
    return _PLAIN.get(kind.name)


class IndexProofs:
    """The file index of one data file, asked about comparisons."""

    def __init__(self, file: PaimonDataFile) -> None:
        self.file, self.context = file, file.context

    def find(self, term: Term) -> str | None:
        """Find the type of the first index that proves that no row fits; None where none does."""
        try:
            with in_file(self.path):
                for kind, probe, written in self.list_probes(term):
                    if proves_none(probe, term, written.type):
                        return kind
        except LakeError as error:
            self.context.findings.add_error(error, self.path)
        return None

    def list_probes(self, term: Term) -> Iterator[tuple[str, Probe, PaimonField]]:
        """The indexes over the column of a term, with their types and the column as it was written. Raises `LakeError`."""
        today = next((column for column in self.context.schema.columns if column.name == term.column), None)
        if today is None or not self.has_index:
            return
        written = next((column for column in self.file.schema.columns if column.id == today.id), None)
        stored = None if written is None else find_stored_type(written.type)
        if written is None or stored is None or not is_readable(stored, term.type):
            return
        if (today.type.length or 0) < (written.type.length or 0):
            return  # longer texts are cut when they are read: what is indexed is not what is compared
        for column in self.index.columns:
            for index in column.indexes if column.name == written.name else ():
                if index.start is None:
                    continue
                probe = read_probe(
                    self.octets, index.start, index.start + index.length, index.type, written.type
                )
                if probe is not None:
                    self.check_rows(probe, index.type, index.start)
                    yield index.type, probe, written

    def check_rows(self, probe: Probe, kind: str, start: int) -> None:
        """Raises `Corrupt` for an index over another number of rows than the file has."""
        if isinstance(probe, BloomFilter) or self.file.row_count in (None, probe.rows):
            return
        message = f"a {kind} index of other rows than those of {self.file.file_name}"
        raise Corrupt(message, offset=start, expected=self.file.row_count, seen=probe.rows)

    @property
    def has_index(self) -> bool:
        """Whether the manifest says that the file has an index."""
        return self.file.embedded_file_index is not None or self.name is not None

    @property
    def name(self) -> str | None:
        """The name of the index file beside the data file."""
        return next((name for name in self.file.extra_files if name.endswith(".index")), None)

    @property
    def path(self) -> str:
        """The file that the index is in: its own, or the manifest."""
        if self.file.embedded_file_index is not None or self.name is None:
            return str(self.file.source_manifest.path)
        return f"{self.file.path.rpartition('/')[0]}/{self.name}"

    @cached_property
    def octets(self) -> Octets:
        """The bytes of the index. Raises `Missing`."""
        embedded = self.file.embedded_file_index
        return embedded if embedded is not None else read_octets(self.context.store, self.path)

    @cached_property
    def index(self) -> FileIndex:
        """Which indexes there are, and where. Raises `LakeError`."""
        found: FileIndex = explain_file_index(self.octets).value
        return found


def proves_none(probe: Probe, term: Term, written: PaimonType) -> bool:
    """Check whether an index proves that no row fits a comparison; `written` is the type of its values."""
    stored = find_stored_type(written)
    if stored is None or any(value != value for value in term.values):
        return False
    if isinstance(probe, BloomFilter):
        return term.test in ("=", "in") and _misses_all(probe, term, stored)
    if term.test in _NULL_TESTS:
        has_values = len(probe) > 0 if isinstance(probe, SlicedValues) else bool(probe.values)
        return not (probe.has_null if term.test == "is null" else has_values)
    if isinstance(probe, SlicedValues):
        return _judge_slices(probe, term, written, stored)
    return _judge_values(probe, term, written, stored)


def _misses_all(probe: BloomFilter, term: Term, stored: StoredType) -> bool:
    """Check whether a bloom filter holds none of the literals."""
    for literal in term.values:
        values = restore(literal, stored, term.type)
        if values is None or any(probe.may_contain(hash_value(value, stored)) for value in values):
            return False
    return bool(term.values)


def hash_value(value: Any, stored: StoredType) -> int:
    """Give the hash of a stored value, as `FastHash` makes it.

    >>> hash_value(1, StoredType("integer", 32)) == hash_number(1)
    True
    """
    if isinstance(value, bytes):
        return hash_xx64(value)
    if stored.family == "float":
        return hash_number(struct.unpack(">i", struct.pack(">f", value))[0])
    if stored.family == "double":
        return hash_number(struct.unpack(">q", struct.pack(">d", value))[0])
    return hash_number(value)


def _judge_values(probe: Values, term: Term, written: PaimonType, stored: StoredType) -> bool:
    parts = []
    for raw in probe.values:
        value = decode_key(raw, written)
        if value is not None and value != value:
            parts.append(PartStatistics(None, None, 0, 1, 1))
            continue
        value = None if value is None else promote(value, stored, term.type)
        if value is None:
            return False  # a value that is not understood may be the one
        parts.append(PartStatistics(value, value, 0, 1, 0))
    return bool(judge(term, make_ranges(term.type, parts)).none.all())


def _judge_slices(probe: SlicedValues, term: Term, written: PaimonType, stored: StoredType) -> bool:
    """By the bounds of each sign, and where it is a question of single values by the rows that have them."""
    parts = []
    for part in probe.parts:
        bounds = [decode_key(bound, written) for bound in part.bounds]
        lower, upper = (None if bound is None else promote(bound, stored, term.type) for bound in bounds)
        if lower is None or upper is None:
            return False
        parts.append(PartStatistics(lower, upper, 0, len(part), 0))
    if bool(judge(term, make_ranges(term.type, parts)).none.all()):
        return True
    if term.test not in ("=", "in", "!=", "not in"):
        return False
    found = [restore(literal, stored, term.type) for literal in term.values]
    if any(values is None for values in found):
        return False
    wanted = {value for values in found for value in values or ()}
    rows = sum(
        part.count(value) for part in probe.parts for value in wanted if (value < 0) == (part.sign < 0)
    )
    return rows == (0 if term.test in ("=", "in") else len(probe))


def decode_key(raw: Any, written: PaimonType) -> Any:
    """Decode a value of an index as a value of the column's type; None for what is none.

    >>> decode_key(19723, PaimonType("DATE")), decode_key(150, PaimonType("DECIMAL", precision=9, scale=2))
    (datetime.date(2024, 1, 1), Decimal('1.50'))
    """
    match written.name:
        case "DATE":
            return date_from_days(raw)
        case "TIME":
            return time_from_millis(raw)
        case "DECIMAL":
            return Decimal(f"{raw}E{-(written.scale or 0)}")  # exact, whatever the context is
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            micros = raw * 1000 if (written.precision or 0) <= 3 else raw
            return timestamp_from_micros(micros, written.name == "TIMESTAMP_LTZ")
        case "VARCHAR":
            return raw if isinstance(raw, str) else None
    return raw
