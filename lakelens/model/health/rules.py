"""What a format says of a table's health: its limits, its calls, and the figures that only it has.

This is a format that says nothing: its tables have figures of files, partitions and columns, and limits of lakelens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lakelens.model.health.measure import Call, DocumentPart, DocumentParts, Limit, Measure, Need, Source
from lakelens.model.scan.splits import SplitFigure, read_figure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.model.health.figures import FileFigures
    from lakelens.model.health.reach import Reach
    from lakelens.model.schema import PartitionSpec
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table

    Numbers = NDArray[np.int64]

MIB = 1 << 20
#: A property that says more is nobody's limit, and would be too much for sums.
MOST_NUMBER = 1 << 56


class HealthRules:
    """The rules of one state of a table. `snapshot` is None before the first commit."""

    #: columns of files that the format's own figures are made of
    columns: Sequence[str] = ()
    #: leaf columns that delete files have bounds of
    delete_leaves: Sequence[str] = ()
    #: whether metadata says how many rows and which values a file holds; else its footer would have to be read
    has_records = True
    #: where no call helps
    without_help: tuple[Call, ...] = ()
    #: whether the number of files that a rewrite makes is known where each group becomes one
    joins_exactly = True
    #: what a rewrite joins files within
    group_noun = "partition"
    #: what says why no statement is given
    without_calls = "no procedure joins the files of this format"

    def __init__(self, table: Table, snapshot: Snapshot | None) -> None:
        self.table = table
        self.snapshot = snapshot

    @property
    def specs(self) -> Sequence[PartitionSpec]:
        """Every way in which files are divided."""
        return self.table.specs

    @property
    def file_size(self) -> Limit:
        """How large a data file has to be: a share of what writers aim at."""
        return Limit(0.75 * 128 * MIB, "≥", "lakelens", "75 % of 128 MiB, a block of HDFS")

    @property
    def target_size(self) -> int:
        """How large writers make a file."""
        return 128 * MIB

    @property
    def small_files(self) -> Limit:
        """How many files below that size a partition may have."""
        return Limit(5, "<", "lakelens")

    def group(self, figures: FileFigures) -> tuple[Numbers, int]:
        """For each file the number of the group within which a rewrite joins files, and how many groups there are."""
        return figures.partition, len(figures.partitions)

    def name_group(self, figures: FileFigures, place: int) -> str:
        """The name of the group that a file belongs to."""
        return str(figures.partitions[int(figures.partition[place])])

    def name_buckets(self, figures: FileFigures) -> tuple[list[str], Numbers] | None:
        """The buckets, and for each file the number of its own (-1: none); None where rows are in no buckets."""
        import numpy as np

        numbers = figures.numbers("bucket")
        known = np.unique(numbers[numbers >= 0])
        if len(known) < 2:
            return None
        places = np.searchsorted(known, numbers)
        return [str(number) for number in known.tolist()], np.where(numbers >= 0, places, -1)

    def join_files(self, counts: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
        """What a rewrite makes of small files, partition by partition: how many it takes, and into how many it joins them.

        Parameters
        ----------
        counts, sizes
            For each partition (of Paimon: bucket) how many files are too small, and their bytes.
        """
        import numpy as np

        return np.zeros_like(counts), np.zeros_like(counts)

    def call_join(self, figures: FileFigures) -> tuple[Call, ...]:
        """The statements that join small files; none where the format has none."""
        return ()

    def explain_no_call(self, figures: FileFigures) -> str:
        """Why no statement joins small files."""
        return self.without_calls

    def advise_coarser(self, figures: FileFigures) -> tuple[str, tuple[Call, ...]]:
        """What coarser partitions would hold, where no rewrite makes files large enough, and the statement for it."""
        return "", ()

    @property
    def sort_column(self) -> tuple[str, str] | None:
        """The column that rows are sorted by first, and in which words: "sort order", "primary key"; None where none is."""
        return None

    def call_sort(self, column: str) -> tuple[Call, ...]:
        """The statements that sort what is there by the table's order."""
        return ()

    def explain_absence(self, column: str, file_format: str) -> str:
        """Why files have no bounds of a column, as far as properties say it."""
        return ""

    def find_reach(self, figures: FileFigures) -> Reach | None:
        """Which deletes reach which files; None where the format has no deletes beside data files."""
        return None

    def measure(
        self, figures: FileFigures, reach: Reach | None, documents: DocumentParts
    ) -> Iterable[Measure]:
        """The figures that only this format has: deletes, levels, manifests and other metadata."""
        return ()

    def list_parts(self) -> Iterable[DocumentPart]:
        """What the metadata is made of: its documents, and their parts as they stand in them."""
        return ()

    def list_needs(self, figures: FileFigures) -> Iterable[Need]:
        """What a reader of the table must know, the most demanding first."""
        return ()

    def list_limits_of_sight(self) -> Iterable[str]:
        """What does not apply to the format, or cannot be known from what it keeps, as sentences."""
        return ()


def read_number(
    name: str, key: str, default: int, properties: Mapping[str, str], parse: object = int
) -> SplitFigure:
    """A number among properties, as far as whole numbers of 64 bits can be reckoned with; see `read_figure`.

    >>> read_number("size", "k", 5, {"k": "9" * 40}).value == MOST_NUMBER, read_number("size", "k", 5, {}).is_default
    (True, True)
    """
    figure = read_figure(name, key, default, properties, parse)
    return replace(figure, value=min(figure.value, MOST_NUMBER))


def name_source(figure: SplitFigure) -> Source:
    """Whose a figure is: a property of the table sets it, or the engine's default."""
    return "default" if figure.is_default else "property"


def quote(text: str) -> str:
    r"""A text as a literal of Spark SQL.

    >>> quote("db.t'1")
    "'db.t\\'1'"
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def quote_name(name: str) -> str:
    """A table's name of one or more parts as Spark SQL has it: with backticks where a part needs them.

    >>> quote_name("shop.orders"), quote_name("shop.a-b")
    ('shop.orders', 'shop.`a-b`')
    """
    parts = name.split(".")
    plain = (part.isascii() and part.isidentifier() for part in parts)
    return ".".join(
        part if is_plain else "`" + part.replace("`", "``") + "`"
        for part, is_plain in zip(parts, plain, strict=True)
    )
