"""Sets of files: the live files of a snapshot, what a diff added, what a filter leaves."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from copy import copy
from itertools import chain, islice
from random import Random
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from lakelens.caching import cached_property
from lakelens.display import Interactive
from lakelens.errors import visible
from lakelens.installed import has_arrays
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import Bound
from lakelens.model.collections import to_json
from lakelens.model.datafile import DataFile
from lakelens.model.scan.arrow_files import ArrowFiles, pick
from lakelens.model.schema import DataType

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.comparison import FileCounts
    from lakelens.model.scan.file_rows import FileRows
    from lakelens.model.scan.file_table import FileReader, FileTable
    from lakelens.model.scan.plan import FileBatch, FileScan, ScanRequest

Columns = tuple[tuple[str, DataType], ...]
#: The files of a set after they were read. Both have the same verbs, which `FileSet` leaves to them.
HeldFiles: TypeAlias = "FileList | FileRows"
_MANY = 10_000  # fewer are read sooner than one looks
_PEEKED = 64  # at the beginning of a set whose files were not read yet each is decoded alone


@dataclass(frozen=True)
class FileColumns:
    """Which columns a table's files have when they are shown as Arrow.

    `stats` are the leaf columns of today's schema by full name, `dropped` those of older schemas as `name#id` (shown only
    where a file still has bounds for them), `partition` the fields of every partitioning, `further` the format's own.
    """

    stats: Columns = ()
    dropped: Columns = ()
    partition: Columns = ()
    further: Columns = ()


class FileList:
    """Files that were decoded one by one, without numpy or Arrow; `FileRows`, with the same verbs, are those of columns."""

    def __init__(self, files: Iterable[DataFile], columns: Callable[[], FileColumns]) -> None:
        self._files: dict[Hashable, DataFile] = {file.identity: file for file in files}
        self._columns = columns

    def __len__(self) -> int:
        return len(self._files)

    def __iter__(self) -> Iterator[DataFile]:
        return iter(self._files.values())

    def __contains__(self, file: object) -> bool:
        return isinstance(file, DataFile) and file.identity in self._files

    @cached_property
    def _in_order(self) -> tuple[DataFile, ...]:
        return tuple(self)

    @property
    def record_count(self) -> int:
        """See `FileSet.record_count`."""
        return sum(file.record_count or 0 for file in self if file.content == "data")

    @property
    def size_bytes(self) -> int:
        """See `FileSet.size_bytes`."""
        return sum(file.own_size_bytes or 0 for file in self)

    def make(self, number: int) -> DataFile:
        """Give the file of a number. Raises IndexError."""
        return self._in_order[number]

    def find(self, name: str, path: str) -> DataFile | None:
        """Find the first file whose `path` or `recorded_path` is one."""
        return next((file for file in self if getattr(file, name) == path), None)

    def pick(self, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Pick the values of some columns, file by file."""
        return pick(iter(self), *names)

    def take(self, numbers: Sequence[int]) -> FileList:
        """Take the files of these numbers, in the order of the numbers."""
        return self._like(self._in_order[number] for number in numbers)

    def share(self, other: FileList) -> FileList:
        """The files that the others have too."""
        return self._like(file for file in self if file in other)

    def unite(self, other: FileList) -> FileList:
        """These files, then those of the others that are not among them."""
        return self._like(chain(self, other.leave_out(self)))

    def leave_out(self, other: FileList) -> FileList:
        """The files that the others do not have."""
        return self._like(file for file in self if file not in other)

    def _like(self, files: Iterable[DataFile]) -> FileList:
        return FileList(files, self._columns)

    def with_columns(self, columns: Callable[[], FileColumns]) -> FileList:
        """The same files with the columns of another set: those of the set that they were chosen from may be others."""
        again = copy(self)
        again._columns = columns
        return again

    def read(self, request: ScanRequest) -> Iterator[FileBatch]:
        """Read the files as one batch."""
        from lakelens.model.scan.files_to_arrow import batch_files

        return iter((batch_files(self._in_order, self._columns(), request),))

    def to_arrow(self, stats: bool, wanted: Sequence[str] | None) -> pa.Table:
        """See `FileSet.to_arrow`."""
        from lakelens.model.scan.files_to_arrow import build_table

        return build_table(self._in_order, self._columns(), stats=stats, wanted=wanted)

    def stream(self, size: int, stats: bool, wanted: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        """See `FileSet.batches`."""
        from lakelens.model.scan.files_to_arrow import iterate_tables

        return iterate_tables(self, self._columns(), size=size, stats=stats, wanted=wanted)

    def as_rows(self, other: FileRows) -> FileRows:
        """The files as rows, to be compared with others."""
        from lakelens.model.scan.file_rows import FewFiles, FileRows

        few = FewFiles(self._in_order, self._columns(), other.encode)
        return FileRows(((few, None),))


class FileSet(Bound, ArrowFiles, Interactive):
    """Files, each once by `DataFile.identity`, in a stable order. Read when first looked at.

    Few files are decoded one by one. Many are a table of columns, of which those are read that are asked for, and a file
    is made when it is looked at (see `lakelens.model.scan.file_table`). `load` decodes the files one by one, `reader`
    (None: a format without manifests) reads them by column.
    """

    def __init__(
        self,
        load: Callable[[], Iterable[DataFile]],
        columns: Callable[[], FileColumns],
        reader: Callable[[], FileReader] | None = None,
        choose: Callable[[], HeldFiles] | None = None,
    ) -> None:
        self._load = load
        self._load_columns = columns
        self._make_reader = reader
        self._choose = choose

    @cached_property
    def _held(self) -> HeldFiles:
        """The files as they were read."""
        if self._choose is None:
            return FileList(self._load(), self._describe_columns) if self.rows is None else self.rows
        held = self._choose()
        return held.with_columns(self._describe_columns) if isinstance(held, FileList) else held

    @property
    def _describe_columns(self) -> Callable[[], FileColumns]:
        # it does not hold this set: many files that nobody needs any more are not left to the garbage collector
        scan = self._scan
        return self._load_columns if scan is None else lambda: scan.columns

    @cached_property
    def columns(self) -> FileColumns:
        """The columns that `to_arrow` gives beyond the common ones."""
        return self._load_columns() if self._scan is None else self._scan.columns

    @cached_property
    def _reader(self) -> FileReader | None:
        return None if self._make_reader is None else self._make_reader()

    @cached_property
    def _scan(self) -> FileScan | None:
        """How the files are read by column, where there are enough for this to be faster."""
        if self._reader is None:
            return None
        from lakelens.model.scan.scan_to_arrow import is_worthwhile

        if not has_arrays():
            return None  # one by one, however many they are
        if is_worthwhile(self._reader.tasks):
            return self._reader.plan()
        tasks = self._reader.measure()  # a list may record less than is there
        if not is_worthwhile(tasks):
            return None
        scan = self._reader.plan()
        scan.tasks = tasks
        return scan

    @cached_property
    def _table(self) -> FileTable:
        """All columns that were read so far."""
        from lakelens.model.scan.file_table import FileTable

        assert self._scan is not None and self._reader is not None
        return FileTable(self._scan, self._reader)

    @cached_property
    def rows(self) -> FileRows | None:
        """The files as rows of columns; None where they are few, and where only one by one they can be distinguished."""
        if self._choose is not None:
            return None if isinstance(self._held, FileList) else self._held
        if self._scan is None or not self._table.open():
            return None
        from lakelens.model.scan.file_rows import FileRows

        rows = FileRows(((self._table, None),))
        if self._reader is not None:
            self._reader.conclude(self._derive(lambda: rows))
        return rows

    @property
    def is_loaded(self) -> bool:
        """Whether the files were looked at before, so that looking again reads nothing."""
        return "_held" in self.__dict__ or self.__dict__.get("rows") is not None

    def to_json(self, stats: bool = True, columns: Iterable[str] | None = None) -> str:
        """`to_arrow` as a JSON array with an object a file, every value exact, as `lakelens --json` writes it.

        Parameters
        ----------
        stats, columns
            As for `to_arrow`.

        Examples
        --------
        >>> import lakelens as ll
        >>> ll.sample("hive").files[:1].to_json(columns=["content", "record_count"])
        '[\\n{"content": "data", "record_count": 1}\\n]'
        """
        return to_json(self.to_arrow(stats, columns))

    def read(self) -> FileSet:
        """Read the same set after its files were read: what is odd about them is a finding then."""
        _ = self._held
        return self

    @cached_property
    def counted(self) -> FileCounts | None:
        """How many files and rows there are as manifest lists record it; None where they are few, or no list does.

        Reading the files shows more: which of them a damaged manifest has lost, and that a list counts wrongly.
        """
        counts = None if self._reader is None else self._reader.count()
        if counts is None or (counts.files or 0) < _MANY:
            return None
        return None if self._scan is None else counts

    def __len__(self) -> int:
        counted = None if self.is_loaded or self.counted is None else self.counted.files
        if (
            counted is not None and 0 <= counted <= sys.maxsize
        ):  # a list may record anything: then they are read
            return counted
        return len(self._held)

    def __iter__(self) -> Iterator[DataFile]:
        return iter(self._held)

    @overload
    def __getitem__(self, key: int | str) -> DataFile: ...
    @overload
    def __getitem__(self, key: slice) -> FileSet: ...
    def __getitem__(self, key: int | str | slice) -> DataFile | FileSet:
        """A file by position, or by path (where it is now, or as recorded); of a slice the files in it.

        Raises
        ------
        IndexError, KeyError
            There is no such file.
        """
        if isinstance(key, str):
            return self._find(key)
        if isinstance(key, slice):
            return self._choose_some(lambda: range(len(self))[key])
        if not self.is_loaded and 0 <= key < _PEEKED and self._scan is not None and self._reader is not None:
            found = next(islice(self._reader.first(), key, None), None)
            if found is not None:
                return found
        return self._held.make(key)

    def _find(self, path: str) -> DataFile:
        for name in ("recorded_path", "path"):
            found = self._held.find(name, path)
            if found is not None:
                return found
        raise KeyError(path)

    def __contains__(self, item: object) -> bool:
        if not isinstance(item, str):
            return item in self._held
        try:
            return self._find(item) is not None
        except KeyError:
            return False

    def __repr__(self) -> str:
        try:
            return f"<FileSet {len(self)} files, {self.record_count} rows, {self.size_bytes} bytes>"
        except Exception as error:  # a function of the caller's chooses files when they are first looked at
            return visible(f"<FileSet that cannot be read: {type(error).__name__}: {error}>")

    @property
    def record_count(self) -> int:
        """Rows of the data files; delete files and unknown counts are not added."""
        if not self.is_loaded and self.counted is not None and self.counted.rows is not None:
            return self.counted.rows
        return self._held.record_count

    @property
    def size_bytes(self) -> int:
        """Bytes of all files; a vector counts its own bytes, not its Puffin file's."""
        return self._held.size_bytes

    def __and__(self, other: FileSet) -> FileSet:
        return self._derive(lambda: self._meet(other, "share"))

    def __or__(self, other: FileSet) -> FileSet:
        return self._derive(lambda: self._meet(other, "unite"))

    def __sub__(self, other: FileSet) -> FileSet:
        return self._derive(lambda: self._meet(other, "leave_out"))

    def _meet(self, other: FileSet, verb: Literal["share", "unite", "leave_out"]) -> HeldFiles:
        """Compare these files with others: as rows where one of the two is, else one by one."""
        mine, theirs = self._held, other._held
        if isinstance(mine, FileList) and other.rows is not None:
            mine = mine.as_rows(other.rows)
        elif isinstance(theirs, FileList) and self.rows is not None:
            theirs = theirs.as_rows(self.rows)
        compare: Callable[[HeldFiles], HeldFiles] = getattr(mine, verb)
        return compare(theirs)

    def where(self, predicate: str | Callable[[DataFile], bool] | None = None, **equal: Any) -> FileSet:
        """The files for which `predicate` holds and whose attributes equal the given values.

        Parameters
        ----------
        predicate
            A condition in SQL over the columns of `to_arrow` (`"size_bytes > 1e8 AND partition LIKE 'day=2024%'"`), or a
            function of a file; None chooses by attributes alone.
        equal
            Values of attributes of `DataFile`; `partition` may be text (`day=2024-01-01`).

        Returns
        -------
        FileSet
            The chosen files in the same order; they are chosen when they are first looked at.

        Raises
        ------
        TypeError
            `predicate` is neither text nor a function, or there is no such attribute: at once, the nearest names in it.
        LakeError
            The SQL cannot be understood, or names a column that there is not: at once, the nearest names in it.

        Examples
        --------
        >>> import lakelens as ll
        >>> files = ll.sample("iceberg").files
        >>> files.where("record_count > 1", content="data")
        <FileSet 2 files, 20 rows, 1913 bytes>
        >>> files.where(lambda file: file.record_count > 1, content="data")
        <FileSet 2 files, 20 rows, 1913 bytes>
        """
        from lakelens.model.scan.choosing import choose_numbers

        return self._choose_some(choose_numbers(self, predicate, equal))

    def sort_by(self, name: str, *, descending: bool = False) -> FileSet:
        """Sort the files by the values of a column of `to_arrow`, least first; those without a value last.

        Parameters
        ----------
        name
            The column, or an attribute of `DataFile`; equal values keep their order.
        descending
            Whether the greatest comes first.

        Raises
        ------
        LakeError
            There is no such column; the nearest names are in it.

        Examples
        --------
        >>> import lakelens as ll
        >>> [file.record_count for file in ll.sample("iceberg").files.sort_by("record_count", descending=True)[:3]]
        [10, 10, 4]
        """
        from lakelens.model.scan.choosing import check_name, sort_numbers

        check_name(name, self.columns)

        def order() -> list[int]:
            values = [value for (value,) in self.pick(name)]
            return sort_numbers(range(len(values)), values, descending=descending)

        return self._choose_some(order)

    def sample(self, n: int, seed: int = 0) -> FileSet:
        """Some files at random, the same ones for the same seed, in their order.

        Parameters
        ----------
        n
            How many; all of them where there are no more.
        seed
            Of the random numbers.

        Examples
        --------
        >>> import lakelens as ll
        >>> len(ll.sample("iceberg").files.sample(2))
        2
        """

        return self._choose_some(
            lambda: sorted(Random(seed).sample(range(len(self)), min(max(n, 0), len(self))))
        )

    def choose(self, keeps: Callable[..., bool], *names: str) -> FileSet:
        """Choose the files for whose values of some columns, as `pick` gives them, a function holds."""
        return self._choose_some(
            lambda: [number for number, values in enumerate(self.pick(*names)) if keeps(*values)]
        )

    def _derive(self, choose: Callable[[], HeldFiles]) -> FileSet:
        return FileSet(tuple, lambda: self.columns, choose=choose)

    def iterate_batches(self, request: ScanRequest) -> Iterator[FileBatch]:
        """Iterate the files by column, in batches, in the order of a set that nothing was chosen from; nothing is kept."""
        return self._held.read(request)

    def read_with(self, request: ScanRequest) -> list[FileBatch]:
        """Read the set as `read` does, and in the same pass what is asked of its files by column."""
        batches = None
        if self._choose is None and not self.is_loaded and self._scan is not None:
            batches = self._table.open_with(request)
        held = self._held
        return list(held.read(request)) if batches is None else batches

    def take(self, numbers: Sequence[int]) -> FileSet:
        """Take the files of some numbers, in this order."""
        return self._choose_some(lambda: numbers)

    def _choose_some(self, choose: Callable[[], Sequence[int]]) -> FileSet:
        """Choose the files of some numbers, which are chosen when they are first looked at."""
        return self._derive(lambda: self._held.take(choose()))


def defer(make: Callable[[], FileSet], columns: Callable[[], FileColumns]) -> FileSet:
    """A set that is made when it is first looked at."""
    return FileSet(tuple, columns, choose=lambda: make()._held)
