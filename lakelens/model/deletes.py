"""Deletes made visible: what deletes rows of a data file, which rows, and how many are left.

One vocabulary for every format. Metadata is asked first: positions, deleted values and comparisons are read only when they
are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from lakelens.caching import cached_property
from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import Explainable
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact
from lakelens.model.facts.traits import Figures

if TYPE_CHECKING:
    from lakelens.bitmaps import FrozenBitMap64
    from lakelens.model.bytes_view import BytesView
    from lakelens.model.datafile import DataFile, IndexFile
    from lakelens.model.life.positions import Positions
    from lakelens.model.snapshot import Snapshot

DeleteKind = Literal["position_deletes", "equality_deletes", "deletion_vector"]
Rows = Sequence[tuple[Any, ...]]
_MOST_READ = 1_000_000  # rows that are decoded without being asked for


class DeleteMatch(Explainable, Displayable):
    """One delete file or deletion vector that reaches a data file: `file`, `kind`, the `rule` in words, the rows.

    `data_file` is the data file as the metadata names it. `cardinality` is how many rows are deleted as recorded (None
    where the file must be read), `at_most` a bound that needs no reading. `offset` and `length` are those of a deletion
    vector in its file. `equality_ids` and `columns` are what an equality delete compares, under today's names.
    """

    def __init__(
        self,
        file: DataFile | IndexFile,
        rule: str,
        kind: DeleteKind,
        data_file: str,
        load_positions: Callable[[], FrozenBitMap64],
        *,
        cardinality: int | None = None,
        at_most: int | None = None,
        offset: int | None = None,
        length: int | None = None,
        equality_ids: Sequence[int] = (),
        columns: Sequence[str] = (),
        load_values: Callable[[], Rows] | None = None,
    ) -> None:
        self.file = file
        self.rule = rule
        self.kind = kind
        self.data_file = data_file
        self.cardinality = cardinality
        self.at_most = cardinality if cardinality is not None else at_most
        self.offset = offset
        self.length = length
        self.equality_ids = tuple(equality_ids)
        self.columns = tuple(columns)
        self._load_positions = load_positions
        self._load_values = load_values

    @cached_property
    def positions(self) -> Positions:
        """The rows of the data file that this deletes: positions from 0, a `pyroaring.FrozenBitMap64` with a view.

        It has `len()`, `in`, iteration in order, set operations and `to_array()`; each position counts once. Of an
        equality delete the rows of the data file are compared with its values. Positions past the end of the data file
        stay in it, as they are stored. Raises `LakeError` when what must be read cannot be.
        """
        from lakelens.model.life.positions import Positions

        return Positions(self._load_positions())

    @cached_property
    def values(self) -> Rows:
        """The values that an equality delete removes, a tuple for each of its rows in the order of `columns`; else empty.

        Raises `LakeError` when the delete file cannot be read.
        """
        return () if self._load_values is None else self._load_values()

    def is_cheap(self) -> bool:
        """Whether a look at the delete alone gives its rows: not where it deletes by value, nor a great number of rows."""
        recorded = getattr(self.file, "record_count", None) if self.cardinality is None else self.cardinality
        return self.kind != "equality_deletes" and recorded is not None and recorded <= _MOST_READ

    def bytes_view(self) -> BytesView:
        """The bytes of what deletes, each with its name: the vector in its file, or the delete file. Raises `Missing`."""
        # an index file has the vectors of many data files
        find_vector = getattr(self.file, "vector_view", None)
        if find_vector is None or self.kind != "deletion_vector":
            return self.file.bytes_view()
        vector: BytesView = find_vector(self.data_file)
        return vector

    def __repr__(self) -> str:
        name = self.file.path.rsplit("/", 1)[-1]
        return f"<DeleteMatch {self.kind} {name} reaches {self.data_file.rsplit('/', 1)[-1]}>"


class DeleteMatches(Items[DeleteMatch]):
    """The delete files and deletion vectors that reach one data file."""

    __slots__ = ()
    facts = (
        Fact("kind"),
        Fact("path", "string", lambda match: match.file.path),
        Fact("data_file"),
        Fact("rule"),
        Fact("cardinality", "int64"),
        Fact("at_most", "int64"),
        Fact("offset", "int64"),
        Fact("length", "int64"),
        Fact("columns", "strings", lambda match: match.columns),
    )


@dataclass(frozen=True, slots=True, repr=False)
class DanglingDelete(Displayable):
    """A delete file or vector that deletes nothing, or names files that are not live: `file` and the `reason` in words.

    `record_count` is how many deletes it records. `data_files` are the files that it names which are not live; `is_partial`
    says that the rest of it still reaches live files.
    """

    file: DataFile | IndexFile
    reason: str
    record_count: int | None = None
    data_files: tuple[str, ...] = ()
    is_partial: bool = False

    def __repr__(self) -> str:
        return f"<DanglingDelete {self.file.path.rsplit('/', 1)[-1]}: {self.reason}>"


class DanglingDeletes(Items[DanglingDelete]):
    """The deletes of a snapshot that reach no live file."""

    __slots__ = ()
    facts = (
        Fact("path", "string", lambda dangling: dangling.file.path),
        Fact("reason"),
        Fact("record_count", "int64"),
        Fact("data_files", "strings", lambda dangling: dangling.data_files),
        Fact("is_partial", "bool"),
    )


@dataclass(frozen=True, slots=True, repr=False)
class LiveRows(Displayable):
    """How many rows are left: `count` is exact, None where it is unknown, and `reason` says how it is known or why not.

    `recorded` is the number of rows of the data files, deleted ones included. `at_least` and `at_most` follow from the
    metadata alone. `delete_files_read` and `data_files_read` say how many files were decoded to count. `deleted` are the
    rows that deletes take away, where they are known exactly; `waiting` those that readers leave out until a compaction.
    """

    count: int | None
    reason: str
    recorded: int | None
    at_least: int | None
    at_most: int | None
    delete_files_read: int = 0
    data_files_read: int = 0
    deleted: int | None = None
    waiting: int = 0

    def __repr__(self) -> str:
        return f"<LiveRows {'unknown' if self.count is None else self.count} of {self.recorded}>"


class Vectors(Mapping[str, "Positions"]):
    """The deleted rows (counted from 0) by data file, as the metadata names it. `read` reads one vector at a time.

    Looking one up raises `LakeError` for a vector that is damaged or gone, `KeyError` for a data file that has none.

    >>> from pyroaring import FrozenBitMap64
    >>> vectors = Vectors(["a.orc"], lambda name: FrozenBitMap64([0, 5]))
    >>> vectors, list(vectors["a.orc"])
    (<Vectors of 1 data file>, [0, 5])
    """

    def __init__(self, names: Iterable[str], read: Callable[[str], FrozenBitMap64]) -> None:
        self._names = dict.fromkeys(names)
        self._read = read

    def __getitem__(self, data_file: str) -> Positions:

        from lakelens.model.life.positions import Positions

        if data_file not in self._names:
            raise KeyError(data_file)
        return Positions(self._read(data_file))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<Vectors of {_plural(len(self), 'data file')}>"


def unite_positions(
    matches: Iterable[DeleteMatch],
    record_count: int | None,
    note_beyond: Callable[[DeleteMatch, int], None] | None = None,
) -> Positions:
    """Unite the rows that any of the matches deletes; those past the end of a file of `record_count` rows are left out.

    `note_beyond` is called with each match that has such rows. Raises `LakeError` when a match cannot be read.

    >>> from pyroaring import FrozenBitMap64
    >>> match = DeleteMatch(None, "", "deletion_vector", "a", lambda: FrozenBitMap64([1, 4, 9]))
    >>> list(unite_positions([match, match], 5))
    [1, 4]
    """
    from lakelens.bitmaps import BitMap64
    from lakelens.model.life.positions import Positions

    sets = []
    for match in matches:
        sets.append(match.positions)
        last = match.positions.max() if len(match.positions) else -1
        if note_beyond is not None and record_count is not None and last >= record_count:
            note_beyond(match, last)
    if not sets:
        return Positions()
    united = sets[0] if len(sets) == 1 else Positions.union(*sets)
    if record_count is None or not len(united) or united.max() < record_count:
        return united
    rows = BitMap64()
    rows.add_range(0, max(0, record_count))
    return Positions(united & rows)


def find_cheap_positions(file: DataFile) -> Positions | None:
    """Find the deleted rows of a data file where they were read before, or are a vector or positions of no great number.

    None where a delete by value would have the file itself read. Raises `LakeError` when a delete cannot be read.
    """
    is_cheap = all("positions" in vars(match) or match.is_cheap() for match in file.deletes)
    return file.deleted_positions if is_cheap else None


def state_live_rows(snapshot: Snapshot) -> LiveRows:
    """Bound the live rows of a snapshot by its own totals alone."""
    return bound_live_rows(snapshot.figures)


def count_live_rows_of(snapshot: Snapshot, read: bool) -> LiveRows:
    """Count the live rows of a snapshot file by file."""
    return count_live_rows(snapshot.files, snapshot._note_unread, read=read)


def count_without_summary(figures: Figures, stated: Figures) -> LiveRows:
    """Count the live rows by figures that manifests add up to, of a snapshot whose summary says others, or none."""
    differs, adds_up = "the summary differs from the manifests", "its files add up to it"
    rows, why = figures.rows, adds_up if stated.rows is None and figures.rows is not None else differs
    if rows is None or figures.delete_files:
        return LiveRows(None, why, rows, None if rows is None else 0, rows)
    return LiveRows(rows, why, rows, rows, rows, deleted=0)


def needs_reading(matches: Sequence[DeleteMatch]) -> bool:
    """Check whether files must be read to count what these delete: not for a single vector with its cardinality."""
    return len(matches) > 1 or any(
        match.kind != "deletion_vector" or match.cardinality is None for match in matches
    )


def raise_error(error: LakeError, file: DataFile) -> None:
    """Hear of deletes that cannot be read by raising what is wrong."""
    raise error


def count_live_rows(
    files: Iterable[DataFile],
    report: Callable[[LakeError, DataFile], None] | None = None,
    *,
    read: bool = True,
) -> LiveRows:
    """The rows of data files without those that are deleted. Files that cannot be read go to `report`; then `count` is None.

    A deletion vector whose number of rows is recorded is trusted; everything else is decoded. Without `read`
    nothing is decoded: `count` is None where that would be needed, the bounds are known all the same.
    """
    tally = _Tally(read, report)
    for file in files:
        if file.content == "data":
            tally.add(file)
    return tally.conclude()


def count_recorded(rows: Iterable[int | None]) -> LiveRows:
    """Count the rows of data files of which nothing is deleted, by what is recorded of each.

    >>> count_recorded([2, 3]), count_recorded([2, None])
    (<LiveRows 5 of 5>, <LiveRows unknown of None>)
    """
    tally = _Tally(False, None)
    for recorded in rows:
        tally.add_rows(recorded)
    return tally.conclude()


def bound_live_rows(figures: Figures) -> LiveRows:
    """The live rows of a snapshot by its own totals alone: exact where nothing is deleted, else within bounds.

    Several deletes may name one row, and some may name none that is there: their number is the most that they delete. How
    many rows a deleted value reaches is not known at all.

    >>> bound_live_rows(Figures(rows=10)), bound_live_rows(Figures(rows=10, position_deletes=3)).at_least
    (<LiveRows 10 of 10>, 7)
    """
    rows, positions, values = figures.rows, figures.position_deletes or 0, figures.equality_deletes or 0
    if rows is None:
        return LiveRows(None, "the snapshot does not record its rows", None, None, None)
    if positions <= 0 and values <= 0:
        return LiveRows(rows, "nothing is deleted", rows, rows, rows, deleted=0)
    if values > 0:
        return LiveRows(None, f"{_plural(values, 'equality delete')}, known only by reading", rows, 0, rows)
    return LiveRows(
        None, f"at most {min(positions, rows):,} deleted by position", rows, max(rows - positions, 0), rows
    )


class _Tally:
    """Adds up data files; a figure that one file does not record is None for all."""

    def __init__(self, read: bool, report: Callable[[LakeError, DataFile], None] | None) -> None:
        self._read, self._report = read, report
        self._recorded: int | None = 0
        self._deleted: int | None = 0
        self._least = self._most = 0
        self._delete_files: dict[Any, None] = {}
        self._vectors = self._data_files = self._damaged = self._undecoded = 0

    def add(self, file: DataFile) -> None:
        """Take in one data file."""
        rows, matches = file.record_count, file.deletes
        self.add_rows(rows)
        if rows is None or self._recorded is None or not matches:
            return
        sure = [_clamp(match.cardinality, rows) for match in matches if match.cardinality is not None]
        bounds = [rows if match.at_most is None else _clamp(match.at_most, rows) for match in matches]
        self._least += max(sure, default=0)
        self._most += min(sum(bounds), rows)
        deleted = self._count(file, matches, sure)
        self._deleted = None if deleted is None or self._deleted is None else self._deleted + deleted

    def add_rows(self, rows: int | None) -> None:
        """Take in the recorded rows of a data file."""
        self._recorded = None if rows is None or self._recorded is None else self._recorded + rows

    def _count(self, file: DataFile, matches: Sequence[DeleteMatch], sure: Sequence[int]) -> int | None:
        if not needs_reading(matches):
            self._vectors += 1
            return sure[0]
        if not self._read:
            self._undecoded += 1
            return None
        for match in matches:
            self._delete_files[(match.file.recorded_path, match.offset)] = None
        self._data_files += any(match.kind == "equality_deletes" for match in matches)
        try:
            return len(file.deleted_positions)
        except LakeError as error:
            self._damaged += 1
            if self._report is not None:
                self._report(error, file)
            return None

    def conclude(self) -> LiveRows:
        """Say what the files add up to."""
        rows = self._recorded
        if rows is None:
            return LiveRows(None, "a data file does not record its rows", None, None, None)
        count = None if self._deleted is None else rows - self._deleted
        read = (len(self._delete_files), self._data_files)
        least, most = rows - self._most, rows - self._least
        return LiveRows(count, self._explain(), rows, least, most, *read, deleted=self._deleted)

    def _explain(self) -> str:
        if self._damaged:
            return f"the deletes of {_plural(self._damaged, 'data file')} cannot be read"
        if self._undecoded:
            return f"the deletes of {_plural(self._undecoded, 'data file')} were not decoded"
        if self._delete_files:
            data = f" and {_plural(self._data_files, 'data file')}" if self._data_files else ""
            return f"{_plural(len(self._delete_files), 'delete file')}{data} decoded"
        if self._vectors:
            return f"as recorded in the metadata of {_plural(self._vectors, 'deletion vector')}; none was decoded"
        return "nothing is deleted"


def _clamp(number: int, rows: int) -> int:
    return max(0, min(number, rows))


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
