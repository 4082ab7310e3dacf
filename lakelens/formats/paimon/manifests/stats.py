"""Rows of manifests that know where they were read: keys, and the SimpleStats of some columns.

    _MIN_VALUES  bytes, a BinaryRow of the columns      _MAX_VALUES  the same      _NULL_COUNTS  array<long?>

Which columns: all of the schema that the file was written with, or those that `_WRITE_COLS` or `_VALUE_STATS_COLS` name, in
that order. Rows of no fields mean that there are no statistics. Texts and bytes are usually cut
to 16 (`metadata.stats-mode`). See "Manifest" of the Paimon table specification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.codecs.paimon.binary_row import BinaryRow, decode_binary_row, locate_field
from lakelens.codecs.paimon.types import PaimonField
from lakelens.errors import Corrupt, LakeError
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import Explainable, Source
from lakelens.model.stats import KeyRow, RowStats

if TYPE_CHECKING:
    from lakelens.model.charts import RowMap

# the fields of a manifest entry that hold statistics
VALUE_STATS = "_FILE._VALUE_STATS"
KEY_STATS = "_FILE._KEY_STATS"
_NO_FIELDS = 12  # bytes of a serialized row of arity 0


class StoredRow(Explainable, BinaryRow, KeyRow):
    """A row as a `BinaryRow`, equal to one of the same values; `bytes_view()` shows its bytes.

    `stored` are its bytes in the manifest, `columns` the fields it was decoded by, `label` the name of the field that
    holds it (`_FILE._MIN_KEY`).
    """

    __slots__ = ("_source", "columns", "label", "stored")
    __str__ = BinaryRow.__repr__

    def __init__(
        self,
        row: BinaryRow,
        stored: bytes,
        columns: Sequence[PaimonField] = (),
        label: str = "",
        source: Source | None = None,
    ) -> None:
        super().__init__(row.names, row.values, row.kind, row.data)
        self.stored = stored
        self.columns = columns
        self.label = label
        self._source = source

    def map(self) -> RowMap:
        """The bytes as a strip: arity, header, a box for each slot, and an arrow to what a slot refers to.

        >>> import lakelens as ll
        >>> ll.sample("paimon").files[0].min_key.map()
        <RowMap: 1 field, 20 bytes>
        """
        from lakelens.codecs.paimon.row_spans import explain_binary_row
        from lakelens.model.charts import RowMap

        data = self.data or self.stored
        return RowMap(self, explain_binary_row(data, fields=self.columns), data)

    def __reduce__(self) -> tuple[Any, ...]:
        plain = BinaryRow(self.names, self.values, self.kind, self.data)
        return StoredRow, (plain, self.stored, self.columns, self.label, self._source)


@dataclass(frozen=True, slots=True, repr=False)
class SimpleStats(RowStats):
    """Decoded statistics: `names` of the columns, `min_values` and `max_values` as rows, `null_counts` in the same order.

    All are empty where nothing was kept; a null count is None when it is unknown. `label` is the name of the field that
    holds them.
    """

    names: tuple[str, ...]
    min_values: BinaryRow
    max_values: BinaryRow
    null_counts: tuple[int | None, ...]
    columns: tuple[PaimonField, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False)
    label: str = field(default="", compare=False)
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<SimpleStats min {self.min_values} max {self.max_values} nulls {list(self.null_counts)}>"


EMPTY_STATS = SimpleStats((), BinaryRow((), ()), BinaryRow((), ()), ())


def decode_row(
    data: bytes, columns: Sequence[PaimonField], path: str, label: str = "", source: Source | None = None
) -> StoredRow:
    """Decode one row of a manifest; an error names the manifest. `label` and `source` are for its `bytes_view`.

    >>> from lakelens.codecs.paimon.types import PaimonType
    >>> columns = [PaimonField(0, "id", PaimonType("INT"))]
    >>> decode_row(bytes.fromhex("0000000100000000000000000100000000000000"), columns, "manifest-1")
    {id: 1}
    """
    try:
        return StoredRow(decode_binary_row(data, columns), data, columns, label, source)
    except LakeError as error:
        error.path = error.path or path
        raise


def decode_stats(
    raw: Mapping[str, Any] | None,
    columns: Sequence[PaimonField],
    path: str,
    label: str = "",
    source: Source | None = None,
) -> SimpleStats:
    """Decode statistics of the given columns. Raises `Corrupt` naming the file and the byte of the row.

    `label` names the field that holds them; `source` finds the bytes of the rows and of both together.

    >>> row = bytes.fromhex("0000000100000000000000000100000000000000")
    >>> raw = {"_MIN_VALUES": row, "_MAX_VALUES": row, "_NULL_COUNTS": [0]}
    >>> from lakelens.codecs.paimon.types import PaimonType
    >>> decode_stats(raw, [PaimonField(0, "id", PaimonType("INT"))], "manifest-1")
    <SimpleStats min {id: 1} max {id: 1} nulls [0]>
    """
    if not raw:
        return EMPTY_STATS
    if not isinstance(raw, Mapping):
        raise Corrupt(f"{label} is no record", path=path, expected="SimpleStats", seen=raw)
    counts = raw.get("_NULL_COUNTS") or ()
    if not isinstance(counts, list | tuple) or not all(isinstance(count, int | None) for count in counts):
        raise Corrupt(f"{label}._NULL_COUNTS is no list of counts", path=path, expected="long", seen=counts)
    stored = {
        f"{label}.{name}": check_row(raw.get(name), f"{label}.{name}", path)
        for name in ("_MIN_VALUES", "_MAX_VALUES")
    }
    lowest, highest = stored.values()
    is_empty = lowest is not None and len(lowest) <= _NO_FIELDS and lowest[:4] in (b"", bytes(4))
    if lowest is None or highest is None or (is_empty and columns):
        low, high = (
            StoredRow(BinaryRow((), ()), data or b"", (), name, None if data is None else source)
            for name, data in stored.items()
        )
        return SimpleStats((), low, high, (), (), raw, label, _source=source)
    low, high = (decode_row(data or b"", columns, path, name, source) for name, data in stored.items())
    counts = (*counts, *(None for _ in columns))[: len(columns)]
    names = tuple(c.name for c in columns)
    return SimpleStats(names, low, high, counts, tuple(columns), raw, label, _source=source)


def check_row(data: object, label: str, path: str) -> bytes | None:
    """Check the bytes of a row, None where there are none; the schema of a manifest may give its field another type.

    >>> check_row("text", "_FILE._MIN_KEY", "manifest-1")
    Traceback (most recent call last):
    lakelens.errors.Corrupt: manifest-1: _FILE._MIN_KEY is no row (expected bytes; seen text)
    """
    if data is None or isinstance(data, bytes):
        return data
    raise Corrupt(f"{label} is no row", path=path, expected="bytes", seen=data)


# Where a value stands in the bytes of a row: for citations of bounds and partitions.

#: The types of columns as answers name them, and how many bytes their values have; texts are where their slots say.
_KINDS = {
    "INT": "int32",
    "BIGINT": "int64",
    "DATE": "date",
    **dict.fromkeys(("CHAR", "VARCHAR", "STRING"), "string"),
}
_WIDTHS = {"int32": 4, "int64": 8, "date": 4, "string": None}


def number_stats(held: Mapping[str, Any]) -> int:
    """Number a column among those that a file has statistics of. Raises `KeyError`."""
    ids = {column.id: number for number, column in enumerate(held["thing"].value_stats.columns)}
    return ids[held["field_id"]]


def cut_bound(held: Mapping[str, Any]) -> Callable[[bytes], slice]:
    """Find the bytes of a column in a row of bounds, where the file has it in today's type. Raises `KeyError`."""
    number = number_stats(held)
    if _KINDS[held["thing"].value_stats.columns[number].type.name] != held["kind"]:
        raise KeyError(held["kind"])
    return partial(locate_field, number=number, width=_WIDTHS[held["kind"]])


def cut_partition(held: Mapping[str, Any]) -> Callable[[bytes], slice]:
    """Find the bytes of a column in the row of a partition. Raises `KeyError`."""
    names = {field.name: number for number, field in enumerate(held["table"].partitioning)}
    return partial(locate_field, number=names[held["name"]], width=_WIDTHS[held["kind"]])
