"""Data files that are rewritten together: how many files they become, and of about how many bytes.

A task reads splits of the files, packed up to the size that the planning chose, and writes one file. Follows
`TableScanUtil.planTaskGroups` and `SparkBinPackFileRewriteRunner` of Iceberg 1.12.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.formats.iceberg.maintenance.packing import Limits
from lakelens.formats.iceberg.maintenance.sizes import Estimate, estimate_merged, measure_inputs
from lakelens.formats.iceberg.splits import cut_file, weigh_deletes
from lakelens.model.scan.splits import SplitUnit, pack_lookback

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile


@dataclass
class FileGroup:
    """Data files that are rewritten together."""

    files: list[IcebergDataFile]
    name: str
    why: str
    is_respecified: (
        bool  # of other specs than the one that is written: a shuffle decides how many files come out
    )
    limits: Limits
    lookback: int

    @cached_property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(file.size_bytes or 0 for file in self.files)

    @cached_property
    def shares(self) -> list[float]:
        """What part of each file's rows is left, as far as counts of deletes say it."""
        return [find_share(file) for file in self.files]

    @cached_property
    def outputs(self) -> int:
        """How many files come out."""
        if not any(self.shares):
            return 0
        size = self.limits.find_split_size(self.size)
        if self.size + sum(weigh_deletes(file.deletes) for file in self.files) <= size:
            return 1
        tasks = pack_lookback(self._cut(size), size, self.lookback)
        return sum(1 for task in tasks if any(split.length for unit in task for split in unit.splits)) or 1

    def _cut(self, size: int) -> Iterator[SplitUnit]:
        for file in self.files:
            more = weigh_deletes(file.deletes)
            for split in cut_file(file, size):
                yield SplitUnit((split,), split.length + more)

    @cached_property
    def has_equality_deletes(self) -> bool:
        """Whether deletes by value reach any file, so that how many rows are left is not counted anywhere."""
        return any(match.kind == "equality_deletes" for file in self.files for match in file.deletes)

    def estimate(self, row_ids: bool) -> Estimate:
        """The bytes of the files that come out; with `row_ids` each row gets its id and the number of its last change."""
        found = estimate_merged(measure_inputs(self.files, self.shares), self.outputs)
        if row_ids:
            pairs = zip(self.files, self.shares, strict=True)
            found = found.with_row_ids(int(sum((file.record_count or 0) * share for file, share in pairs)))
        return Estimate(found.size, 0, found.most) if self.has_equality_deletes else found


def find_share(file: IcebergDataFile) -> float:
    """What part of a file's rows is left, as far as the counts of its deletes say it without reading them."""
    rows = file.record_count or 0
    if not rows:
        return 1.0
    targeted = (match.file for match in file.deletes if getattr(match.file, "target", None) is not None)
    gone = sum(getattr(deletes, "record_count", None) or 0 for deletes in targeted)
    return max(rows - gone, 0) / rows
