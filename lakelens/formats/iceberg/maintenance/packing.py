"""Which files are rewritten together, into how many, and how large these will be: the size-based planning of Iceberg.

    file    is chosen where it is smaller than `min_file_size_bytes` (75 % of the target) or larger than `max_…` (180 %)
    group   files of one partition in their order, up to `max_file_group_size_bytes` (100 GiB) and `…_input_files`
    group   is rewritten where it has two files and `min_input_files` (5), or more than the target, or more than the maximum

With `rewrite_all` every file and every group is. Follows `SizeBasedFileRewritePlanner` and `BinPacking` of Iceberg 1.12.

How large the files will be that do not exist yet is estimated from the sizes of the files they are made of:

    data file    what is in it beside its columns (footer, magic numbers), once, and its columns as far as their rows live on
    manifest     its header, once, and its entries

Measured on 118 runs of the engine on small tables: half of the estimates are within 4 % for data files, 2 % for manifests,
lists and documents; the rest up to 45 % off where one task writes one file, and by more where a shuffle decides how many
files there are (small files are mostly footers).

The truth depends on what the encoder makes of the values together. So each estimate has limits: at the most the sum of what
goes in, and a bit more; at the least what the largest file alone takes, less what compression gains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Union

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.iceberg.splits import cut_file, weigh_deletes
from lakelens.model.maintenance import Option
from lakelens.model.scan.plan import ScanRequest
from lakelens.model.scan.splits import SplitUnit, pack_lookback

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.model.datafile import Content
    from lakelens.model.deletes import DeleteMatch
    from lakelens.model.fileset import FileSet
    from lakelens.model.stats import Partition

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
    """Say how the engine spells an option of an action.

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
        """Read the figures of the options; `target` is the table's own."""
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
        """Check whether a file is of an undesired size."""
        return size < self.least or size > self.most

    def expect_outputs(self, size: int) -> int:
        """Say how many files the engine wants of a group of that many bytes.

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
        """Find how many bytes of a group one task reads, and writes as one file."""
        estimated = size // self.expect_outputs(size) + _SPLIT_OVERHEAD
        return self.target if estimated < self.target else min(estimated, self.write_most)

    def pack(self, items: Iterable[T], weigh: Callable[[T], int]) -> Iterator[list[T]]:
        """Pack the items in their order, a group ending where the next would be too much (packing with a look-back of one).

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
        """Explain why a group is rewritten for its size; None where it is not."""
        total = sum(sizes)
        if len(sizes) > 1 and len(sizes) >= self.min_inputs:
            return f"{len(sizes):,} files, of at least {self.min_inputs:,}"
        if len(sizes) > 1 and total > self.target:
            return "together larger than the target"
        if total > self.most:
            return "larger than the maximum"
        return None


def count_commits(groups: int, values: Mapping[str, Any]) -> int:
    """Count how many commits some groups take.

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


class InputFile(NamedTuple):
    """A data file of a state without deletes: what `IcebergDataFile` has under these names, read by column.

    `number` is its place among the files of the state, `columns` the recorded bytes of its columns and their number.
    """

    number: int
    partition: Partition
    columns: tuple[int, int]
    path: str
    size_bytes: int | None
    content_size_in_bytes: int | None
    record_count: int | None
    spec_id: int | None
    split_offsets: Sequence[int] | None
    file_format: str
    manifest: str
    content: Content

    @property
    def deletes(self) -> Sequence[DeleteMatch]:
        """Nothing deletes rows of it."""
        return ()

    @property
    def own_size_bytes(self) -> int | None:
        """The bytes that are this file's own."""
        return self.content_size_in_bytes or self.size_bytes


#: A data file that is rewritten, made or read by column.
Rewritten = Union["IcebergDataFile", InputFile]
_COLUMNS = InputFile._fields[3:]


def read_input_files(files: FileSet) -> Iterator[InputFile]:
    """Read the files of a state by column, in their order."""
    import numpy as np
    import pyarrow.compute as pc

    request = ScanRequest(stats=False, columns=(*_COLUMNS, "column_sizes"), partitions=True)
    done, texts = 0, dict[Any, Any]()  # equal ones are one object: paths of manifests are long
    for batch in files.iterate_batches(request):
        size, width = np.zeros(batch.rows, np.int64), np.zeros(batch.rows, np.int64)
        for column in batch.stats.get("column_sizes", {}).values():
            known = pc.fill_null(column, 0).to_numpy(zero_copy_only=False).clip(min=0)
            size += known
            width += known > 0
        found, codes = batch.partitions or ((), ())
        facts = [batch.plain[name].to_pylist() for name in _COLUMNS]
        for place in map(_COLUMNS.index, ("file_format", "manifest", "content")):
            facts[place] = [texts.setdefault(text, text) for text in facts[place]]
        columns = zip(size.tolist(), width.tolist(), strict=True)
        numbers, partitions = range(done, done + batch.rows), (found[code.as_py()] for code in codes)
        yield from map(InputFile._make, zip(numbers, partitions, columns, *facts, strict=True))
        done += batch.rows


@dataclass
class FileGroup:
    """Data files that are rewritten together."""

    files: list[Rewritten]
    name: str
    why: str
    is_respecified: (
        bool  # of other specs than the one that is written: a shuffle decides how many files come out
    )
    limits: Limits
    lookback: int
    has_deletes: bool  # in the state: where there are none no file is asked for its own

    @cached_property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(file.size_bytes or 0 for file in self.files)

    @cached_property
    def shares(self) -> list[float]:
        """What part of each file's rows is left, as far as counts of deletes say it."""
        return [find_share(file) for file in self.files] if self.has_deletes else [1.0] * len(self.files)

    @cached_property
    def outputs(self) -> int:
        """Count the files that come out."""
        if not any(self.shares):
            return 0
        size = self.limits.find_split_size(self.size)
        weights = [weigh_deletes(file.deletes) if self.has_deletes else 0 for file in self.files]
        if self.size + sum(weights) <= size:
            return 1
        files: Sequence[Any] = self.files  # an `InputFile` has what is asked of a file that is cut
        units = (
            SplitUnit((split,), split.length + weight)
            for file, weight in zip(files, weights, strict=True)
            for split in cut_file(file, size)
        )
        tasks = pack_lookback(units, size, self.lookback)
        return sum(1 for task in tasks if any(split.length for unit in task for split in unit.splits)) or 1

    @cached_property
    def has_equality_deletes(self) -> bool:
        """Whether deletes by value reach any file, so that how many rows are left is not counted anywhere."""
        return self.has_deletes and any(
            match.kind == "equality_deletes" for file in self.files for match in file.deletes
        )

    def estimate(self, row_ids: bool, columns: Mapping[str, tuple[int, int]]) -> Estimate:
        """The bytes of the files that come out; with `row_ids` each row gets its id and the number of its last change."""
        found = estimate_merged(measure_inputs(self.files, self.shares, columns), self.outputs)
        if row_ids:
            pairs = zip(self.files, self.shares, strict=True)
            found = found.with_row_ids(int(sum((file.record_count or 0) * share for file, share in pairs)))
        return Estimate(found.size, 0, found.most) if self.has_equality_deletes else found


def find_share(file: Rewritten) -> float:
    """Find what part of a file's rows is left, as far as the counts of its deletes say it without reading them."""
    rows = file.record_count or 0
    if not rows:
        return 1.0
    targeted = (match.file for match in file.deletes if getattr(match.file, "target", None) is not None)
    gone = sum(getattr(deletes, "record_count", None) or 0 for deletes in targeted)
    return max(rows - gone, 0) / rows


#: Of a column chunk of Parquet what does not grow with its values: headers of pages, a dictionary's, encodings' first bytes.
_PER_CHUNK = 35
#: How much is written more at the most than went in: rows get columns that their files did not have, row ids among them.
_SLACK = 1.25


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number of bytes, and its limits."""

    size: int
    least: int
    most: int

    @classmethod
    def add(cls, parts: Iterable[Estimate]) -> Estimate:
        """Add several."""
        size = least = most = 0
        for part in parts:
            size, least, most = size + part.size, least + part.least, most + part.most
        return cls(size, least, most)

    def with_row_ids(self, rows: int) -> Estimate:
        """The same with an id and a sequence number for each row: a byte or so as encoders make it, nine at the most."""
        return Estimate(self.size + rows, self.least, self.most + 9 * rows + 400)


class Input(NamedTuple):
    """A file that goes in: its bytes, what part of its rows is left, the bytes and number of its columns, its row groups."""

    size: int
    share: float
    columns: int = 0
    width: int = 0
    row_groups: int = 1


def measure_inputs(
    files: Sequence[Rewritten], shares: Sequence[float], columns: Mapping[str, tuple[int, int]]
) -> list[Input]:
    """Take data files as input; `columns` are `measure_columns` by recorded path, of others it is read file by file."""
    inputs = []
    for file, share in zip(files, shares, strict=True):
        if isinstance(file, InputFile):
            size, width = file.columns
        else:
            size, width = columns.get(file.recorded_path) or _sum_columns(file)
        inputs.append(Input(file.size_bytes or 0, share, size, width, len(file.split_offsets or ())))
    return inputs


def _sum_columns(file: IcebergDataFile) -> tuple[int, int]:
    sizes = (file.column_sizes or {}).values()
    known = [size for size in sizes if isinstance(size, int) and size > 0]
    return sum(known), len(known)


def measure_columns(files: FileSet) -> dict[str, tuple[int, int]]:
    """Sum the recorded bytes of the columns of each file, and count the columns, by its recorded path; none of few files."""
    if files.rows is None:
        return {}
    table = files.to_arrow(columns=("recorded_path", "column_sizes"))
    import numpy as np
    import pyarrow.compute as pc

    size, width = np.zeros(len(table), np.int64), np.zeros(len(table), np.int64)
    for column in table["column_sizes"].combine_chunks().flatten():
        known = pc.fill_null(column, 0).to_numpy(zero_copy_only=False).clip(min=0)
        size += known
        width += known > 0
    return dict(
        zip(table["recorded_path"].to_pylist(), zip(size.tolist(), width.tolist(), strict=True), strict=True)
    )


def estimate_merged(inputs: Sequence[Input], outputs: int) -> Estimate:
    """Estimate the bytes of the files that some files become together.

    >>> estimate_merged([Input(1000, 1.0, 100, 1), Input(1000, 1.0, 100, 1)], 1).size
    1065
    """
    if not inputs or not outputs:
        return Estimate(0, 0, 0)
    total = sum(one.size for one in inputs)
    if sum(one.row_groups for one in inputs) > 1.5 * len(inputs):
        # what is beside the columns is there for each row group, and grows with them
        kept = sum(one.size * one.share for one in inputs)
        return Estimate(int(kept), int(kept * 0.5), int(kept * _SLACK) + 2_000 * outputs)
    fixed = [one.size - one.columns for one in inputs if one.width and one.size > one.columns]
    # What is in a file beside its values, where no sizes of columns are recorded: most of a small one.
    frame = sorted(fixed)[len(fixed) // 2] if fixed else int(min(one.size for one in inputs) * 0.5)
    width = max((one.width for one in inputs if one.width), default=1)
    grown = 0.0
    for one in inputs:
        stored, count = (one.columns, one.width) if one.width else (one.size - frame, width)
        grown += max(stored - _PER_CHUNK * count, 0) * one.share
    size = int(frame * outputs + _PER_CHUNK * width * outputs + grown)
    rows = max(sum(one.share for one in inputs) / len(inputs), 0.0)
    least = int(min(size * 0.6, max(one.size * one.share for one in inputs) * 0.6 + frame * 0.2 * outputs))
    most = int(
        max(total * _SLACK * max(rows, 0.5), size * _SLACK)
        + (frame + _PER_CHUNK * width) * outputs * 0.5
        + 400 * outputs
    )
    return Estimate(min(size, most), min(least, size), most)


def estimate_manifests(manifests: Sequence[IcebergManifest], outputs: int) -> Estimate:
    """Estimate the bytes of the manifests that the entries of some manifests become."""
    if not manifests or not outputs:
        return Estimate(0, 0, 0)
    headers, bodies = [], []
    for manifest in manifests:
        size = manifest.manifest_length or 0
        try:
            header = min(manifest._file.header.header_size, size)
        except LakeError:  # most of it where it cannot be read
            header = int(size * 0.8)
        alive = (manifest.added_files_count or 0) + (manifest.existing_files_count or 0)
        entries = alive + (manifest.deleted_files_count or 0)
        headers.append(header)
        bodies.append((size - header) * (alive / entries if entries else 1))
    header = max(headers)
    size = int(header * outputs + sum(bodies) * 0.8)
    least = int(header * 0.8 * outputs + max(bodies) * 0.4)
    most = int(header * 1.2 * outputs + sum(bodies) * 1.3 + 200 * outputs)
    return Estimate(size, min(least, size), max(most, size))
