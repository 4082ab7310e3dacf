"""Two states of a table compared file by file: what was added, removed and kept, at the price of what changed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.display import Displayable, Named
from lakelens.lazy import dataclass
from lakelens.model.datafile import DataFile, IndexFile
from lakelens.model.fileset import FileColumns, FileSet, defer
from lakelens.model.scan.arrow_files import pick

if TYPE_CHECKING:
    from lakelens.model.scan.file_rows import FileRows
    from lakelens.model.snapshot import Snapshot

# kept manifests are read where they are this few, with this few entries; of more, what is recorded of them is counted
FEW_MANIFESTS = 8
FEW_ENTRIES = 1_000
_COUNTED = ("content", "record_count", "own_size_bytes")


@dataclass(frozen=True, slots=True)
class FileCounts(Named):
    """How many files, their rows and bytes; None where nothing that was read says.

    >>> FileCounts(2, 10, 700) + FileCounts(1, 5, None)
    FileCounts(files=3, rows=15, bytes=None)
    """

    files: int | None = 0
    rows: int | None = 0
    bytes: int | None = 0

    def __add__(self, other: FileCounts) -> FileCounts:
        return FileCounts(
            sum_known(self.files, other.files),
            sum_known(self.rows, other.rows),
            sum_known(self.bytes, other.bytes),
        )

    def __sub__(self, other: FileCounts) -> FileCounts:
        return FileCounts(
            _subtract(self.files, other.files),
            _subtract(self.rows, other.rows),
            _subtract(self.bytes, other.bytes),
        )


def sum_known(*amounts: int | None) -> int | None:
    """Give the sum of amounts; None where one of them is not known.

    >>> sum_known(1, 2), sum_known(1, None)
    (3, None)
    """
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


def _subtract(one: int | None, other: int | None) -> int | None:
    """Subtract a difference of counts; None where the figures contradict each other."""
    left = None if one is None or other is None else one - other
    return None if left is None or left < 0 else left


def count_by_content(files: FileSet | Iterable[DataFile]) -> dict[str, FileCounts]:
    """Files, rows and bytes by content, as the files' own records have them; an unknown count is 0."""
    if isinstance(files, FileSet) and files.rows is not None:
        return _count_rows(files.rows)
    sums: dict[str, list[int]] = {}
    for content, rows, size in pick(files, *_COUNTED):
        row = sums.setdefault(content, [0, 0, 0])
        row[0] += 1
        row[1] += rows or 0
        row[2] += size or 0
    return {content: FileCounts(*row) for content, row in sums.items()}


def _count_rows(rows: FileRows) -> dict[str, FileCounts]:
    """Count the same of a table of columns. Its sums are decimals, which damaged counts cannot overflow."""
    import pyarrow as pa

    rows.load(_COUNTED)
    content, *amounts = (rows.column(name) for name in _COUNTED)
    exact = [amount.cast(pa.decimal128(38)) for amount in amounts]
    sums = pa.table([content, *exact], names=_COUNTED).group_by("content", use_threads=False)
    found = sums.aggregate([([], "count_all"), *((name, "sum") for name in _COUNTED[1:])]).to_pydict()
    columns = (found[name] for name in ("content", "count_all", *(f"{name}_sum" for name in _COUNTED[1:])))
    return {
        one: FileCounts(files, int(of or 0), int(size or 0))
        for one, files, of, size in zip(*columns, strict=True)
    }


class FileComparison(ABC):
    """What a change did to the files of a table. Nothing is read until it is asked for.

    A format gives `find_changes`: the files of the newer state that the older one does not have, and the other way round,
    each as its own state describes it.
    """

    def __init__(self, before: FileSet, after: FileSet) -> None:
        self._before, self._after = before, after

    @abstractmethod
    def find_changes(self) -> tuple[FileSet, FileSet]:
        """The files that were added, and those that were removed."""

    @cached_property
    def _changes(self) -> tuple[FileSet, FileSet]:
        return self.find_changes()

    def describe_columns(self) -> FileColumns:
        """Describe the columns of the files that changed, where they are shown as Arrow."""
        return self._after.columns

    @cached_property
    def added(self) -> FileSet:
        """The files that only the newer state has."""
        return defer(lambda: self._changes[0], self.describe_columns)

    @cached_property
    def removed(self) -> FileSet:
        """The files that only the older state has."""
        return defer(lambda: self._changes[1], self.describe_columns)

    @cached_property
    def kept(self) -> FileSet:
        """The files that both have, as the newer state describes them; looking at them reads all of it."""
        return self._after - self.added

    def count_kept(self) -> Mapping[str, FileCounts]:
        """Files, rows and bytes that were kept, by content. Reads the files of the newer state."""
        return count_by_content(self.kept)


class WholeComparison(FileComparison):
    """All files of one state against all of the other: for copies of a table, and where nothing cheaper is certain.

    `identify` gives what the same file has in common in both states, where that is not its identity. With `name` a file
    that differs, but whose recorded path stands for the same name on both sides, is the same file with other facts.
    """

    def __init__(
        self,
        before: FileSet,
        after: FileSet,
        identify: Callable[[DataFile], Hashable] | None = None,
        *,
        name: Callable[[str], str] | None = None,
    ) -> None:
        super().__init__(before, after)
        self._identify = identify
        self._name = name

    def find_changes(self) -> tuple[FileSet, FileSet]:
        """Find the differences of the two sets."""
        before, after, identify = self._before, self._after, self._identify
        if identify is None:
            sides = after - before, before - after
            return sides if self._name is None else _drop_common(sides, self._name)
        old, new = ({identify(file) for file in files} for files in (before, after))
        added = after.where(lambda found: identify(found) not in old)
        return added, before.where(lambda found: identify(found) not in new)


def _drop_common(sides: tuple[FileSet, FileSet], name: Callable[[str], str]) -> tuple[FileSet, FileSet]:
    """Drop the files of which both sides have one of the same name."""
    new, old = ({name(path) for (path,) in side.pick("recorded_path")} for side in sides)
    if not (kept := new & old):
        return sides
    added, removed = (side.where(lambda file: name(file.recorded_path) not in kept) for side in sides)
    return added, removed


#: What a file has in common with its copy in a table that is elsewhere.
identify_copy: Callable[[DataFile], Hashable] = attrgetter("copy_identity")


@dataclass(frozen=True, slots=True, repr=False)
class IndexChanges(Displayable):
    """Index files that only the newer state has, and those that only the older one has.

    Of an Iceberg Puffin file `ranges` names the vectors that were added or removed; it may hold others too.
    """

    added: tuple[IndexFile, ...] = ()
    removed: tuple[IndexFile, ...] = ()

    def __repr__(self) -> str:
        return f"<IndexChanges +{len(self.added)} -{len(self.removed)} index files>"


def compare_all(before: Snapshot, after: Snapshot) -> FileComparison:
    """Compare all files of two states by their identity."""
    return WholeComparison(before.files, after.files)


def compare_index_files(before: Snapshot | None, after: Snapshot, files: FileComparison) -> IndexChanges:
    """Compare the index files of two states (None: nothing) by their recorded paths."""
    old = {file.recorded_path: file for file in before.index_files} if before is not None else {}
    new = {file.recorded_path: file for file in after.index_files}
    return IndexChanges(
        tuple(file for name, file in new.items() if name not in old),
        tuple(file for name, file in old.items() if name not in new),
    )
