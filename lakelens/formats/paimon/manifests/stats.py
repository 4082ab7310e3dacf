"""SimpleStats: smallest and largest values and null counts of some columns, as manifests keep them.

    _MIN_VALUES  bytes, a BinaryRow of the columns      _MAX_VALUES  the same      _NULL_COUNTS  array<long?>

Which columns: all of the schema that the file was written with, or those that `_WRITE_COLS` or `_VALUE_STATS_COLS` name, in
that order. Rows of no fields mean that there are no statistics. Texts and bytes are usually cut
to 16 (`metadata.stats-mode`). See "Manifest" of the Paimon table specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakelens.codecs.paimon.row import BinaryRow
from lakelens.codecs.paimon.types import PaimonField
from lakelens.formats.paimon.manifests.rows import StoredRow, decode_row
from lakelens.model.explainable import Source
from lakelens.model.stats import RowStats

_NO_FIELDS = 12  # bytes of a serialized row of arity 0


@dataclass(frozen=True, slots=True, repr=False)
class SimpleStats(RowStats):
    """Decoded statistics: `names` of the columns, `min_values` and `max_values` as rows, `null_counts` in the same order.

    All are empty where nothing was kept; a null count is None when it is unknown.
    """

    names: tuple[str, ...]
    min_values: BinaryRow
    max_values: BinaryRow
    null_counts: tuple[int | None, ...]
    columns: tuple[PaimonField, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False)
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<SimpleStats min {self.min_values} max {self.max_values} nulls {list(self.null_counts)}>"


EMPTY_STATS = SimpleStats((), BinaryRow((), ()), BinaryRow((), ()), ())


def decode_stats(
    raw: Mapping[str, Any] | None,
    columns: Sequence[PaimonField],
    path: str,
    label: str = "",
    rows: Source | None = None,
    source: Source | None = None,
) -> SimpleStats:
    """Statistics of the given columns. Raises `Corrupt` naming the file and the byte of the row.

    `label` names the field that holds them; `rows` and `source` find the bytes of the rows, and of both together.

    >>> row = bytes.fromhex("0000000100000000000000000100000000000000")
    >>> raw = {"_MIN_VALUES": row, "_MAX_VALUES": row, "_NULL_COUNTS": [0]}
    >>> from lakelens.codecs.paimon.types import PaimonType
    >>> decode_stats(raw, [PaimonField(0, "id", PaimonType("INT"))], "manifest-1")
    <SimpleStats min {id: 1} max {id: 1} nulls [0]>
    """
    if not raw:
        return EMPTY_STATS
    counts = tuple(raw.get("_NULL_COUNTS") or ())
    lowest, highest = raw.get("_MIN_VALUES"), raw.get("_MAX_VALUES")
    lower, upper = f"{label}._MIN_VALUES", f"{label}._MAX_VALUES"
    if lowest is None or highest is None or (_is_empty(lowest) and columns):
        low, high = _make_empty(lowest, lower, rows), _make_empty(highest, upper, rows)
        return SimpleStats((), low, high, counts, (), raw, _source=source)
    low, high = (
        decode_row(lowest, columns, path, lower, rows),
        decode_row(highest, columns, path, upper, rows),
    )
    counts = (*counts, *(None for _ in columns))[: len(columns)]
    names = tuple(c.name for c in columns)
    return SimpleStats(names, low, high, counts, tuple(columns), raw, _source=source)


def _make_empty(stored: bytes | None, label: str, source: Source | None) -> StoredRow:
    """What stands for no statistics: a row of no fields, whatever is stored."""
    return StoredRow(BinaryRow((), ()), stored or b"", (), label, None if stored is None else source)


def _is_empty(data: bytes) -> bool:
    return len(data) <= _NO_FIELDS and data[:4] in (b"", b"\x00\x00\x00\x00")
