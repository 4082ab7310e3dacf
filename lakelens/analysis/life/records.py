"""The stored rows that a predicate is about: each file is opened once, the predicate's columns first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.analysis.explain.conditions import list_columns
from lakelens.analysis.life.values import cast_stored, find_rows, list_values
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.check.ledger import MOST_FINDINGS
from lakelens.model.life.living import Living
from lakelens.model.life.merging import Record
from lakelens.model.stats import Condition, list_terms
from lakelens.progress import track

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.analysis.life.values import Slots
    from lakelens.model.datafile import DataFile
    from lakelens.model.life.stored_rows import StoredRows
    from lakelens.model.schema import Field
    from lakelens.model.table import Table

#: Rows that are kept at most: each is a tuple of Python values.
MOST_RECORDS = 100_000


@dataclass
class OpenedFile:
    """One data file that was opened: its number, itself, and the rows of it that fit."""

    number: int
    file: DataFile
    records: list[Record] = field(default_factory=list)


class Reader:
    """Reads rows of data files by a predicate over today's columns, as values of all columns that there were."""

    def __init__(self, table: Table, slots: Slots) -> None:
        self._table = table
        self._slots = slots
        self._ways = dict(_list_ways(table.schema.fields))
        self.unread: dict[str, LakeError] = {}  # files by path, with what keeps them from being read
        self.count = 0

    def read(
        self, files: Sequence[DataFile], condition: Condition, ids: Collection[int | None] | None = None
    ) -> list[OpenedFile]:
        """The rows that fit, file by file; those of files that cannot be read are `unread`. Raises `LakeError` for too many.

        With `ids` only rows of these row ids are kept.
        """
        import pyarrow as pa

        opened, storage = [], self._table.storage
        ahead = iter(files)
        if storage is not None:
            ahead = storage.follow(files, lambda file: (file.path, file.size_bytes), whole=True)
        for number, file in enumerate(track(ahead, "data files", len(files))):
            one = OpenedFile(number, file)
            try:
                one.records = list(self._read_file(number, file, condition, ids))
            except _TooMany:
                message = f"more than {MOST_RECORDS:,} stored rows fit"
                raise LakeError(message, path=file.path, hint="a narrower predicate") from None
            except LakeError as error:
                self._leave(file, error)
                continue
            except (pa.ArrowException, OverflowError) as error:  # values that pyarrow cannot compare, or hold
                self._leave(file, Corrupt(f"its rows cannot be compared: {error}", path=file.path))
                continue
            if one.records:
                opened.append(one)
        return opened

    def _leave(self, file: DataFile, error: LakeError) -> None:
        """Keep why a file is not read, here and among the findings of the table: rows of it may be what is asked for."""
        self.unread[file.path] = error
        if isinstance(error, Unsupported):  # no damage
            self._table.findings.add("warning", "unsupported", file.path, error.reason)
        elif len(self.unread) <= MOST_FINDINGS:
            self._table.findings.add_error(error, file.path)
        else:
            more = f"{len(self.unread) - MOST_FINDINGS:,} more data files cannot be read"
            self._table.findings.add("error", "unread", self._table.location, more, counts_on=True)

    def _read_file(
        self, number: int, file: DataFile, condition: Condition, ids: Collection[int | None] | None
    ) -> Iterator[Record]:
        stored = Living.of(self._table).open_rows(file)
        positions = (
            self._find_positions(file, stored, condition) if ids is None else _find_ids(file, stored, ids)
        )
        if not len(positions):
            return
        self.count += len(positions)
        if self.count > MOST_RECORDS:
            raise _TooMany
        columns = []
        for slot in self._slots.slots:
            place = stored.find((slot.field,))
            columns.append((place, stored.get_constant(slot.field) if place is None else None))
        system = {name: place for name in _SYSTEM if (place := stored.find_system(name)) is not None}
        places = [place for place, _ in columns if place is not None]
        taken = _take(stored, [*places, *system.values()], positions)
        values: list[list[Any]] = []
        rest = iter(taken)
        for (place, constant), slot in zip(columns, self._slots.slots, strict=True):
            if place is None:
                values.append([constant] * len(positions))
                continue
            kind = slot.field.type
            arrays = (cast_stored(array, kind, file.path) for array in next(rest))
            values.append([one for array in arrays for one in list_values(array, slot.field)])
        further = {name: [one for array in next(rest) for one in array.to_pylist()] for name in system}
        yield from _make_records(number, file, positions, values, further)

    def _find_positions(self, file: DataFile, stored: StoredRows, condition: Condition) -> Any:
        """The positions of the rows that fit."""
        import numpy as np

        names = list(dict.fromkeys(term.column for term in list_terms(condition)))
        places = {name: stored.find(self._ways[name]) for name in names}
        read = [name for name in names if places[name] is not None]
        found, start = [], 0
        pieces: Iterator[Sequence[pa.Array]] = (
            stored.read([places[name] for name in read]) if read else iter(())
        )
        if not read:  # the same for every row
            columns = {name: self._repeat(stored, name, 1) for name in names}
            fits = bool(find_rows(condition, columns, 1)[0])
            if fits and file.record_count is None:
                raise Unsupported(f"rows of a {file.file_format} file are not read", path=file.path)
            return np.arange((file.record_count or 0) if fits else 0)
        for arrays in pieces:
            count = len(arrays[0])
            columns = {
                name: cast_stored(array, self._ways[name][-1].type, file.path)
                for name, array in zip(read, arrays, strict=True)
            }
            columns |= {name: self._repeat(stored, name, count) for name in names if name not in columns}
            found.append(np.flatnonzero(find_rows(condition, columns, count)) + start)
            start += count
            if sum(map(len, found)) > MOST_RECORDS:
                raise _TooMany
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def _repeat(self, stored: StoredRows, name: str, count: int) -> pa.Array:
        import pyarrow as pa

        way = self._ways[name]
        kind: Any = arrow_type(way[-1].type)
        value = stored.get_constant(way[0]) if len(way) == 1 else None
        array = to_array([value], kind)
        array = getattr(array, "storage", array)
        return array.take(pa.array([0] * count, pa.int64()))


_SYSTEM = ("_row_id", "_last_updated_sequence_number", "_SEQUENCE_NUMBER", "_VALUE_KIND")


def _find_ids(file: DataFile, stored: StoredRows, ids: Collection[int | None]) -> Any:
    """The positions of the rows of some row ids: as stored, else counted on from the file's first one."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = np.array(sorted(one for one in ids if one is not None), np.int64)
    first, place = getattr(file, "first_row_id", None), stored.find_system("_row_id")
    own = np.zeros(0, np.int64)
    if first is not None:
        own = wanted[(wanted >= first) & (wanted < first + (file.record_count or 0))] - first
    if place is None:
        return own
    found, start = [], 0
    for (array,) in stored.read([place]):
        plain = array.cast(pa.int64())
        at = np.arange(start, start + len(plain))
        is_wanted = pc.is_in(plain, value_set=pa.array(wanted)).to_numpy(zero_copy_only=False)
        is_own = np.isin(at, own) & plain.is_null().to_numpy(zero_copy_only=False)
        found.append(at[is_wanted | is_own])
        start += len(plain)
    return np.concatenate(found) if found else np.zeros(0, np.int64)


class _TooMany(Exception):
    """More rows fit than are kept."""


def _take(stored: StoredRows, places: Sequence[Any], positions: Any) -> list[list[pa.Array]]:
    """The values of some columns at some positions, column by column in pieces."""
    import numpy as np
    import pyarrow as pa

    found: list[list[pa.Array]] = [[] for _ in places]
    start = 0
    for arrays in stored.read(places) if places else ():
        end = start + len(arrays[0])
        here = positions[np.searchsorted(positions, start) : np.searchsorted(positions, end)] - start
        if len(here):
            for part, array in zip(found, arrays, strict=True):
                part.append(array.take(pa.array(here)))
        start = end
        if start > positions[-1]:
            break
    return found


def _make_records(
    number: int,
    file: DataFile,
    positions: Any,
    values: Sequence[Sequence[Any]],
    further: Mapping[str, Sequence[Any]],
) -> Iterator[Record]:
    """Records of columns. A row id that is not stored follows from the file's first one and the position."""
    count = len(positions)
    nothing = [None] * count
    first = getattr(file, "first_row_id", None)
    ids, updated = further.get("_row_id", nothing), further.get("_last_updated_sequence_number", nothing)
    sequences, kinds = further.get("_SEQUENCE_NUMBER", nothing), further.get("_VALUE_KIND", nothing)
    for row, position in enumerate(positions.tolist()):
        row_id = ids[row] if ids[row] is not None else None if first is None else first + position
        yield Record(
            number,
            position,
            tuple(column[row] for column in values),
            sequences[row] or 0,
            kinds[row] or 0,
            row_id,
            (updated[row] if updated[row] is not None else file.sequence_number)
            if row_id is not None
            else None,
            file.level or 0,
        )


def _list_ways(fields: Sequence[Field]) -> Iterator[tuple[str, tuple[Field, ...]]]:
    """The columns that a predicate can name, each with the fields that lead to it."""
    known = dict(list_columns(fields))
    for name, field_ in known.items():
        parts = name.split(".")
        way = [
            known[".".join(parts[: end + 1])]
            for end in range(len(parts))
            if ".".join(parts[: end + 1]) in known
        ]
        yield name, tuple(way) if way[-1] is field_ else (field_,)
