"""How Spark divides the files of a Paimon table into tasks.

    append       the files of a bucket by their first sequence number
    primary key  files whose key ranges overlap stay together, in a section; without overlap to merge, each file alone
    weight       max(bytes, source.split.open-file-cost); packed in order up to source.split.target-size, each bucket apart

Follows `AppendOnlySplitGenerator`, `MergeTreeSplitGenerator`, `IntervalPartition` and `BinPacking.packForOrdered` of Paimon
0.9, and `ScanHelper.getInputPartitions` of its connector: the files of all splits that need no merging are packed again, in
order, across buckets, up to min(maxPartitionBytes, max(cost, all bytes with the cost of each file / cores)). Later
connectors do so only where there are fewer splits than cores.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.model.datafile import DataFile
from lakelens.model.scan.splits import (
    SplitFigure,
    SplitRules,
    SplitTarget,
    SplitUnit,
    pack_ordered,
    read_figure,
    whole,
)

if TYPE_CHECKING:
    from lakelens.formats.paimon.table import PaimonTable

_SIZE = re.compile(r"(\d+)\s*([a-z]*)")
_UNITS = {"": 0, "b": 0, "bytes": 0, "k": 10, "kb": 10, "kibibytes": 10, "m": 20, "mb": 20, "mebibytes": 20}
_UNITS |= {"g": 30, "gb": 30, "gibibytes": 30, "t": 40, "tb": 40, "tebibytes": 40}


def parse_size(text: str) -> int:
    """Parse a size as Paimon's options write it. Raises `ValueError`.

    >>> parse_size("4 mb"), parse_size("1024")
    (4194304, 1024)
    """
    found = _SIZE.fullmatch(text.strip().lower())
    if found is None or found[2] not in _UNITS:
        raise ValueError(text)
    return int(found[1]) << _UNITS[found[2]]


class PaimonSplits(SplitRules):
    """The rules of Paimon for Spark. `skips_level_0` and `merges` say how a table with keys is read."""

    engine = "Spark, as the connector of Paimon 0.9 packs files"

    def __init__(self, options: Mapping[str, str], *, has_keys: bool, skips_level_0: bool) -> None:
        super().__init__(
            [
                read_figure("target size", "source.split.target-size", 128 << 20, options, parse_size),
                read_figure("open cost", "source.split.open-file-cost", 4 << 20, options, parse_size),
                SplitFigure("task size", 128 << 20, "spark.sql.files.maxPartitionBytes"),
            ]
        )
        self._has_keys, self._skips_level_0 = has_keys, skips_level_0
        self._has_vectors = options.get("deletion-vectors.enabled", "false").strip().lower() == "true"
        self._is_plain = self._has_vectors or options.get("merge-engine", "").strip().lower() == "first-row"

    def find_target(
        self, files: Sequence[DataFile], size: int | None = None, parallelism: int | None = None
    ) -> SplitTarget:
        skipped = ("files of level 0 are not read by batch queries",) if self._skips_level_0 else ()
        known = "so much is read that every core has a full task (spark.sql.files.minPartitionNum is not set)"
        assumed = known if parallelism is None else f"{parallelism} cores"
        return SplitTarget(size or self.figure("target size"), (assumed, *skipped))

    def pack(
        self, files: Sequence[DataFile], target: SplitTarget, parallelism: int | None = None
    ) -> Iterator[Sequence[SplitUnit]]:
        buckets: dict[tuple[Any, Any], list[PaimonDataFile]] = {}
        for file in files:
            if isinstance(file, PaimonDataFile) and not (self._skips_level_0 and file.level == 0):
                buckets.setdefault((file.partition_bytes, file.bucket), []).append(file)
        plain: list[Sequence[SplitUnit]] = []
        merged: list[Sequence[SplitUnit]] = []
        for bucket in buckets.values():
            units, is_plain = self._cut_bucket(bucket)
            for task in pack_ordered(units, target.size):
                (plain if is_plain or _is_single(task) else merged).append(task)
        return chain(self._pack_again(plain, parallelism), merged)

    def _pack_again(
        self, tasks: Sequence[Sequence[SplitUnit]], parallelism: int | None
    ) -> Iterator[Sequence[SplitUnit]]:
        """Pack the files of tasks that need no merging, packed by Spark's own sizes."""
        cost, size = self.figure("open cost"), self.figure("task size")
        splits = [split for task in tasks for unit in task for split in unit.splits]
        if parallelism is not None:
            total = sum(split.length + cost for split in splits)
            size = min(size, max(cost, total // parallelism))
        units = (
            SplitUnit((split,), split.length + cost + self._weigh_vector(split.file)) for split in splits
        )
        return pack_ordered(units, size)

    def _weigh_vector(self, file: DataFile) -> int:
        """Weigh the bytes of the deletion vector of a file, which are read with it."""
        return sum(match.length or 0 for match in file.deletes) if self._has_vectors else 0

    def _cut_bucket(self, files: list[PaimonDataFile]) -> tuple[list[SplitUnit], bool]:
        """Cut what of a bucket stays together, and whether nothing of it is merged when it is read."""
        cost = self.figure("open cost")
        if not self._has_keys:
            files = sorted(files, key=lambda file: file.min_sequence_number or 0)
        is_raw = all(file.level != 0 and not file.delete_row_count for file in files)
        is_one_level = len({file.level for file in files}) == 1
        if not self._has_keys or (is_raw and (self._is_plain or is_one_level)):
            return [SplitUnit((whole(file),), max(file.size_bytes or 0, cost)) for file in files], True
        units = []
        for section in list_sections(files):
            size = sum(file.size_bytes or 0 for file in section)
            units.append(SplitUnit(tuple(map(whole, section)), max(size, cost)))
        return units, False


def _is_single(task: Sequence[SplitUnit]) -> bool:
    """Check whether a task reads one file, none of whose rows are deletes."""
    files = [split.file for unit in task for split in unit.splits]
    return len(files) == 1 and not getattr(files[0], "delete_row_count", None)


def list_sections(files: Sequence[PaimonDataFile]) -> Iterator[list[PaimonDataFile]]:
    """Files by their first key, those together whose key ranges overlap; all in one where the keys cannot be compared."""
    try:
        ranges = [(tuple(file.min_key or ()), tuple(file.max_key or ()), file) for file in files]
        ranges.sort(key=lambda found: found[:2])
        sections: list[list[PaimonDataFile]] = []
        bound: tuple[Any, ...] = ()
        for low, high, file in ranges:
            if not sections or low > bound:
                sections.append([])
                bound = high
            sections[-1].append(file)
            bound = max(bound, high)
    except (LakeError, TypeError):
        sections = [list(files)]
    return iter(sections)


def open_splits(table: PaimonTable) -> PaimonSplits:
    """Open the rules by which Spark divides a table's files into tasks."""
    return PaimonSplits(
        table.context.options, has_keys=bool(table.primary_keys), skips_level_0=table.context.skips_level_0
    )
