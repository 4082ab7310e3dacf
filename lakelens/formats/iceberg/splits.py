"""How Spark divides the files of an Iceberg table into tasks.

    file → splits at its recorded offsets, else of the target size
    weight of a split: max(bytes + bytes of its deletes, (1 + number of its deletes) * cost)
    splits → tasks: into the first of the last `lookback` open tasks with room; beyond them the heaviest is closed

Follows `TableScanUtil.planTaskGroups`, `BaseContentScanTask.split`, `BinPacking` and `SparkScan.adjustSplitSize` of Iceberg
1.12. The engine lists the files of several manifests in parallel, in no fixed order; here it is that of the manifests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from lakelens.model.datafile import DataFile
from lakelens.model.deletes import DeleteMatch
from lakelens.model.scan.splits import (
    Split,
    SplitRules,
    SplitTarget,
    SplitUnit,
    pack_lookback,
    read_figure,
    whole,
)

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable

_SPLITTABLE = ("parquet", "orc", "avro")
_SMALLEST = 16 << 20
#: What Spark counts on by default: the larger of its cores and `spark.sql.shuffle.partitions`.
PARALLELISM = 200


class IcebergSplits(SplitRules):
    """The rules of Iceberg for Spark."""

    engine = "Spark with Iceberg 1.12"
    columns = ("split_offsets",)

    def __init__(self, properties: Mapping[str, str]) -> None:
        super().__init__(
            [
                read_figure("target size", "read.split.target-size", 128 << 20, properties),
                read_figure("open cost", "read.split.open-file-cost", 4 << 20, properties),
                read_figure("lookback", "read.split.planning-lookback", 10, properties),
            ]
        )
        self._is_adaptive = properties.get("read.split.adaptive-size.enabled", "true").lower() != "false"

    def find_target(
        self, files: Sequence[DataFile], size: int | None = None, parallelism: int | None = None
    ) -> SplitTarget:
        if size is not None:
            return SplitTarget(size, ("the size is asked for, as with the read option split-size",))
        size = self.figure("target size")
        if not self._is_adaptive:
            return SplitTarget(size)
        slots = parallelism or PARALLELISM
        total = sum((file.size_bytes or 0) + weigh_deletes(file.deletes) for file in files)
        assumed = (
            f"read.split.adaptive-size.enabled is on, for {slots} slots"
            + (" (the default of spark.sql.shuffle.partitions)" if parallelism is None else ""),
        )
        if -(-total // size) < slots:
            size = max(total // slots, min(_SMALLEST, size))
        return SplitTarget(size, assumed)

    def pack(
        self, files: Sequence[DataFile], target: SplitTarget, parallelism: int | None = None
    ) -> Iterator[Sequence[SplitUnit]]:
        return pack_lookback(self.cut(files, target.size), target.size, self.figure("lookback"))

    def cut(self, files: Iterable[DataFile], target: int) -> Iterator[SplitUnit]:
        """Cut the splits of files with their weights."""
        cost = self.figure("open cost")
        for file in files:
            deletes = file.deletes
            size, count = weigh_deletes(deletes), 1 + len(deletes)
            for split in cut_file(file, target):
                yield SplitUnit((split,), max(split.length + size, count * cost))


def weigh_deletes(deletes: Sequence[DeleteMatch]) -> int:
    """Weigh the bytes of the deletes of a file: of a deletion vector those of its blob."""
    return sum(getattr(match.file, "own_size_bytes", match.file.size_bytes) or 0 for match in deletes)


def cut_file(file: DataFile, target: int) -> Iterator[Split]:
    """Cut the splits of a file: where it says that row groups begin, else every `target` bytes."""
    size = file.size_bytes or 0
    if file.file_format not in _SPLITTABLE:
        yield whole(file)
        return
    offsets = list(file.split_offsets or ())
    if len(offsets) == 1 and offsets[0] < size:
        yield Split(file, offsets[0], size - offsets[0])
        return
    is_ordered = all(a < b for a, b in pairwise(offsets))
    if offsets and is_ordered and offsets[-1] < size:
        for start, end in pairwise([*offsets, size]):
            yield Split(file, start, end - start)
        return
    for start in range(0, size, target):
        yield Split(file, start, min(target, size - start))


def open_splits(table: IcebergTable) -> IcebergSplits:
    """Open the rules by which Spark divides a table's files into tasks."""
    return IcebergSplits(table.properties)
