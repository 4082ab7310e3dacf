"""The limits of a Paimon table and the procedures that help.

Files below 70 % of the target take part in a compaction (`CoreOptions.compactionFileSize`); of an append table those of a
partition are joined where there are `compaction.min.file-num` of them or where they fill two files
(`AppendCompactCoordinator.SubCoordinator.pack`); of a table with keys those of a bucket, by a full compaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.formats.paimon.health.metadata import (
    list_document_parts,
    list_index_columns,
    measure_indexes,
    measure_metadata,
)
from lakelens.formats.paimon.maintenance.deletion import is_new_engine
from lakelens.formats.paimon.splits import parse_size
from lakelens.model.measures.figures import Reach, sum_groups
from lakelens.model.measures.measure import (
    Call,
    Limit,
    Measure,
    Need,
    count,
    list_file_needs,
    list_type_needs,
)
from lakelens.model.measures.rules import (
    Groups,
    HealthRules,
    group_partitions,
    name_source,
    quote,
    read_number,
)
from lakelens.model.scan.splits import SplitFigure

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.measures.figures import FileFigures
    from lakelens.model.measures.measure import DocumentParts

    Numbers = NDArray[np.int64]


# What a reader of a Paimon table must know: how rows are merged, vectors, row ids, types, file formats, codecs.

_TYPES = {
    "variant": "Paimon 1.0",
    "blob": "Paimon 1.4",
    "vector": "Paimon 1.4",
    "multiset": "",
}


def list_needs(rules: PaimonHealth, figures: FileFigures) -> Iterator[Need]:
    """See `HealthRules.list_needs`."""
    table = rules.table
    options, is_on = table.options, table.context.is_on
    yield Need(f"schema documents of version {table.schema.version}")
    if rules.has_keys:
        engine = str(options.get("merge-engine", "deduplicate"))
        keys = ", ".join(table.primary_keys[:3])
        yield Need(f"merge engine {engine}", f"by {keys}")
        if not table.context.skips_level_0 and (figures.numbers("level") == 0).any():
            waiting = int((figures.numbers("level") == 0).sum())
            yield Need("merging of levels", f"{count(waiting, 'file')} on level 0")
    vectors = [] if rules.snapshot is None else rules.snapshot.index_files
    ranges = sum(len(vector.ranges) for vector in vectors if vector.index_type == "DELETION_VECTORS")
    if ranges:
        kind = "64-bit bitmaps" if is_on("deletion-vectors.bitmap64") else ""
        words = ", ".join(filter(None, (count(ranges, "deletion vector"), kind)))
        yield Need("deletion vectors", words, "Paimon 0.8")
    if is_on("row-tracking.enabled"):
        yield Need("row tracking", "optional for readers", "Paimon 1.3")
    if is_on("data-evolution.enabled"):
        yield Need("data evolution", "files hold different columns of the same rows", "Paimon 1.3")
    defaults = [column.name for column in table.schema.fields if column.write_default is not None]
    if defaults:
        yield Need("default values", ", ".join(defaults[:3]), "Paimon 1.2")
    yield from list_type_needs(table.schema, _TYPES)
    yield from list_file_needs(figures, rules.snapshot)


# Levels of a table with keys: how many sorted runs a bucket has, and how many files wait on level 0.
#
# A file of level 0 is a run of its own, the files of each higher level are one together (`Levels.numberOfSortedRuns`).
# More than `num-sorted-run.compaction-trigger` of them start a compaction (`UniversalCompaction.pick`), more than
# `num-sorted-run.stop-trigger` let writers wait (`MergeTreeCompactManager.shouldWaitForLatestCompaction`).


def count_runs(groups: Numbers, levels: Numbers, number: int) -> Numbers:
    """Count the sorted runs of each bucket.

    >>> import numpy as np
    >>> count_runs(np.array([0, 0, 0, 0, 1]), np.array([0, 0, 5, 5, 5]), 2).tolist()
    [3, 1]
    """
    import numpy as np

    waiting = sum_groups(groups[levels == 0], number)
    above = levels > 0
    width = int(levels.max(initial=0)) + 1
    pairs = np.unique(groups[above] * width + levels[above])
    found: Numbers = waiting + sum_groups(pairs // width, number)
    return found


def measure_levels(
    rules: PaimonHealth, figures: FileFigures, reach: Reach | None, documents: DocumentParts
) -> Iterator[Measure]:
    """Sorted runs against the two triggers, and what batch readers do not see yet."""
    import numpy as np

    if not rules.has_keys or not len(figures.data):
        return
    grouped = rules.group(figures)
    groups, levels = grouped.numbers[figures.data], figures.numbers("level")[figures.data]
    runs = count_runs(groups, levels, grouped.count)
    worst = int(np.argmax(runs))
    value = int(runs[worst])
    place = grouped.name(int(figures.data[np.flatnonzero(groups == worst)[0]]))
    trigger = rules.read("runs", "num-sorted-run.compaction-trigger", 5)
    stop = rules.read("stop", "num-sorted-run.stop-trigger", trigger.value + 3)
    compact = rules.call_compact(figures, "merges the sorted runs of each bucket")
    limit = Limit(trigger.value, "≤", name_source(trigger), trigger.property)
    beyond = int(np.count_nonzero(runs > trigger.value))
    advice = f"compact merges the runs of {count(beyond, 'bucket')}" if beyond else ""
    yield Measure("sorted runs in a bucket, worst", "levels", value, "count", limit, advice, compact, place)
    most = max(stop.value, trigger.value)  # a lower one counts as the other
    limit = Limit(most, "≤", name_source(stop), stop.property)
    waits = int(np.count_nonzero(runs > most))
    advice = f"writers of {count(waits, 'bucket')} wait for a compaction" if waits else ""
    yield Measure(
        "sorted runs until writers wait, worst", "levels", value, "count", limit, advice, compact, place
    )
    if rules.table.context.skips_level_0:
        yield _measure_unseen(rules, figures, levels)


def _measure_unseen(rules: PaimonHealth, figures: FileFigures, levels: Numbers) -> Measure:
    """Measure the files that batch readers leave out until a compaction has taken them."""
    waiting = figures.data[levels == 0]
    rows = int(figures.rows[waiting].sum())
    advice = (
        f"batch readers do not see {count(rows, 'row')} of them before a compaction" if len(waiting) else ""
    )
    calls = rules.call_compact(figures, "takes files from level 0, where batch readers do not look")
    limit = Limit(0, "≤", "lakelens")
    return Measure("files on level 0", "levels", len(waiting), "files", limit, advice, calls)


# Deletion vectors of a Paimon table: how many rows of which files they delete, as the index manifest counts them.

_RATIO = "compaction.delete-ratio-threshold"


def find_reach(rules: PaimonHealth, figures: FileFigures) -> Reach | None:
    """Find which vectors reach which files; None where the table has none and makes none.

    Vectors of an older index manifest have no count of rows: those delete a number that is not known without reading.
    """
    import numpy as np
    import pyarrow as pa

    snapshot = rules.snapshot
    if snapshot is None or not (
        rules.table.context.is_on("deletion-vectors.enabled") or figures.column("path")
    ):
        return None
    indexes = [index for index in snapshot.index_files if index.index_type == "DELETION_VECTORS"]
    ranges = [item for index in indexes for item in index.ranges]
    paths = figures.column("path")
    deletes, known = np.zeros(len(figures.data), np.int64), np.zeros(len(figures.data), np.int64)
    if ranges and paths is not None and len(figures.data):
        names = pa.array([str(path).rsplit("/", 1)[-1] for path in paths.take(figures.data).to_pylist()])
        wanted = pa.array([str(item["data_file"]) for item in ranges])
        places = find_places(wanted, names)
        counts = [item.get("cardinality") for item in ranges]
        rows = np.array([count if isinstance(count, int) and count > 0 else 0 for count in counts], np.int64)
        reached = places >= 0
        deletes = sum_groups(places[reached], len(figures.data))
        known = sum_groups(places[reached], len(figures.data), rows[reached])
    return Reach.add_up(figures, deletes, np.minimum(known, figures.rows[figures.data]), len(ranges))


def find_places(wanted: pa.Array, names: pa.Array) -> Numbers:
    """For each name its place among others; -1 where it is not there."""
    import numpy as np
    import pyarrow.compute as pc

    found = pc.fill_null(pc.index_in(wanted, value_set=names), -1)
    places: Numbers = found.to_numpy(zero_copy_only=False).astype(np.int64)
    return places


def measure_vectors(
    rules: PaimonHealth, figures: FileFigures, reach: Reach | None, documents: DocumentParts
) -> Iterator[Measure]:
    """Measure the share of deleted rows of the worst file, against what makes an append table's compaction take it."""
    import numpy as np

    if reach is None or not len(figures.data):
        return
    shares = reach.known / np.maximum(figures.rows[figures.data], 1)
    worst = int(np.argmax(shares))
    text = rules.table.options.get(_RATIO)
    try:
        ratio, source = (0.2, "default") if text is None else (float(text), "property")
    except ValueError:
        ratio, source = 0.2, "default"
    limit = (
        Limit(0.3, "≤", "lakelens") if rules.has_keys else Limit(ratio, "≤", source, _RATIO)  # type: ignore[arg-type]
    )
    beyond = int(np.count_nonzero(shares > limit.value))
    advice = f"compact writes {count(beyond, 'file')} again without {'its' if beyond == 1 else 'their'} deleted rows"
    paths = figures.column("path")
    place = ""
    if reach.known[worst] and paths is not None:
        place = str(paths[int(figures.data[worst])].as_py()).rsplit("/", 1)[-1]
    calls = rules.call_compact(figures, "writes files again without their deleted rows") if beyond else ()
    value = float(shares[worst])
    name = "deleted rows, worst file"
    yield Measure(name, "deletes", value, "share", limit, advice if beyond else "", calls, place)


_FEWEST_OF_BUCKET = 3
_RESCALED = "files were written for another number of buckets: INSERT OVERWRITE first"


class PaimonHealth:
    """What the rules of one state of a Paimon table are made of."""

    def __init__(self, table: PaimonTable, snapshot: PaimonSnapshot | None) -> None:
        self.table, self.snapshot = table, snapshot

    @property
    def has_keys(self) -> bool:
        """Whether rows are merged by key."""
        return bool(self.table.primary_keys)

    @property
    def group_noun(self) -> str:
        """Files are joined within a bucket, where there are buckets."""
        return "bucket" if self.has_keys or self.table.bucket > 0 else "partition"

    @cached_property
    def columns(self) -> Sequence[str]:
        """What deletion vectors and indexes are matched by, where there are any."""
        has_vectors = self.snapshot is not None and any(
            file.index_type == "DELETION_VECTORS" for file in self.snapshot.index_files
        )
        scaled = ("total_buckets",) if self.table.bucket > 0 else ()
        return tuple(dict.fromkeys((*scaled, *(("path",) if has_vectors else ()), *list_index_columns(self))))

    def read(self, name: str, key: str, default: int, parse: object = int) -> SplitFigure:
        """Read a number among the table's options."""
        return read_number(name, key, default, self.table.options, parse)

    @cached_property
    def _target(self) -> SplitFigure:
        return self.read("target", "target-file-size", (128 if self.has_keys else 256) << 20, parse_size)

    @property
    def target_size(self) -> int:
        """How large writers make a file."""
        return self._target.value

    @property
    def file_size(self) -> Limit:
        """Seven tenths of what writers aim at: below that a compaction takes a file."""
        value = self.target_size // 10 * 7
        return Limit(value, "≥", name_source(self._target), f"70 % of {self._target.property}")

    @cached_property
    def _fewest(self) -> SplitFigure:
        return self.read("fewest", "compaction.min.file-num", 5)

    @property
    def small_files(self) -> Limit:
        """With that many a partition is compacted; of tables with keys nothing says it."""
        if self.has_keys:
            return Limit(5, "<", "lakelens")
        return Limit(self._fewest.value, "<", name_source(self._fewest), self._fewest.property)

    def group(self, figures: FileFigures) -> Groups:
        """Group files of one bucket of one partition; of append tables without buckets those of one partition."""
        import numpy as np

        groups = group_partitions(figures)
        if self.group_noun == "partition":
            return groups
        buckets = figures.numbers("bucket")
        least = int(buckets.min(initial=0))
        width = int(buckets.max(initial=0)) - least + 1
        found, numbers = np.unique(figures.partition * width + buckets - least, return_inverse=True)

        def name(place: int) -> str:
            return "/".join(filter(None, (groups.name(place), f"bucket-{buckets[place]}")))

        return Groups(numbers.astype(np.int64), len(found), name)

    def join_files(self, counts: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
        """Paimon 0.9 takes only what fills a file, or 50 files, of a table without buckets."""
        import numpy as np

        target, fewest = self.target_size, self._fewest.value
        if self.has_keys:
            takes = counts >= 2
        elif self.table.bucket > 0:
            takes = counts >= _FEWEST_OF_BUCKET
        elif is_new_engine(self.table, {}):
            takes = (counts >= fewest) | ((counts > 1) & (sizes >= 2 * target))
        else:
            most = self.read("most", "compaction.max.file-num", 50).value
            takes = ((counts >= fewest) & (sizes >= target)) | (counts >= most)
        made = np.maximum(-(-sizes // target), 1)
        return np.where(takes, counts, 0), np.where(takes, np.minimum(made, counts), 0)

    def call_procedure(self, procedure: str, why: str, *arguments: str, tried: bool = True) -> Call:
        """A call of one of Paimon's procedures."""
        listed = ", ".join((f"table => {quote(self.table.name)}", *arguments))
        return Call(f"CALL sys.{procedure}({listed})", why, procedure if tried else "")

    def call_compact(self, figures: FileFigures, why: str) -> tuple[Call, ...]:
        """`compact`; none where the engine refuses it, because files were written for another number of buckets."""
        return () if self.is_rescaled(figures) else (self.call_procedure("compact", why),)

    def is_rescaled(self, figures: FileFigures) -> bool:
        """Check whether files were written for another number of buckets than the option has."""
        numbers = figures.numbers("total_buckets")[figures.data]
        return self.table.bucket > 0 and bool(((numbers > 0) & (numbers != self.table.bucket)).any())

    def call_join(self, figures: FileFigures) -> tuple[Call, ...]:
        """`compact`."""
        return self.call_compact(figures, "joins small files")

    def explain_no_call(self, figures: FileFigures) -> str:
        """Explain why no compaction helps."""
        return _RESCALED if self.is_rescaled(figures) else "no compaction takes them"

    @cached_property
    def sort_column(self) -> tuple[str, str] | None:
        """The first column of the key, by which the rows of a bucket are in order, or of `clustering.columns`."""
        if self.has_keys:
            names = [column.name for column in self.table.schema.key_columns]
            return (names[0], "primary key") if names else None
        named = self.table.options.get("clustering.columns", "").split(",")[0].strip()
        return (named, "clustering columns") if named else None

    def call_sort(self, column: str) -> tuple[Call, ...]:
        """`compact`, which merges the files of a bucket, or sorts an append table."""
        if self.has_keys:
            return (self.call_procedure("compact", "merges the files of each bucket"),)
        order = ("order_strategy => 'order'", f"order_by => {quote(column)}")
        return (self.call_procedure("compact", "sorts what is there", *order, tried=False),)


def make_rules(table: PaimonTable, snapshot: PaimonSnapshot | None) -> HealthRules:
    """Make the rules of one state of a table: see `HealthRules`."""
    own = PaimonHealth(table, snapshot)
    return HealthRules(
        table,
        snapshot,
        file_size=own.file_size,
        small_files=own.small_files,
        columns=own.columns,
        group=own.group,
        group_noun=own.group_noun,
        join_files=own.join_files,
        joins_exactly=False,
        call_join=own.call_join,
        explain_no_call=own.explain_no_call,
        sort_column=own.sort_column,
        call_sort=own.call_sort,
        find_reach=partial(find_reach, own),
        measures=tuple(
            partial(measure, own)
            for measure in (measure_vectors, measure_levels, measure_metadata, measure_indexes)
        ),
        list_parts=partial(list_document_parts, own),
        list_needs=partial(list_needs, own),
    )
