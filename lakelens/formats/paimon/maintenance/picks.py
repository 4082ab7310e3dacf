"""Which files a compaction takes: bins of an append table, sorted runs of one with keys, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.arrays.memory import release_memory
from lakelens.caching import cached_property
from lakelens.formats.contents import read_footer
from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.maintenance.settings import Settings, parse_span
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.splits import list_sections, parse_size
from lakelens.model.scan.plan import ScanRequest

if TYPE_CHECKING:
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.model.datafile import Footer
    from lakelens.model.fileset import FileSet


# The sorted runs of a primary-key table: what a reader merges, and what starts a compaction.
#
#     level 0            each file is a run of its own, the newest first
#     level 1, 2, …      all files of a level are one run: their keys do not overlap
#
# A bucket is compacted once it has `num-sorted-run.compaction-trigger` runs (5), and its writers wait while it has more
# than `num-sorted-run.stop-trigger` (3 more). See `Levels` and `MergeTreeCompactManager` of Paimon, and "Compaction" of
# its documentation on primary-key tables.


@dataclass(frozen=True, slots=True)
class Triggers:
    """How many sorted runs of a bucket start a compaction, and more than how many stop its writers."""

    compaction: int
    stop: int


@dataclass(frozen=True, slots=True)
class BucketRuns:
    """The sorted runs of one bucket: `partition` as text ("" where there are none), and how many files are at level 0."""

    partition: str
    bucket: int
    level_0: int
    runs: int
    files: int
    size_bytes: int


def read_triggers(options: Mapping[str, str]) -> Triggers:
    """Read the limits by a table's options.

    >>> read_triggers({}), read_triggers({"num-sorted-run.compaction-trigger": "3"})
    (Triggers(compaction=5, stop=8), Triggers(compaction=3, stop=6))
    """
    settings = Settings(options, has_keys=True)
    return Triggers(settings.trigger, settings.stop_trigger)


def count_runs(files: FileSet) -> tuple[BucketRuns, ...]:
    """Count the sorted runs of each bucket, in the order of partitions and buckets; read by column.

    >>> import lakelens as ll
    >>> [(one.bucket, one.level_0, one.runs) for one in count_runs(ll.sample("paimon").files)]
    [(0, 1, 2)]
    """
    found: dict[tuple[str, int], dict[int, list[int]]] = {}
    for content, partition, bucket, level, size in files.pick(
        "content", "partition", "bucket", "level", "size_bytes"
    ):
        if content == "data":
            levels = found.setdefault((partition or "", bucket or 0), {})
            levels.setdefault(level or 0, []).append(size or 0)
    counted = []
    for (partition, bucket), levels in sorted(found.items()):
        level_0 = len(levels.get(0, ()))
        runs = level_0 + sum(level != 0 for level in levels)
        sizes = [size for sizes in levels.values() for size in sizes]
        counted.append(BucketRuns(partition, bucket, level_0, runs, len(sizes), sum(sizes)))
    return tuple(counted)


@dataclass(frozen=True, slots=True)
class SortedRun:
    """Files of one level whose keys do not overlap."""

    level: int
    files: tuple[PaimonDataFile, ...]

    @property
    def size_bytes(self) -> int:
        """All their bytes."""
        return sum(file.size_bytes or 0 for file in self.files)


def list_runs(files: Iterable[PaimonDataFile]) -> list[SortedRun]:
    """List the runs of one bucket, the newest first: level 0 by the newest record in a file, then level by level."""
    levels: dict[int, list[PaimonDataFile]] = {}
    for file in files:
        levels.setdefault(file.level or 0, []).append(file)
    newest = sorted(levels.pop(0, ()), key=lambda file: (-(file.max_sequence_number or 0), file.file_name))
    runs = [SortedRun(0, (file,)) for file in newest]
    return runs + [SortedRun(level, tuple(levels[level])) for level in sorted(levels)]


_LEAST_FULL = 3


class AppendFile(NamedTuple):
    """A file of an append table as a compaction looks at it: what `PaimonDataFile` has under these names, read by column."""

    context: TableContext
    path: str
    partition: str
    bucket: int | None
    total_buckets: int | None
    size_bytes: int | None
    row_count: int | None
    min_sequence_number: int | None
    file_format: str
    extra_files: Sequence[str]

    @property
    def file_name(self) -> str:
        """The name, which is what the path of every file ends with."""
        return self.path.rpartition("/")[2]

    @property
    def footer(self) -> Footer:
        """What the file says of itself. Raises `LakeError` when it cannot be read."""
        return read_footer(self.context.store, self.path, self.file_format, self.size_bytes)


_COLUMNS = (
    *("path", "partition", "bucket", "total_buckets", "size_bytes", "record_count", "min_sequence_number"),
    *("file_format", "extra_files"),
)


def read_append_files(snapshot: PaimonSnapshot) -> list[AppendFile] | None:
    """Read the live files by column; None where they are few, where some are unread, or merge only one by one."""
    from lakelens.model.scan.scan_to_arrow import has_repeats, is_worthwhile, read_batches

    reader = snapshot.make_reader("base", "delta")
    if not is_worthwhile(reader.tasks):
        return None
    scan = reader.plan()
    batches = read_batches(scan, ScanRequest(stats=False, columns=_COLUMNS, identity=True), {})
    is_clean = not has_repeats([batch.identity for batch in batches]) and scan.conclude() and scan.is_whole
    if not batches or not is_clean:
        return None
    found, texts = list[AppendFile](), dict[Any, Any]()  # equal texts of few are one object
    batches.reverse()
    while batches:  # each is let go when its files are made
        columns = [batches[-1].plain[name].to_pylist() for name in _COLUMNS]
        batches.pop()
        release_memory()
        for place in map(_COLUMNS.index, ("partition", "file_format")):
            columns[place] = [texts.setdefault(text, text) for text in columns[place]]
        columns[-1] = [names or () for names in columns[-1]]  # most files have none beside them
        found += map(AppendFile._make, zip(repeat(snapshot.context), *columns, strict=False))
    return found


#: A file of an append table, made or read by column.
Packed = PaimonDataFile | AppendFile
Bin = list[Packed]


class AppendPacker:
    """Packs the files of one append table. `vectors` has the index file of each data file with a deletion vector, by name.

    `ties` is set where files of one size could be packed in another order than the engine's, which depends on hashes.
    """

    def __init__(self, settings: Settings, vectors: Mapping[str, str], is_new: bool) -> None:
        self._settings = settings
        self._vectors = vectors
        self._is_new = is_new
        self.ties = False

    def pack_partition(self, files: Sequence[Packed]) -> list[Bin]:
        """Pack the bins of a partition of a table without buckets."""
        small, known = self._settings.small_size, self._vectors if self._settings.has_vectors else {}
        chosen = [file for file in files if (file.size_bytes or 0) < small or file.file_name in known]
        if not self._settings.has_vectors:
            return self._pack(chosen)
        groups: dict[str, Bin] = {}
        rest: Bin = []
        for file in chosen:
            index = self._vectors.get(file.file_name)
            (rest if index is None else groups.setdefault(index, [])).append(file)
        bins = list(groups.values())
        if self._is_new:
            # groups of files that share index files are joined until a bin is full (2.0)
            groups_by_size = sorted(bins, key=lambda group: sum(file.size_bytes or 0 for file in group))
            bins = []
            filling: Bin = []
            for group in groups_by_size:
                filling = filling + group
                if self._is_full(len(filling), sum(file.size_bytes or 0 for file in filling)):
                    bins.append(filling)
                    filling = []
            bins += [filling] if filling else []
        return bins + (self._pack(rest) if len(rest) > 1 else [])

    def _pack(self, files: Sequence[Packed]) -> list[Bin]:
        ordered = sorted(files, key=lambda file: file.size_bytes or 0)
        bins: list[Bin] = []
        filling: Bin = []
        size = 0
        for place, file in enumerate(ordered):
            filling.append(file)
            size += file.size_bytes or 0
            if self._is_full(len(filling), size):
                bins.append(filling)
                filling, size = [], 0
                after = ordered[place + 1 : place + 2]
                self.ties |= bool(after) and after[0].size_bytes == file.size_bytes
        if self._is_new and len(filling) >= self._least:
            return [*bins, filling]
        if filling and bins:
            self.ties |= filling[0].size_bytes == bins[-1][-1].size_bytes
        return bins

    @cached_property
    def _least(self) -> int:
        return self._settings.number("compaction.min.file-num", 5)

    @cached_property
    def _most(self) -> int:
        return self._settings.number("compaction.max.file-num", 50)

    @cached_property
    def _cost(self) -> int:
        return self._settings.read("source.split.open-file-cost", 4 << 20, parse_size)

    def _is_full(self, count: int, size: int) -> bool:
        """Check whether some files of a size are a bin."""
        target = self._settings.target_size
        if self._is_new:
            return count > 1 and size + self._cost * count >= target * 2
        return (size >= target and count >= self._least) or count >= self._most

    def pack_bucket(self, files: Sequence[Packed], is_full: bool) -> list[Bin]:
        """Pack what is compacted of a bucket: one bin or none."""
        ordered = sorted(files, key=lambda file: file.min_sequence_number or 0)
        if not self._is_new:
            # of several files with one first record 0.9 sees one alone: the first
            firsts = {file.min_sequence_number: file for file in reversed(ordered)}
            ordered = [file for file in ordered if firsts[file.min_sequence_number] is file]
        found = self._take_all(ordered) if is_full else self._take_next(ordered)
        return [found] if found else []

    def _take_all(self, files: Sequence[Packed]) -> Bin:
        has_vectors, target = self._settings.has_vectors, self._settings.target_size
        if not files or (not has_vectors and len(files) < _LEAST_FULL):
            return []
        start = next(
            (
                place
                for place, file in enumerate(files)
                if (file.size_bytes or 0) < target or (has_vectors and file.file_name in self._vectors)
            ),
            len(files),
        )
        chosen = list(files[start:])
        if has_vectors:
            return chosen
        small = sum((file.size_bytes or 0) < target for file in chosen)
        return chosen if small > len(chosen) - small and len(chosen) >= _LEAST_FULL else []

    def _take_next(self, files: Sequence[Packed]) -> Bin:
        target, least = self._settings.target_size, self._least
        most = self._settings.number("compaction.max.file-num", 5)
        chosen: Bin = []
        for file in files:
            chosen.append(file)
            size = sum(one.size_bytes or 0 for one in chosen)
            if self._is_new:
                is_done, is_over = len(chosen) >= least, size >= target * 2
            else:
                is_over = size >= target
                is_done = (is_over and len(chosen) >= least) or len(chosen) >= most
            if is_done:
                return chosen
            if is_over:
                chosen.pop(0)
        return []


# Which sorted runs of a bucket the next compaction takes.
#
#     size amplification   all runs, where the newer ones together are more than 200 % of the oldest
#     size ratio           the newest run, and each next one that is not more than 1 % larger than all before it
#     number of runs       as many of the newest as bring the bucket below the trigger, and those of the size ratio
#     level 0              where rows are looked up by compactions: whatever is at level 0 otherwise
#
# Nothing happens below `num-sorted-run.compaction-trigger` runs, but for the last rule and
# `compaction.optimization-interval`. Follows `UniversalCompaction`, `ForceUpLevel0Compaction` and `CompactStrategy` of
# Paimon 0.9 and 2.0.


@dataclass(frozen=True, slots=True)
class Unit:
    """The newest `count` runs of a bucket, which become level `level`; `why` says by which rule."""

    count: int
    level: int
    why: str


def pick_unit(runs: Sequence[SortedRun], levels: int, settings: Settings, is_new: bool) -> Unit | None:
    """Give the next pick by the table's own settings; None where nothing is compacted.

    >>> from types import SimpleNamespace as File
    >>> runs = [SortedRun(0, (File(size_bytes=10),)) for _ in range(5)]
    >>> pick_unit(runs, 6, Settings({}, True), False)
    Unit(count=5, level=5, why='size amplification: 400 % of 200 %')
    """
    found = _pick(runs, levels, settings, is_new)
    if found is None and settings.needs_lookup:
        count = sum(run.level == 0 for run in runs)
        if count:
            why = "level 0 is never left behind: rows are looked up"
            found = _grow(runs, levels, count, True, settings, is_new, why)
    if found is None or not found.count:
        return None
    taken = [file for run in runs[: found.count] for file in run.files]
    is_moved = len(taken) > 1 or runs[0].level != found.level
    return found if is_moved else None


def pick_full(runs: Sequence[SortedRun], levels: int) -> Unit | None:
    """Pick all runs, to the highest level; None where all files are there already."""
    if not runs or (len(runs) == 1 and runs[0].level == levels - 1):
        return None
    return Unit(len(runs), levels - 1, "full: all files to the highest level")


def _pick(runs: Sequence[SortedRun], levels: int, settings: Settings, is_new: bool) -> Unit | None:
    if not runs:
        return None
    if settings.read("compaction.optimization-interval", None, parse_span) is not None:
        return Unit(len(runs), levels - 1, "compaction.optimization-interval: a new writer takes all")
    trigger = settings.trigger
    if len(runs) < trigger:
        return None
    newer, oldest = sum(run.size_bytes for run in runs[:-1]), runs[-1].size_bytes
    most = settings.number("compaction.max-size-amplification-percent", 200)
    if newer * 100 > most * oldest:
        percent = f"{newer * 100 // oldest:,}" if oldest else "more than 100"
        return Unit(len(runs), levels - 1, f"size amplification: {percent} % of {most} %")
    found = _grow(runs, levels, 1, False, settings, is_new, "size ratio")
    if found is None and len(runs) > trigger:
        count = len(runs) - trigger + 1
        found = _grow(runs, levels, count, False, settings, is_new, f"{len(runs)} runs, more than {trigger}")
    return found


def _grow(
    runs: Sequence[SortedRun],
    levels: int,
    count: int,
    is_forced: bool,
    settings: Settings,
    is_new: bool,
    why: str,
) -> Unit | None:
    """Grow the newest `count` runs, and each next one that is not much larger than all before it."""
    ratio = settings.number("compaction.size-ratio", 1)
    size = sum(run.size_bytes for run in runs[:count])
    is_started = is_forced or count > 1
    for run in runs[count:]:
        is_larger = size * (100.0 + ratio) / 100.0 < run.size_bytes
        if is_larger and (not is_new or not is_started or run.level > 1):
            break
        size += run.size_bytes
        count += 1
        is_started = True
    return _make_unit(runs, levels, count, why) if is_forced or count > 1 else None


def _make_unit(runs: Sequence[SortedRun], levels: int, count: int, why: str) -> Unit:
    """Make the level that is written: below that of the next run, never level 0."""
    level = levels - 1 if count == len(runs) else max(0, runs[count].level - 1)
    if level == 0:
        for run in runs[count:]:
            count += 1
            if run.level != 0:
                level = run.level
                break
    return Unit(count, levels - 1 if count == len(runs) else level, why)


# What a compaction does with the files of some sorted runs: merge them, or only raise their level.
#
#     sections    files by their keys; those whose keys overlap are merged
#     small       a file without overlap below 7/10 of `target-file-size` is rewritten with its neighbours
#     large       one that is larger only changes its level, unless it holds deletes and goes to the highest level
#
# A changelog producer that looks rows up may have to rewrite a file all the same. Follows `MergeTreeCompactTask`,
# `IntervalPartition`, `LookupMergeTreeCompactRewriter` and `FullChangelogMergeTreeCompactRewriter` of Paimon 0.9 and 2.0.


@dataclass
class MergeTask:
    """One compaction of a bucket: files that are merged together, those that only change their level, those left alone.

    `changelogs` are the groups whose merge makes a changelog too.
    """

    level: int
    drops_deletes: bool
    merged: list[list[PaimonDataFile]] = field(default_factory=list)
    raised: list[PaimonDataFile] = field(default_factory=list)
    left: list[PaimonDataFile] = field(default_factory=list)
    changelogs: list[list[PaimonDataFile]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not self.merged and not self.raised


class MergePlanner:
    """Plans compactions of the buckets of one table. `vectors` are the names of data files with a deletion vector."""

    def __init__(self, settings: Settings, vectors: frozenset[str], is_new: bool) -> None:
        self.settings = settings
        self._vectors = vectors
        self._is_new = is_new
        self._has_sequence = settings.read("sequence.field", "", str).strip() != ""

    def plan(self, runs: Sequence[SortedRun], taken: int, level: int, levels: int) -> MergeTask:
        """Plan the compaction of the newest `taken` runs to a level."""
        highest = max(run.level for run in runs)
        drops = level != 0 and (level >= highest or self.settings.has_vectors)
        task = MergeTask(level, drops)
        files = [file for run in runs[:taken] for file in run.files]
        waiting: list[list[PaimonDataFile]] = []
        for section in list_sections(files):
            if _overlaps(section):
                waiting.append(section)
                continue
            for file in section:
                if (file.size_bytes or 0) < self.settings.small_size:
                    waiting.append([file])
                    continue
                self._merge(task, waiting, levels)
                self._raise(task, file, levels)
        self._merge(task, waiting, levels)
        return task

    def plan_alone(self, files: Sequence[PaimonDataFile], level: int) -> MergeTask:
        """Plan each file rewritten for itself: those of the highest level that have deletion vectors (2.0)."""
        return MergeTask(level, True, merged=[[file] for file in files])

    def _merge(self, task: MergeTask, waiting: list[list[PaimonDataFile]], levels: int) -> None:
        """Merge what waits; a single file without overlap is raised instead."""
        if len(waiting) == 1 and not _overlaps(waiting[0]):
            for file in waiting[0]:
                self._raise(task, file, levels)
        elif waiting:
            self._rewrite(task, [file for section in waiting for file in section], levels)
        waiting.clear()

    def _rewrite(self, task: MergeTask, files: list[PaimonDataFile], levels: int) -> None:
        task.merged.append(files)
        producer = self.settings.producer
        is_full = producer == "full-compaction" and task.level == self.settings.levels - 1
        looks_up = producer == "lookup" and any((file.level or 0) == 0 for file in files)
        if is_full or (looks_up and task.level):
            task.changelogs.append(files)

    def _raise(self, task: MergeTask, file: PaimonDataFile, levels: int) -> None:
        if file.level == task.level:
            if self._is_new and file.file_name in self._vectors:
                self._rewrite(task, [file], levels)
            else:
                task.left.append(file)
        elif task.level == levels - 1 and file.delete_row_count != 0:
            self._rewrite(task, [file], levels)  # deletes must not reach the highest level
        elif self._must_rewrite(file, task.level):
            self._rewrite(task, [file], levels)
        else:
            task.raised.append(file)
            if self._makes_changelog(file, task.level):
                task.changelogs.append([file])

    def _must_rewrite(self, file: PaimonDataFile, level: int) -> bool:
        """Check whether a file of level 0 is rewritten, since older rows must be looked up for its rows."""
        if (
            not (self.settings.producer != "full-compaction" and self.settings.needs_lookup)
            or file.level != 0
        ):
            return False
        if self.settings.has_vectors and file.delete_row_count != 0:
            return True
        if level == self.settings.levels - 1:
            return False
        return self.settings.engine != "deduplicate" or self._has_sequence

    def _makes_changelog(self, file: PaimonDataFile, level: int) -> bool:
        producer = self.settings.producer
        if producer == "full-compaction":
            return level == self.settings.levels - 1
        return producer == "lookup" and file.level == 0


def _overlaps(section: Sequence[Any]) -> bool:
    """Check whether files of a section share keys: a section of one file does not."""
    return len(section) > 1
