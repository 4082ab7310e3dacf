"""Whether a table is well: its figures against its own limits, whose limits these are, and the calls that would help.

No figure stands without its parts, and no advice is given that cannot work. Ages are measured from the table's newest
commit, not from the clock: the health of a table that nobody writes to does not change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast

from lakelens import display
from lakelens.analysis.health.clustering import Clustering, measure_clustering, measure_columns
from lakelens.analysis.health.files import list_quantities, measure_files
from lakelens.caching import cached_property
from lakelens.display import Displayable, Named
from lakelens.errors import LakeError
from lakelens.model.arrow import text_array
from lakelens.model.collections import Rows, Tabular
from lakelens.model.finding import Findings
from lakelens.model.health.figures import FileFigures, sum_groups
from lakelens.model.health.measure import (
    GROUPS,
    Call,
    Calls,
    DocumentParts,
    Measure,
    Measures,
    Needs,
    Verdict,
)
from lakelens.model.health.rules import HealthRules, make_health_rules

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.health.figures import Reach
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table
    from lakelens.views.render.plot import Plot


# The parts that the figures of a table's health are made of: by partition, by bucket, by column, by document.


class PartRows(Rows):
    """What one part has a row of: a partition, a bucket."""

    def __init__(self, table: pa.Table, noun: str) -> None:
        super().__init__(table)
        self.noun = noun

    def __repr__(self) -> str:
        return f"<PartRows {len(self)} {self.noun}{'s' * (len(self) != 1)}>"

    def list_largest(self, name: str, most: int) -> list[dict[str, object]]:
        """The rows with the largest values of a column, the largest first."""
        import pyarrow.compute as pc

        order = pc.select_k_unstable(self._table, min(most, len(self)), [(name, "descending")])
        listed: list[dict[str, object]] = self._table.take(order).to_pylist()
        return sorted(listed, key=lambda row: -row[name])  # type: ignore[operator]

    def sum(self, name: str) -> int:
        """The sum of a column."""
        import pyarrow.compute as pc

        return int(pc.sum(self._table[name]).as_py() or 0)


class Parts(Named):
    """The parts of a table's health, each with its own `to_arrow`.

    `partitions` has a row for each partition: `partition`, `files`, `record_count`, `size_bytes`, `small_files`,
    `manifests`, and where the format has deletes `delete_files` and `deleted_rows`. `buckets` is None where rows are in no
    buckets; its `bucket` is over all partitions. `columns` says how well files separate values, `documents` what makes the
    metadata large.
    """

    def __init__(
        self,
        figures: FileFigures,
        rules: HealthRules,
        reach: Reach | None,
        columns: Clustering,
        documents: DocumentParts,
    ) -> None:
        self._figures, self._rules, self._reach = figures, rules, reach
        self.columns = columns
        self.documents = documents

    @cached_property
    def partitions(self) -> PartRows:
        """One row for each partition, in the order in which manifests name them."""
        import numpy as np
        import pyarrow as pa

        figures, count = self._figures, len(self._figures.partitions)
        files, sizes, rows = list_quantities(figures, figures.partition, count, figures.data)
        small = figures.data[figures.sizes[figures.data] < self._rules.file_size.value]
        columns = {
            "partition": text_array(figures.partition_names),
            "files": files,
            "record_count": rows,
            "size_bytes": sizes,
            "small_files": figures.sum_by_partition(small),
            "manifests": figures.manifests_by_partition,
        }
        if self._reach is not None:
            columns["delete_files"] = self._reach.by_partition
            columns["deleted_rows"] = self._reach.rows_by_partition
        if not self._rules.has_records:
            del columns["record_count"]
        made = {
            name: one if name == "partition" else pa.array(np.asarray(one), pa.int64())
            for name, one in columns.items()
        }
        return PartRows(pa.table(made), "partition")

    @cached_property
    def buckets(self) -> PartRows | None:
        """One row for each bucket, over all partitions; None where rows are in no buckets, or in one."""
        import pyarrow as pa

        figures, found = self._figures, self._rules.number_buckets(self._figures)
        if found is None:
            return None
        names, numbers = found
        chosen = figures.data[numbers[figures.data] >= 0]
        files, sizes, rows = list_quantities(figures, numbers, len(names), chosen)
        small = chosen[figures.sizes[chosen] < self._rules.file_size.value]
        columns = {
            "bucket": pa.array(names, pa.string()),
            "files": pa.array(files, pa.int64()),
            "record_count": pa.array(rows, pa.int64()),
            "size_bytes": pa.array(sizes, pa.int64()),
            "small_files": pa.array(sum_groups(numbers[small], len(names)), pa.int64()),
        }
        if not self._rules.has_records:
            del columns["record_count"]
        return PartRows(pa.table(columns), "bucket")

    def __repr__(self) -> str:
        words = [f"{len(self._figures.partitions):,} partitions"]
        words += [f"{len(self.buckets):,} buckets"] if self.buckets is not None else []
        words += [f"{len(self.columns):,} columns", f"{len(self.documents):,} parts of documents"]
        return f"<Parts {', '.join(words)}>"


T = TypeVar("T")


class Health(Tabular, Displayable):
    """The answer of `Table.health`.

    `measures` are the figures, `calls` the statements that help, the most worth first, `parts` what the figures are made of,
    `who_can_read` what a reader of the table must know. `gaps` are what could not be measured, or does not apply.
    """

    def __init__(self, table: Table, snapshot: Snapshot | None, rules: HealthRules) -> None:
        self.table = table
        self.name = table.name
        self.snapshot = snapshot
        self.rules = rules
        self._gaps: list[str] = []
        # the columns whose bounds matter most: those that order or divide rows
        sort = rules.sort_column
        self.figures = FileFigures(
            table._empty_files if snapshot is None else snapshot.files,
            rules.columns,
            [
                *([sort[0]] if sort else []),
                *(field.source_name for spec in rules.specs for field in spec.fields),
            ],
            rules.delete_leaves,
            rules.has_records,
        )
        self.reach: Reach | None = self._try(lambda: rules.find_reach(self.figures), None, "deletes")
        columns = self._try(lambda: measure_clustering(self.figures, rules), Clustering(), "bounds")
        documents = self._try(lambda: DocumentParts(rules.list_parts()), DocumentParts(), "metadata")
        self.parts = Parts(self.figures, rules, self.reach, columns, documents)
        self.measures = Measures(self._measure())
        self.who_can_read: Needs = self._try(lambda: Needs(rules.list_needs(self.figures)), Needs(), "needs")

    def _measure(self) -> Iterator[Measure]:
        """Every figure, group by group."""
        figures, rules = self.figures, self.rules
        sources: list[tuple[str, Callable[[], Iterable[Measure]]]] = [
            ("files", lambda: measure_files(figures, rules)),
            ("the format's own figures", self._measure_format),
            ("columns", lambda: measure_columns(figures, rules, self.parts.columns)),
        ]
        found: list[Measure] = []
        for what, make in sources:
            found += self._try(lambda make=make: list(make()), [], what)  # type: ignore[misc]
        yield from sorted(found, key=lambda one: GROUPS.index(one.group))

    def _measure_format(self) -> Iterator[Measure]:
        """The figures that only the table's format has."""
        for measure in self.rules.measures:
            yield from measure(self.figures, self.reach, self.parts.documents)

    def _try(self, make: Callable[[], T], default: T, what: str) -> T:
        """What can be measured; damage is said, and does not stop the rest."""
        try:
            return make()
        except LakeError as error:
            self._gaps.append(f"{what}: {error.reason}")
            return default

    @cached_property
    def calls(self) -> Calls:
        """The statements that help, each once: first the one whose figure is the most times beyond its limit.

        Those that `Table.dry_run` can try come before those that change the table's own definition or cannot be tried.
        """
        worth: dict[str, float] = {}
        known: dict[str, Call] = {}
        for measure in self.measures:
            for call in measure.statements if measure.verdict == "act" else ():
                excess = measure.bound.measure_excess(measure.value)
                worth[call.statement] = max(worth.get(call.statement, 0), excess)
                known.setdefault(call.statement, call)
        return Calls(
            known[one] for one in sorted(known, key=lambda one: (not known[one].procedure, -worth[one]))
        )

    @property
    def findings(self) -> Findings:
        """What is wrong with the table, as far as reading it for its health has shown."""
        return self.table.findings

    @cached_property
    def gaps(self) -> tuple[str, ...]:
        """What could not be measured or does not apply, as sentences."""
        unread = [found for found in self.findings if found.severity == "error"]
        said = []
        if unread:
            what = "1 object" if len(unread) == 1 else f"{len(unread):,} objects"
            said.append(f"{what} cannot be read: the figures are of what can")
        if self.figures.left_out:
            names = ", ".join(self.figures.left_out[:3])
            more = f" and {len(self.figures.left_out) - 3:,} more" if len(self.figures.left_out) > 3 else ""
            said.append(f"too many bounds to look at all: those of {names}{more} were left out")
        return (*said, *self._gaps, *self.rules.limits_of_sight)

    @cached_property
    def verdicts(self) -> Counter[Verdict]:
        """How many measures have each verdict."""
        return Counter(measure.verdict for measure in self.measures)

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all measures."""
        worst: tuple[Verdict, ...] = ("act", "watch")
        return next((one for one in worst if self.verdicts[one]), "good")

    @property
    def first(self) -> Measure | None:
        """The measure whose call is worth the most; None where nothing is to be done."""
        if not len(self.calls):
            return None
        best = self.calls[0].statement
        return next(one for one in self.measures if best in (call.statement for call in one.statements))

    def format_verdicts(self) -> str:
        """How many figures there are to act on, to watch, and good.

        >>> import lakelens as ll
        >>> ll.sample("hive").health().format_verdicts()
        '3 good'
        """
        said: tuple[tuple[Verdict, str], ...] = (
            ("act", "to act on"),
            ("watch", "to watch"),
            ("good", "good"),
        )
        words = [f"{self.verdicts[one]:,} {word}" for one, word in said if self.verdicts[one]]
        return ", ".join(words) or "nothing to measure"

    def to_arrow(self) -> pa.Table:
        """The measures: one row for each. What they are made of is in `parts`."""
        return self.measures.to_arrow()

    def plot(self, *, figsize: tuple[float, float] | None = None) -> Plot:
        """Plot the sizes of files against their limit, the largest partitions, deletes, and how well columns are clustered.

        Parameters
        ----------
        figsize
            Width and height in inches.

        Raises
        ------
        Unsupported
            Matplotlib is not installed.
        """
        return cast("Plot", display.call("views.render.plots:plot_health", self, figsize))

    def __repr__(self) -> str:
        first = f"; first {self.calls[0].name}: {self.calls[0].why}" if len(self.calls) else ""
        return f"<Health of {self.name}: {self.format_verdicts()}{first}>"


def measure_health(table: Table, snapshot: Any = None) -> Health:
    """The health of a table: see `Table.health`."""
    chosen = table.current if snapshot is None else table.snapshot(snapshot)
    return Health(table, chosen, make_health_rules(table, chosen))
