"""Whether a table is well: its figures against its own limits, whose limits these are, and the calls that would help.

No figure stands without its parts, and no advice is given that cannot work. Ages are measured from the table's newest
commit, not from the clock: the health of a table that nobody writes to does not change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from lakelens import display
from lakelens.analysis.health.clustering import Clustering
from lakelens.analysis.health.columns import measure_clustering, measure_columns
from lakelens.analysis.health.files import measure_files
from lakelens.analysis.health.parts import Parts
from lakelens.caching import cached_property
from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.model.collections import Tabular
from lakelens.model.finding import Findings
from lakelens.model.health.figures import FileFigures
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

    from lakelens.model.health.reach import Reach
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table
    from lakelens.views.render.plot import Plot

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
        self.figures = FileFigures(
            table._empty_files if snapshot is None else snapshot.files,
            rules.columns,
            _list_first(rules),
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
        return display.plot_health(self, figsize)

    def __repr__(self) -> str:
        first = f"; first {self.calls[0].name}: {self.calls[0].why}" if len(self.calls) else ""
        return f"<Health of {self.name}: {self.format_verdicts()}{first}>"


def _list_first(rules: HealthRules) -> list[str]:
    """The columns whose bounds matter most: those that order or divide rows."""
    sort = rules.sort_column
    return [
        *([sort[0]] if sort else []),
        *(field.source_name for spec in rules.specs for field in spec.fields),
    ]


def measure_health(table: Table, snapshot: Any = None) -> Health:
    """The health of a table: see `Table.health`."""
    chosen = table.current if snapshot is None else table.snapshot(snapshot)
    return Health(table, chosen, make_health_rules(table, chosen))
