"""What Paimon records of a file's rows beside statistics: keys and their order, sequence numbers, deletes among the rows.

See "Data File" of the Paimon specification: a file of a primary-key table has `_KEY_…`, `_SEQUENCE_NUMBER` and `_VALUE_KIND`
before its columns (without the keys in thin mode), is sorted by key, and its entry records the first and the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.model.check.ledger import Ledger, format_figure
from lakelens.model.check.row_checks import OrderCheck, RowCheck

if TYPE_CHECKING:
    import pyarrow as pa

_SEQUENCE, _KIND = "_SEQUENCE_NUMBER", "_VALUE_KIND"
_DELETES = (1, 3)  # -U and -D


def list_row_checks(file: PaimonDataFile) -> Iterator[RowCheck]:
    """The checks of a file of a table with a primary key; of another there are none."""
    columns = file.schema.key_columns
    if not columns or file.content != "data" or file.min_key is None:
        return
    names = [f"_KEY_{column.name}" for column in columns]
    if file.file_format == "avro":
        names = []  # Avro's rows come without their logical types
    if names:
        order = [(name, False, True) for name in names]
        yield OrderCheck(file.path, order, "the rows of the file are sorted", "error")
        yield KeyCheck(file, names)
    yield SequenceCheck(file, is_ordered_by_snapshot=file.context.is_on("sequence.snapshot-ordering"))


class SequenceCheck(RowCheck):
    """The least and greatest sequence number of the rows, and how many of them are deletes.

    With `is_ordered_by_snapshot` the commit gives the file numbers, and those of its rows do not count.
    """

    def __init__(self, file: PaimonDataFile, *, is_ordered_by_snapshot: bool = False) -> None:
        self._file = file
        self._is_ordered_by_snapshot = is_ordered_by_snapshot
        self._least: int | None = None
        self._most: int | None = None
        self._deletes = 0
        self._has_kinds = True

    def add(self, rows: pa.Table) -> None:
        """See `RowCheck.add`."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if _SEQUENCE in rows.column_names and rows.num_rows:
            ends = pc.min_max(rows[_SEQUENCE])
            low, high = ends["min"].as_py(), ends["max"].as_py()
            if low is not None:
                self._least = low if self._least is None else min(self._least, low)
                self._most = high if self._most is None else max(self._most, high)
        if _KIND in rows.column_names:
            kinds = rows[_KIND].cast(pa.int64())
            self._deletes += pc.sum(pc.is_in(kinds, value_set=pa.array(_DELETES, pa.int64()))).as_py() or 0
        else:
            self._has_kinds = False

    def finish(self, ledger: Ledger, snapshots: Sequence[int]) -> None:
        """See `RowCheck.finish`."""
        line, file = ledger.line("keys and sequence numbers", "entries", "rows"), self._file
        users = tuple(snapshots)
        low, high = file.min_sequence_number, file.max_sequence_number
        if None not in (self._least, self._most, low, high) and not self._is_ordered_by_snapshot:
            message = f"sequence numbers {low} to {high} recorded, rows have {self._least} to {self._most}"
            holds = low <= self._least and self._most <= high  # type: ignore[operator]
            line.require(holds, "sequence-range", file.path, message, users)
        if self._has_kinds:
            what = "rows that are deletes"
            line.compare(file.delete_row_count, self._deletes, "delete-rows", file.path, what, users, "error")


class KeyCheck(RowCheck):
    """The first and the last key of a file."""

    def __init__(self, file: PaimonDataFile, names: Sequence[str]) -> None:
        self._file, self._names = file, names
        self._first: list[Any] | None = None
        self._last: list[Any] | None = None

    def add(self, rows: pa.Table) -> None:
        """See `RowCheck.add`."""
        if rows.num_rows and all(name in rows.column_names for name in self._names):
            if self._first is None:
                self._first = [_read(rows[name][0]) for name in self._names]
            self._last = [_read(rows[name][rows.num_rows - 1]) for name in self._names]

    def finish(self, ledger: Ledger, snapshots: Sequence[int]) -> None:
        """See `RowCheck.finish`."""
        line, file = ledger.line("keys and sequence numbers", "entries", "rows"), self._file
        for label, key, found in (
            ("_MIN_KEY", file.min_key, self._first),
            ("_MAX_KEY", file.max_key, self._last),
        ):
            if key is None or found is None:
                continue
            for name, recorded, value in zip(self._names, key, found, strict=True):
                if value is None or type(recorded) is not type(value):
                    continue  # a type whose values Arrow reads in another form
                said = f"{format_figure(recorded)} recorded, the row has {format_figure(value)}"
                message = f"{label}, {name.removeprefix('_KEY_')}: {said}"
                line.require(recorded == value, "key-of-file", file.path, message, snapshots)


def _read(cell: Any) -> Any:
    try:
        return cell.as_py()
    except (ValueError, OverflowError):
        return None
