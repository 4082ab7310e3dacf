"""What a format says of a table's health: its limits, its calls, and the figures that only it has, as one record.

A format's part "health" is a function of a table and a snapshot that makes the record. Whatever it leaves out is what serves
any format: figures of files, partitions and columns, and limits of lakelens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lakelens.model.facts.traits import format_size
from lakelens.model.measures.measure import (
    Call,
    DocumentPart,
    DocumentParts,
    Limit,
    Measure,
    Need,
    Source,
    count,
)
from lakelens.model.scan.splits import SplitFigure, read_figure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.model.manifest import Manifest
    from lakelens.model.measures.figures import FileFigures, Reach
    from lakelens.model.schema import PartitionSpec
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table

    Numbers = NDArray[np.int64]

    #: A measure of a format's own: from the files by column, the reach of deletes, and the parts of the metadata.
    FormatMeasure = Callable[[FileFigures, Reach | None, DocumentParts], Iterable[Measure]]


MIB = 1 << 20
#: A property that says more is nobody's limit, and would be too much for sums.
MOST_NUMBER = 1 << 56
_FILE_SIZE = Limit(0.75 * 128 * MIB, "≥", "lakelens", "75 % of 128 MiB, a block of HDFS")
_SMALL_FILES = Limit(5, "<", "lakelens")


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups within which a rewrite joins files: for each file the number of its own, and the name of a file's group."""

    numbers: Numbers
    count: int
    name: Callable[[int], str]


def group_partitions(figures: FileFigures) -> Groups:
    """Group files by partition."""
    partitions = figures.partitions
    return Groups(
        figures.partition, len(partitions), lambda place: str(partitions[int(figures.partition[place])])
    )


def number_buckets(figures: FileFigures) -> tuple[list[str], Numbers] | None:
    """Name the buckets, and number each file's own (-1: none); None where rows are in no buckets."""
    import numpy as np

    numbers = figures.numbers("bucket")
    known = np.unique(numbers[numbers >= 0])
    if len(known) < 2:
        return None
    places = np.searchsorted(known, numbers)
    return [str(number) for number in known.tolist()], np.where(numbers >= 0, places, -1)


def join_nothing(counts: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
    """Join no files: what a rewrite makes of small files where the format has none."""
    import numpy as np

    return np.zeros_like(counts), np.zeros_like(counts)


@dataclass(frozen=True)
class HealthRules:
    """The rules of one state of a table; `snapshot` is None before the first commit.

    Attributes
    ----------
    file_size, small_files
        How large a data file has to be, a share of what writers aim at; how many smaller ones a group may have.
    columns, delete_leaves
        Columns of files that the format's own figures are made of; leaf columns that delete files have bounds of.
    has_records
        Whether metadata says how many rows and which values a file holds; else its footer would have to be read.
    group, group_noun, number_buckets
        What a rewrite joins files within, and what that is called; the buckets of files.
    join_files, joins_exactly
        What a rewrite makes of small files, from how many each group has and their bytes: how many it takes, and into how
        many it joins them; whether that is known where each group becomes one.
    call_join, explain_no_call, advise_coarser
        The statements that join small files, and why there is none; what coarser partitions would hold where no rewrite
        makes files large enough, with the statement for it.
    sort_column, call_sort
        The column that rows are sorted by first, and in which words ("sort order", "primary key"); the statements that sort.
    find_reach
        Which deletes reach which files; None where the format has no deletes beside data files.
    measures
        The figures that only this format has: deletes, levels, manifests and other metadata.
    list_parts, list_needs
        What the metadata is made of; what a reader of the table must know, the most demanding first.
    limits_of_sight
        What does not apply to the format, or cannot be known from what it keeps, as sentences.
    """

    table: Table
    snapshot: Snapshot | None
    file_size: Limit = _FILE_SIZE
    small_files: Limit = _SMALL_FILES
    columns: Sequence[str] = ()
    delete_leaves: Sequence[str] = ()
    has_records: bool = True
    group: Callable[[FileFigures], Groups] = group_partitions
    group_noun: str = "partition"
    number_buckets: Callable[[FileFigures], tuple[list[str], Numbers] | None] = number_buckets
    join_files: Callable[[Numbers, Numbers], tuple[Numbers, Numbers]] = join_nothing
    joins_exactly: bool = True
    call_join: Callable[[FileFigures], tuple[Call, ...]] = lambda figures: ()
    explain_no_call: Callable[[FileFigures], str] = lambda figures: (
        "no procedure joins the files of this format"
    )
    advise_coarser: Callable[[FileFigures], tuple[str, tuple[Call, ...]]] = lambda figures: ("", ())
    sort_column: tuple[str, str] | None = None
    call_sort: Callable[[str], tuple[Call, ...]] = lambda column: ()
    find_reach: Callable[[FileFigures], Reach | None] = lambda figures: None
    measures: Sequence[FormatMeasure] = ()
    list_parts: Callable[[], Iterable[DocumentPart]] = tuple
    list_needs: Callable[[FileFigures], Iterable[Need]] = lambda figures: ()
    limits_of_sight: Sequence[str] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return make_health_rules, (self.table, self.snapshot)

    @property
    def specs(self) -> Sequence[PartitionSpec]:
        """Every way in which files are divided."""
        return self.table.specs


def make_health_rules(table: Table, snapshot: Snapshot | None) -> HealthRules:
    """Make the rules of one state of a table, as its format has them; those of any format where it has none."""
    rules: HealthRules = table.driver.part("health", HealthRules)(table, snapshot)
    return rules


def read_number(
    name: str, key: str, default: int, properties: Mapping[str, str], parse: object = int
) -> SplitFigure:
    """Read a number among properties, as far as whole numbers of 64 bits can be reckoned with; see `read_figure`.

    >>> read_number("size", "k", 5, {"k": "9" * 40}).value == MOST_NUMBER, read_number("size", "k", 5, {}).is_default
    (True, True)
    """
    figure = read_figure(name, key, default, properties, parse)
    return replace(figure, value=min(figure.value, MOST_NUMBER))


def name_source(figure: SplitFigure) -> Source:
    """Whose a figure is: a property of the table sets it, or the engine's default."""
    return "default" if figure.is_default else "property"


def quote(text: str) -> str:
    r"""Quote a text as a literal of Spark SQL.

    >>> quote("db.t'1")
    "'db.t\\'1'"
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def quote_name(name: str) -> str:
    """Quote a table's name of one or more parts as Spark SQL has it: with backticks where a part needs them.

    >>> quote_name("shop.orders"), quote_name("shop.a-b")
    ('shop.orders', 'shop.`a-b`')
    """
    parts = name.split(".")
    plain = (part.isascii() and part.isidentifier() for part in parts)
    return ".".join(
        part if is_plain else "`" + part.replace("`", "``") + "`"
        for part, is_plain in zip(parts, plain, strict=True)
    )


# How many manifests there are, how well they separate partitions, and whether writing them again helps.

_PER_PARTITION = Limit(4, "≤", "lakelens")


def measure_manifests(
    manifests: Sequence[Manifest], figures: FileFigures, limit: Limit, target: int, calls: tuple[Call, ...]
) -> Iterator[Measure]:
    """Measure the number of manifests, and how many of them name the files of one partition.

    `target` is how large writers make a manifest, `calls` are the statements that write them again; they are given only
    where fewer manifests would do.
    """
    fewest = count_fewest(manifests, target)
    helps: tuple[Call, ...] = ()
    advice = ""
    if not limit.keeps(len(manifests)):
        helps = calls if fewest < len(manifests) else ()
        size = format_size(target)
        advice = (
            f"about {fewest:,} would do, of {size}" if helps else f"no fewer would do: they are of {size}"
        )
    yield Measure("manifests", "metadata", len(manifests), "count", limit, advice, helps)
    yield from _measure_separation(figures, fewest, calls)


def count_fewest(manifests: Iterable[Manifest], target: int) -> int:
    """Count how many manifests of a target size hold the same: at least one for each partitioning and content."""
    sizes: Counter[tuple[int | None, str]] = Counter()
    for manifest in manifests:
        sizes[manifest.spec_id, manifest.content] += max(manifest.size_bytes or 0, 1)
    return sum(-(-size // max(target, 1)) for size in sizes.values())


def _measure_separation(figures: FileFigures, fewest: int, calls: tuple[Call, ...]) -> Iterator[Measure]:
    """In how many manifests the files of one partition are: a reader of the partition opens them all."""
    numbers = figures.manifests_by_partition
    known = numbers[numbers > 0]
    if len(known) < 2:
        return
    mean = float(known.mean())
    worst = int(numbers.argmax())
    advice = ""
    helps: tuple[Call, ...] = ()
    if not _PER_PARTITION.keeps(mean):
        best = max(1.0, fewest / len(known))
        helps = calls if best < _PER_PARTITION.value else ()
        advice = "sorted by partition, each would be in " + (
            "one or two" if helps else f"about {best:,.0f} all the same"
        )
    place = str(figures.partitions[worst])
    name = "manifests that a partition is in, mean"
    yield Measure(name, "metadata", mean, "count", _PER_PARTITION, advice, helps, place)


def list_manifest_parts(manifests: Iterable[Manifest], document: str = "manifests") -> Iterator[DocumentPart]:
    """List the manifests of a state by content: how many, and their bytes."""
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for manifest in manifests:
        counts[manifest.content] += 1
        sizes[manifest.content] += manifest.size_bytes or 0
    for content in counts:
        noun = "delete" if content == "deletes" else content
        yield DocumentPart(document, f"{noun} manifests", counts[content], sizes[content])


def find_emptied(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Find the manifests whose every entry only says that a file is gone."""
    return [
        manifest
        for manifest in manifests
        if manifest.deleted_files_count
        and not manifest.added_files_count
        and not manifest.existing_files_count
    ]


def say_emptied(emptied: Sequence[Manifest]) -> str:
    """Say what becomes of them: `FastAppend` keeps every manifest, the other commits only those with live files."""
    them = "it" if len(emptied) == 1 else "them"
    gone = sum(manifest.deleted_files_count or 0 for manifest in emptied)
    entries = count(gone, "entry", "entries")
    return f"{entries} of files that are gone; the next commit leaves {them} out, unless it is a fast append"


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A rewrite of the manifests of data files: those it takes, their live entries, how many it makes, the call."""

    manifests: Sequence[Manifest]
    entries: int
    outputs: int
    spec: PartitionSpec
    call: Call


def find_rewriting(table: Table, snapshot: Snapshot | None) -> Rewriting | None:
    """Find what a rewrite of the manifests of a state would do; None where none applies, or the format has none."""
    part: Callable[[Table, Snapshot | None], Rewriting | None] = table.driver.part("planning", _find_none)
    return part(table, snapshot)


def _find_none(table: Table, snapshot: Snapshot | None) -> None:
    """A format without a part has no procedure that puts manifests in order."""
