"""Which files are rewritten together, and into how many: the size-based planning of Iceberg.

    file    is chosen where it is smaller than `min_file_size_bytes` (75 % of the target) or larger than `max_…` (180 %)
    group   files of one partition in their order, up to `max_file_group_size_bytes` (100 GiB) and `…_input_files`
    group   is rewritten where it has two files and `min_input_files` (5), or more than the target, or more than the maximum

With `rewrite_all` every file and every group is. Follows `SizeBasedFileRewritePlanner` and `BinPacking` of Iceberg 1.12.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.iceberg.maintenance.sizes import Estimate, estimate_merged, measure_inputs
from lakelens.formats.iceberg.splits import cut_file, weigh_deletes
from lakelens.model.maintenance import Option
from lakelens.model.scan.splits import SplitUnit, pack_lookback

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile


T = TypeVar("T")

OPTIONS = (
    Option(
        "target_file_size_bytes", "bytes", "how large a new file should be", "the table's target", least=1
    ),
    Option("min_file_size_bytes", "bytes", "smaller files are rewritten", "75 % of the target", least=0),
    Option("max_file_size_bytes", "bytes", "larger files are rewritten", "180 % of the target", least=1),
    Option(
        "min_input_files", "integer", "a group of this many files is rewritten, however small", "5", least=1
    ),
    Option("rewrite_all", "boolean", "rewrite every file", "false"),
    Option("max_file_group_size_bytes", "bytes", "the most bytes of a group", "100 GiB", least=1),
    Option("max_file_group_input_files", "integer", "the most files of a group", "no limit", least=1),
    Option("partial_progress_enabled", "boolean", "commit groups as they are done", "false"),
    Option("partial_progress_max_commits", "integer", "the most commits then", "10", least=1),
    Option("partial_progress_max_failed_commits", "integer", "how many of them may fail", "as many"),
    Option("max_concurrent_file_group_rewrites", "integer", "how many groups at a time", "5", least=1),
    Option(
        "rewrite_job_order",
        "text",
        "which groups are first: none, bytes-asc, bytes-desc, files-asc, files-desc",
        "none",
    ),
)
_DOTTED = ("partial_progress_enabled", "partial_progress_max_commits", "partial_progress_max_failed_commits")
_SPLIT_OVERHEAD = 5 * 1024
_GROUP_BYTES = 100 << 30
_NO_LIMIT = 2**63 - 1


def spell_option(name: str) -> str:
    """How the engine spells an option of an action.

    >>> spell_option("rewrite_all"), spell_option("partial_progress_enabled")
    ('rewrite-all', 'partial-progress.enabled')
    """
    if name in _DOTTED:
        return "partial-progress." + name.removeprefix("partial_progress_").replace("_", "-")
    return name.replace("_", "-")


@dataclass(frozen=True)
class Limits:
    """The figures that decide. Raises `LakeError` where they contradict one another, as the engine does."""

    target: int
    least: int
    most: int
    min_inputs: int
    is_all: bool
    group_bytes: int
    group_files: int

    @classmethod
    def read(cls, values: Mapping[str, Any], target: int) -> Limits:
        """The figures of the options; `target` is the table's own."""
        target = values.get("target_file_size_bytes", target)
        limits = cls(
            target,
            values.get("min_file_size_bytes", int(target * 0.75)),
            values.get("max_file_size_bytes", int(target * 1.8)),
            values.get("min_input_files", 5),
            values.get("rewrite_all", False),
            values.get("max_file_group_size_bytes", _GROUP_BYTES),
            values.get("max_file_group_input_files", _NO_LIMIT),
        )
        if limits.least >= target:
            raise LakeError(
                f"option target_file_size_bytes: {target:,} bytes must be more than min_file_size_bytes ({limits.least:,})"
            )
        if limits.most <= target:
            raise LakeError(
                f"option target_file_size_bytes: {target:,} bytes must be less than max_file_size_bytes ({limits.most:,})"
            )
        return limits

    @property
    def write_most(self) -> int:
        """How large a new file may get: half way from the target to the maximum."""
        return int(self.target + (self.most - self.target) * 0.5)

    def is_odd(self, size: int) -> bool:
        """Whether a file is of an undesired size."""
        return size < self.least or size > self.most

    def expect_outputs(self, size: int) -> int:
        """How many files the engine wants of a group of that many bytes.

        >>> limits = Limits(100, 75, 180, 5, False, 1 << 40, 1 << 40)
        >>> limits.expect_outputs(50), limits.expect_outputs(1010), limits.expect_outputs(190)
        (1, 10, 2)
        """
        if size < self.target:
            return 1
        rounded_down, rest = divmod(size, self.target)
        rounded_up = rounded_down + (rest > 0)
        if rest > self.least:
            return rounded_up
        if size // rounded_down < min(1.1 * self.target, float(self.write_most)):
            return rounded_down
        return rounded_up

    def find_split_size(self, size: int) -> int:
        """How many bytes of a group one task reads, and writes as one file."""
        estimated = size // self.expect_outputs(size) + _SPLIT_OVERHEAD
        return self.target if estimated < self.target else min(estimated, self.write_most)

    def pack(self, items: Iterable[T], weigh: Callable[[T], int]) -> Iterator[list[T]]:
        """The items in their order, a group ending where the next would be too much (packing with a look-back of one).

        >>> [len(group) for group in Limits(9, 1, 99, 5, False, 5, 9).pack([2, 2, 2, 9, 1], int)]
        [2, 1, 1, 1]
        """
        group: list[T] = []
        weight = 0
        for item in items:
            more = weigh(item)
            if group and (weight + more > self.group_bytes or len(group) >= self.group_files):
                yield group
                group, weight = [], 0
            group.append(item)
            weight += more
        if group:
            yield group

    def explain_group(self, sizes: Sequence[int]) -> str | None:
        """Why a group is rewritten for its size; None where it is not."""
        total = sum(sizes)
        if len(sizes) > 1 and len(sizes) >= self.min_inputs:
            return f"{len(sizes):,} files, of at least {self.min_inputs:,}"
        if len(sizes) > 1 and total > self.target:
            return "together larger than the target"
        if total > self.most:
            return "larger than the maximum"
        return None


def count_commits(groups: int, values: Mapping[str, Any]) -> int:
    """How many commits some groups take.

    >>> count_commits(7, {}), count_commits(7, {"partial_progress_enabled": True, "partial_progress_max_commits": 3})
    (1, 3)
    """
    if not groups or not values.get("partial_progress_enabled"):
        return min(groups, 1)
    most: int = values.get("partial_progress_max_commits", 10)
    return -(-groups // -(-groups // most))


# Data files that are rewritten together: how many files they become, and of about how many bytes.
#
# A task reads splits of the files, packed up to the size that the planning chose, and writes one file. Follows
# `TableScanUtil.planTaskGroups` and `SparkBinPackFileRewriteRunner` of Iceberg 1.12.


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
        weights = [weigh_deletes(file.deletes) for file in self.files]
        if self.size + sum(weights) <= size:
            return 1
        units = (
            SplitUnit((split,), split.length + weight)
            for file, weight in zip(self.files, weights, strict=True)
            for split in cut_file(file, size)
        )
        tasks = pack_lookback(units, size, self.lookback)
        return sum(1 for task in tasks if any(split.length for unit in task for split in unit.splits)) or 1

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
