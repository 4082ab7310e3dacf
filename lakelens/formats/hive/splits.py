"""How Spark divides the files of a Hive-style table into tasks.

    size of a task   min(maxPartitionBytes, max(cost, all bytes with the cost of each file / cores))
    files → splits of that size, where their format can be split, the largest first → tasks, filled one after the other

Follows `FilePartition.maxSplitBytes` and `FilePartition.getFilePartitions` of Spark 3.5 ("Next Fit Decreasing"). Tables of
text that Hive's own reader reads, and bucketed scans, which have one task a bucket, are divided otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lakelens.model.datafile import DataFile
from lakelens.model.scan.splits import (
    Split,
    SplitFigure,
    SplitRules,
    SplitTarget,
    SplitUnit,
    pack_filled,
    whole,
)

if TYPE_CHECKING:
    from lakelens.formats.hive.listing import HiveTable

_WHOLE = ("gzip", "zstd", "snappy", "lz4", "deflate", "xz")


class HiveSplits(SplitRules):
    """The rules of Spark for files without a table format. They are the session's: a table cannot set them."""

    engine = "Spark 3.5"

    def __init__(self) -> None:
        super().__init__(
            [
                SplitFigure("target size", 128 << 20, "spark.sql.files.maxPartitionBytes"),
                SplitFigure("open cost", 4 << 20, "spark.sql.files.openCostInBytes"),
            ]
        )

    def find_target(
        self, files: Sequence[DataFile], size: int | None = None, parallelism: int | None = None
    ) -> SplitTarget:
        size, cost = size or self.figure("target size"), self.figure("open cost")
        if parallelism is None:
            assumed = (
                "so much is read that every core has a full task (spark.sql.files.minPartitionNum is not set)"
            )
            return SplitTarget(size, (assumed,))
        total = sum((file.size_bytes or 0) + cost for file in files)
        return SplitTarget(min(size, max(cost, total // parallelism)), (f"{parallelism} cores",))

    def pack(
        self, files: Sequence[DataFile], target: SplitTarget, parallelism: int | None = None
    ) -> Iterator[Sequence[SplitUnit]]:
        splits = [split for file in files for split in cut_file(file, target.size)]
        splits.sort(key=lambda split: -split.length)
        units = (SplitUnit((split,), split.length) for split in splits)
        return pack_filled(units, target.size, self.figure("open cost"))


def cut_file(file: DataFile, target: int) -> Iterator[Split]:
    """Cut the splits of a file; a compressed text is one."""
    size, codec = file.size_bytes or 0, getattr(file, "codec_in_name", None)
    is_container = file.file_format in ("parquet", "orc", "avro")
    if file.file_format in _WHOLE or (codec is not None and not is_container and codec != "bzip2"):
        yield whole(file)
        return
    for start in range(0, size, target):
        yield Split(file, start, min(target, size - start))


def open_splits(table: HiveTable) -> HiveSplits:
    """Open the rules by which Spark divides a table's files into tasks."""
    return HiveSplits()
