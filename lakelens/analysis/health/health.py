"""Whether a table is well: its figures against its own limits, whose limits these are, and the calls that would help.

No figure stands without its parts, and no advice is given that cannot work. Ages are measured from the table's newest
commit, not from the clock: the health of a table that nobody writes to does not change.

Sizes of files are measured against what writers aim at, small files by partition, and how unlike partitions and buckets are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from lakelens import display
from lakelens.analysis.explain.levels import Planning, plan_worst
from lakelens.analysis.health.clustering import Clustering, measure_clustering, measure_columns
from lakelens.caching import cached_property
from lakelens.display import Displayable, Named
from lakelens.errors import LakeError
from lakelens.model.arrow import text_array
from lakelens.model.collections import Rows, Tabular
from lakelens.model.facts.traits import format_size
from lakelens.model.finding import Findings
from lakelens.model.measures.figures import FileFigures, sum_groups
from lakelens.model.measures.measure import (
    GROUPS,
    Call,
    Calls,
    DocumentParts,
    Limit,
    Measure,
    Measures,
    Needs,
    Verdict,
    count,
)
from lakelens.model.measures.rules import HealthRules, find_rewriting, make_health_rules

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.model.measures.figures import FileFigures, Reach
    from lakelens.model.measures.rules import HealthRules
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table
    from lakelens.views.render.plot import Plot

    Numbers = NDArray[np.int64]


_SKEW = Limit(4, "≤", "lakelens")
# fewer have no median to speak of
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class SmallFiles:
    """The files below the size that the table aims at, in the groups in which a rewrite joins files.

    `counts` and `sizes` are theirs by group, `held` the bytes of all data files by group; of them a rewrite takes `taken`
    and makes `made`. `name` names the group of a file.
    """

    groups: Numbers
    counts: Numbers
    sizes: Numbers
    held: Numbers
    taken: Numbers
    made: Numbers
    name: Callable[[int], str]

    @property
    def fewer(self) -> int:
        """How many files fewer there are after a rewrite."""
        return int(self.taken.sum() - self.made.sum())


def find_small(figures: FileFigures, rules: HealthRules) -> SmallFiles:
    """Find the small files of each group."""
    grouped = rules.group(figures)
    groups, sizes, number = grouped.numbers[figures.data], figures.sizes[figures.data], grouped.count
    small = sizes < rules.file_size.value
    counts = sum_groups(groups[small], number)
    held_small = sum_groups(groups[small], number, sizes[small])
    taken, made = rules.join_files(counts, held_small)
    held = sum_groups(groups, number, sizes)
    return SmallFiles(groups, counts, held_small, held, taken, made, grouped.name)


def measure_files(figures: FileFigures, rules: HealthRules) -> Iterator[Measure]:
    """Measure the figures of data files."""
    if not len(figures.data):
        return
    small = find_small(figures, rules)
    yield _measure_median(figures, rules, small)
    yield _measure_small(figures, rules, small)
    if len(figures.partitions) >= _FEWEST:
        held = figures.sum_by_partition(figures.data, figures.sizes[figures.data])
        yield from _measure_skew("partition", held, lambda place: str(figures.partitions[place]))
    found = rules.number_buckets(figures)
    if found is not None:
        names, numbers = found
        chosen = figures.data[numbers[figures.data] >= 0]
        held = sum_groups(numbers[chosen], len(names), figures.sizes[chosen])
        yield from _measure_skew("bucket", held, names.__getitem__)


def _measure_median(figures: FileFigures, rules: HealthRules, small: SmallFiles) -> Measure:
    """Measure the median size, and whether a rewrite can reach what it is compared with."""
    import numpy as np

    limit = rules.file_size
    median = float(np.median(figures.sizes[figures.data]))
    if limit.keeps(median):
        return Measure("file size, median", "files", median, "bytes", limit)
    held = small.held[small.held > 0]
    reached = float(np.median(held)) if len(held) else 0.0
    advice, calls = "", rules.call_join(figures)
    if reached < limit.value:
        noun = f"{rules.group_noun}s" if len(held) > 1 else "table"
        what = f"the {noun} {'hold' if len(held) > 1 else 'holds'} {format_size(reached)}"
        advice = f"no rewrite reaches it: {what}{' in the median' if len(held) > 1 else ' in all'}"
        coarser, calls = rules.advise_coarser(figures)
        advice += f"; {coarser}" if coarser else ""
        if not calls:
            # small files that could be joined are a measure of their own; this one asks for what the table cannot have
            why = f"{limit.compared_with or limit.source} {format_size(round(limit.value))}, which it is too small for"
            limit = replace(limit, value=median, compared_with=why)
    elif not calls:
        advice = rules.explain_no_call(figures)
    elif small.fewer > 0:
        advice = f"{_say_joined(small, rules)}"
    else:
        advice, calls = "no rewrite takes them: too few small files are together", ()
    return Measure("file size, median", "files", median, "bytes", limit, advice, calls)


def _measure_small(figures: FileFigures, rules: HealthRules, small: SmallFiles) -> Measure:
    """Measure the most small files that one partition has, and what a rewrite makes of all of them."""
    import numpy as np

    limit = rules.small_files
    worst = int(np.argmax(small.counts))
    value = int(small.counts[worst])
    name = f"small files in a {rules.group_noun}, worst"
    first = figures.data[np.flatnonzero(small.groups == worst)[0]] if value else None
    place = "" if first is None else small.name(int(first))
    if limit.keeps(value):
        return Measure(name, "files", value, "files", limit, place=place)
    calls = rules.call_join(figures) if small.fewer > 0 else ()
    advice = _say_joined(small, rules) if calls else rules.explain_no_call(figures)
    return Measure(name, "files", value, "files", limit, advice, calls, place)


def _say_joined(small: SmallFiles, rules: HealthRules) -> str:
    """Say how many files fewer a rewrite leaves; exactly, where each group becomes one file."""
    import numpy as np

    is_exact = rules.joins_exactly and bool((small.made <= 1).all())
    many = int(np.count_nonzero(small.taken))
    taken, made = int(small.taken.sum()), int(small.made.sum())
    about = "" if is_exact else "about "
    where = f" of {count(many, rules.group_noun)}" if len(small.counts) > 1 else ""
    return f"{about}{count(small.fewer, 'file')} fewer: {taken:,} small ones{where} into {about}{made:,}"


def _measure_skew(noun: str, held: Numbers, name: object) -> Iterator[Measure]:
    """Measure the largest part beside the median one."""
    import numpy as np

    known = held[held > 0]
    if len(known) < 2:
        return
    worst, median = int(np.argmax(held)), float(np.median(known))
    value = float(held[worst]) / median
    beyond = int(np.count_nonzero(held > _SKEW.value * median))
    advice, place = "", name(worst)  # type: ignore[operator]
    if not _SKEW.keeps(value):
        alone = "alone" if beyond == 1 else f"and {count(beyond - 1, 'more', 'more')}"
        size = format_size(int(held[worst]))
        advice = f"{place} {alone}: {size}; no call helps, rows are where their values put them"
    yield Measure(f"bytes a {noun}, worst ÷ median", "files", value, "times", _SKEW, advice, (), place)


def list_quantities(figures: FileFigures, groups: Numbers, number: int, places: Numbers) -> Sequence[Numbers]:
    """Files, bytes and rows of some files by group."""
    chosen = groups[places]
    return (
        sum_groups(chosen, number),
        sum_groups(chosen, number, figures.sizes[places]),
        sum_groups(chosen, number, figures.rows[places]),
    )


# The parts that the figures of a table's health are made of: by partition, by bucket, by column, by document.


class PartRows(Rows):
    """What one part has a row of: a partition, a bucket."""

    def __init__(self, table: pa.Table, noun: str) -> None:
        super().__init__(table)
        self.noun = noun

    def __repr__(self) -> str:
        return f"<PartRows {len(self)} {self.noun}{'s' * (len(self) != 1)}>"

    def list_largest(self, name: str, most: int) -> list[dict[str, object]]:
        """List the rows with the largest values of a column, the largest first."""
        import pyarrow.compute as pc

        order = pc.select_k_unstable(self._table, min(most, len(self)), [(name, "descending")])
        listed: list[dict[str, object]] = self._table.take(order).to_pylist()
        return sorted(listed, key=lambda row: -row[name])  # type: ignore[operator]

    def sum(self, name: str) -> int:
        """Give the sum of a column."""
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
        """Measure every figure, group by group."""
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
        """Measure the figures that only the table's format has."""
        for measure in self.rules.measures:
            yield from measure(self.figures, self.reach, self.parts.documents)

    def _try(self, make: Callable[[], T], default: T, what: str) -> T:
        """Say what can be measured; damage is said, and does not stop the rest."""
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

    @cached_property
    def planning(self) -> Planning | None:
        """What planning a query for one partition value reads; None where writing the manifests again would not help."""
        rewriting = find_rewriting(self.table, self.snapshot)
        if rewriting is None or self.snapshot is None:
            return None
        figures = self.figures
        own = figures.data[figures.numbers("spec_id")[figures.data] == rewriting.spec.id]
        counts = figures.sum_by_partition(own).tolist()
        names = [field.name for field in rewriting.spec.fields]
        partitions: Counter[tuple[Any, ...]] = Counter()
        for partition, number in zip(figures.partitions, counts, strict=True):
            if number:
                partitions[tuple(map(partition.get, names))] += number
        manifests = [manifest for manifest in self.snapshot.manifests if manifest.content == "data"]
        return self._try(lambda: plan_worst(rewriting, manifests, partitions), None, "planning")

    @property
    def findings(self) -> Findings:
        """What is wrong with the table, as far as reading it for its health has shown."""
        return self.table.findings

    @cached_property
    def gaps(self) -> tuple[str, ...]:
        """What could not be measured or does not apply, as sentences."""
        unread = [finding for finding in self.findings if finding.severity == "error"]
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
        return next(
            measure for measure in self.measures if best in (call.statement for call in measure.statements)
        )

    def format_verdicts(self) -> str:
        """Say how many figures there are to act on, to watch, and good.

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
    """Measure the health of a table: see `Table.health`."""
    chosen = table.current if snapshot is None else table.snapshot(snapshot)
    return Health(table, chosen, make_health_rules(table, chosen))
