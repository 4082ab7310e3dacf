"""Deletes that delete nothing: what a delete file or vector is for is not live, or was written after it.

Writers drop some of them when they rewrite data files; until then every scan pays for them. Follows "Scan Planning" of
the Iceberg table specification, whose rules a delete has to pass for at least one live data file.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.iceberg.deletes.matching import DeleteIndex, may_name, partition_key, reaches_everywhere
from lakelens.formats.iceberg.metadata.columns import DELETE_FILE_PATH
from lakelens.model.deletes import DanglingDelete

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.model.fileset import FileSet


class LiveData:
    """The live data files of a snapshot: by place, by partition, and the oldest of all."""

    def __init__(self, files: Iterable[IcebergDataFile]) -> None:
        self.files = [file for file in files if file.content == "data"]

    @cached_property
    def oldest(self) -> int | None:
        """The lowest sequence number; None without files."""
        return min((file.sequence_number or 0 for file in self.files), default=None)

    @cached_property
    def by_path(self) -> dict[str, IcebergDataFile]:
        """The data files by where they are now."""
        return {file.path: file for file in self.files}

    @cached_property
    def _partitions(self) -> dict[Hashable, _Partition]:
        found: dict[Hashable, _Partition] = {}
        for file in self.files:
            found.setdefault(partition_key(file), _Partition()).add(file)
        return found

    def partition(self, delete: IcebergDataFile) -> _Partition | None:
        """The data files of a delete's partition."""
        return self._partitions.get(partition_key(delete))


class _Partition:
    """Data files of one partition: the oldest sequence number, the paths in order with theirs."""

    def __init__(self) -> None:
        self.oldest = 1 << 64
        self._files: list[tuple[bytes, int]] = []
        self._is_sorted = False

    def add(self, file: IcebergDataFile) -> None:
        born = file.sequence_number or 0
        self.oldest = min(self.oldest, born)
        self._files.append((file.file_path.encode(), born))

    def may_be_named(self, delete: IcebergDataFile) -> bool:
        """Check whether a file within the bounds of the delete's paths is not younger than the delete."""
        if not self._is_sorted:
            self._files.sort()
            self._is_sorted = True
        lower = (delete.lower_bounds or {}).get(DELETE_FILE_PATH)
        upper = (delete.upper_bounds or {}).get(DELETE_FILE_PATH)
        start = 0 if lower is None else bisect_left(self._files, (lower, -1))
        end = len(self._files) if upper is None else bisect_left(self._files, (upper, 1 << 64))
        return any(self._files[i][1] <= (delete.sequence_number or 0) for i in range(start, end))


def find_dangling(
    index: DeleteIndex, files: FileSet | Iterable[IcebergDataFile], *, read: bool
) -> Iterator[DanglingDelete]:
    """The deletes of a snapshot that reach no live data file. With `read` also those that name files which are not live.

    Without `read` metadata alone is asked, so that a position delete file for a whole partition passes as long as some file
    there is old enough. A delete file that cannot be read is a finding.
    """
    if not index:
        return  # there is nothing that deletes
    deletes, live = _divide(files)
    for delete in deletes:
        if delete.content == "equality_deletes":
            reason = _judge_equality(delete, live)
        elif delete.target is not None:
            reason = _judge_targeted(delete, live, index)
        elif delete.content == "position_deletes":
            reason = _judge_partition(delete, live)
            if reason is None and read:
                yield from _judge_named(delete, live, index)
        else:
            continue
        if reason is not None:
            named = () if delete.target is None else (delete.target,)
            yield DanglingDelete(delete, reason, delete.record_count, named)


def _divide(files: FileSet | Iterable[IcebergDataFile]) -> tuple[list[IcebergDataFile], LiveData]:
    """Divide the deletes, and the data files that they are judged by: where each is for one file, these alone."""
    rows = getattr(files, "rows", None)
    if rows is None:
        every: list[Any] = list(files)
        return [file for file in every if file.content != "data"], LiveData(every)
    import pyarrow as pa
    import pyarrow.compute as pc

    is_data = pc.equal(rows.column("content"), "data")
    deletes: list[Any] = list(rows.choose(pc.invert(is_data)))
    if any(delete.content == "equality_deletes" or delete.target is None for delete in deletes):
        return deletes, LiveData(rows.choose(is_data))
    targets = pa.array({delete.referenced_data_path for delete in deletes}, pa.string())
    return deletes, LiveData(rows.choose(pc.and_(is_data, pc.is_in(rows.column("path"), targets))))


def _judge_equality(delete: IcebergDataFile, live: LiveData) -> str | None:
    deleted = delete.sequence_number or 0
    if reaches_everywhere(delete):
        older = live.oldest is not None and live.oldest < deleted
        return None if older else f"no live data file is older than sequence {deleted}"
    partition = live.partition(delete)
    if partition is None:
        return f"no live data file is in its partition {delete.partition}"
    if partition.oldest >= deleted:
        return f"no live data file of its partition {delete.partition} is older than sequence {deleted}"
    return None


def _judge_targeted(delete: IcebergDataFile, live: LiveData, index: DeleteIndex) -> str | None:
    place, deleted = delete.referenced_data_path, delete.sequence_number or 0
    target = None if place is None else live.by_path.get(place)
    if target is None:
        return f"the data file that it is for is not live: {delete.target}"
    if (target.sequence_number or 0) > deleted:
        return f"the data file that it is for was written later, with sequence {target.sequence_number} > {deleted}"
    if partition_key(target) != partition_key(delete):
        return f"the data file that it is for is in another partition, {target.partition}"
    if delete.content == "position_deletes" and index.find_vectors(target):
        return "a deletion vector replaces it"
    return None


def _judge_partition(delete: IcebergDataFile, live: LiveData) -> str | None:
    partition = live.partition(delete)
    where = f"its partition {delete.partition}" if delete.partition.texts else "the table"
    if partition is None:
        return f"no live data file is in {where}"
    if partition.oldest > (delete.sequence_number or 0):
        return f"every live data file in {where} was written later"
    if not partition.may_be_named(delete):
        return f"no live data file in {where} is between the paths of its bounds"
    return None


def _judge_named(delete: IcebergDataFile, live: LiveData, index: DeleteIndex) -> Iterator[DanglingDelete]:
    """Judge what a position delete file says itself: every path that it names must be a live file that it reaches."""
    try:
        by_path = index.reader.read_all_positions(delete)
    except LakeError as error:
        index.reader.context.findings.add_error(error, delete.path)
        return
    lost = [path for path in by_path if not _is_reached(path, delete, live, index)]
    if not lost:
        return
    rows = sum(len(by_path[path]) for path in lost)
    some = "1 file that it names is" if len(lost) == 1 else f"{len(lost)} files that it names are"
    reason = f"{some} not live, or no longer reached by it"
    yield DanglingDelete(delete, reason, rows, tuple(lost), is_partial=len(lost) < len(by_path))


def _is_reached(path: str, delete: IcebergDataFile, live: LiveData, index: DeleteIndex) -> bool:
    target = live.by_path.get(index.reader.context.access.locator.locate(path))
    return (
        target is not None
        and (target.sequence_number or 0) <= (delete.sequence_number or 0)
        and partition_key(target) == partition_key(delete)
        and may_name(delete, target.file_path)
        and not index.find_vectors(target)
    )
