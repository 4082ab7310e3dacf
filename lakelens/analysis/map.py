"""The map of a table: how its files hang together, what a change made new, and the sum of the live rows."""

from __future__ import annotations

from typing import Any

from lakelens.analysis.diff.diff import Diff
from lakelens.analysis.figures import count_by_lists
from lakelens.analysis.trace import TableTrace, Trace
from lakelens.caching import cached_property
from lakelens.display import call
from lakelens.errors import LakeError
from lakelens.model.charts import (
    Beside,
    Box,
    Branch,
    Bucket,
    Chart,
    Drawing,
    Since,
    Tier,
    count_words,
    draw_plain_chart,
    find_live_rows,
)
from lakelens.model.deletes import LiveRows
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table

# of a state whose map is drawn unasked; manifests of many columns are large, however few files they list
_FEW_FILES, _FEW_MANIFESTS, _FEW_BYTES = 500, 100, 4 << 20


class Map(Drawing):
    """How the files of one state of a table hang together, and which of them a change made new.

    `statement` is the SQL of the change, where a trace or the writer knows it. With `counts` False live rows are those that
    are known already, or bounds of them: nothing is read to count them.
    """

    def __init__(
        self, table: Table, since: Since, statement: str | None = None, *, counts: bool = True
    ) -> None:
        self.table, self.since, self.statement, self.counts = table, since, statement, counts

    @property
    def snapshot(self) -> Snapshot | None:
        """The state that is drawn; None before the first commit."""
        return self.since.after

    @cached_property
    def chart(self) -> Chart:
        """All that is drawn, as the format has it."""
        chart: Chart = self.table.driver.part("map", draw_plain_chart)(self.table, self.since)
        return chart

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """The steps of the chain, in the order in which a reader opens them; none of a listed table."""
        return self.chart.tiers

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Every box of every tier."""
        return tuple(self.chart.walk())

    @property
    def bucket(self) -> Bucket | None:
        """The bucket whose levels are drawn; None where there are no levels."""
        return self.chart.bucket

    @property
    def tree(self) -> tuple[Branch, ...]:
        """The directories and files of a listed table."""
        return self.chart.tree

    @property
    def beside(self) -> Beside | None:
        """What is stored elsewhere, beside a listed table: its metastore."""
        return self.chart.beside

    @property
    def new_count(self) -> int:
        """How many files are new."""
        return sum(number for _, number in self.chart.counted_new)

    @cached_property
    def live_rows(self) -> LiveRows | None:
        """The live rows as the cards have them; None before the first commit."""
        if self.snapshot is None:
            return None
        return find_live_rows(self.snapshot) if self.counts else self.snapshot.known_live_rows

    @cached_property
    def total(self) -> str:
        """The sum of the live rows in digits, or why it is not known."""
        rows = self.live_rows
        if rows is None:
            return "none: nothing was committed yet"
        if rows.count is None:
            within = "" if rows.at_most is None else f" ({rows.at_least or 0:,} to {rows.at_most:,})"
            return f"not known{within}: {rows.reason}"
        if rows.recorded is None:
            return f"{rows.count:,}"
        parts = self.chart.stored
        stored = (
            " + ".join(f"{part:,}" for part in parts) if sum(parts) == rows.recorded else f"{rows.recorded:,}"
        )
        taken = rows.recorded - rows.count - rows.waiting
        shared = "" if rows.deleted is not None or not taken else " not counted, as files share rows,"
        less = f" − {taken:,} deleted" if taken and not shared else f", {taken:,}{shared}" if taken else ""
        waits = f" − {rows.waiting:,} that wait in level 0" if rows.waiting else ""
        return f"{rows.count:,} = {stored} stored{less or ' − 0 deleted'}{waits}".removesuffix(",")

    @cached_property
    def news(self) -> str:
        """How many files are new, changed and gone, in words."""
        chart, count = self.chart, self.new_count
        is_damaged = any(box.state == "unread" for box in self.boxes)
        rest = (
            "Of what cannot be read nothing is known."
            if is_damaged
            else "Kept: everything else, byte for byte."
        )
        if is_damaged and not count:
            return f"new: nothing that can be read. {rest}"
        if not count and not chart.changed:
            return "new: nothing. Kept: everything, byte for byte."
        kinds = f" ({count_words(chart.counted_new)})" if count else ""
        said = f"new: {count:,} file{'' if count == 1 else 's'}{kinds}."
        if chart.changed:
            said += f" Changed: {chart.changed:,}."
        if chart.gone:
            said += f" Gone from this state: {chart.gone:,}."
        return f"{said} {rest}"

    def to_svg(self) -> str:
        """The drawing as SVG: a document of its own, light and dark, in which nothing can run.

        >>> import lakelens as ll
        >>> ll.sample("iceberg").map().to_svg()[:5]
        '<svg '
        """
        return str(call("views.map.drawing:render_map", self))

    def __repr__(self) -> str:
        return f"<Map of {self.table.name}: {self.new_count} new file{'' if self.new_count == 1 else 's'}>"


def is_quick(snapshot: Snapshot | None) -> bool:
    """Whether a map of a state reads little, so that a page may show it unasked: no more files, by its summary and by its
    lists, manifests or bytes of them than that.

    >>> import lakelens as ll
    >>> is_quick(ll.sample("iceberg").current)
    True
    """
    if snapshot is None:
        return True
    try:
        counts = [
            count for count in (snapshot.known_figures.files, count_by_lists(snapshot)) if count is not None
        ]
        size = sum(manifest.size_bytes or 0 for manifest in snapshot.manifests)
        is_small = size <= _FEW_BYTES and len(snapshot.manifests) <= _FEW_MANIFESTS
        return is_small and bool(counts) and max(counts) <= _FEW_FILES
    except LakeError:
        return False


def map_table(table: Table, change: Any = None, snapshot: Any = None) -> Map:
    """Make the map of a table. Raises `LakeError` for a change that is none, `Missing` for a snapshot that there is not."""
    if isinstance(change, Trace):
        for part in change.tables:
            if part.location.rstrip("/") == table.location.rstrip("/"):
                return _map_trace(table, part, snapshot, change.statement)
        raise LakeError("the trace has nothing of this table", path=table.location)
    if isinstance(change, TableTrace):
        return _map_trace(table, change, snapshot, None)
    if isinstance(change, Diff):
        after = change.after if snapshot is None else table.snapshot(snapshot)
        return Map(table, Since(change.before, after))
    if change is not None:
        message = f"change is a Diff or a trace, not {type(change).__name__}"
        raise LakeError(message, path=table.location)
    chosen = table.snapshot(snapshot) if snapshot is not None else table.current
    return Map(table, _find_parent(chosen), None if chosen is None else chosen.statement)


def _find_parent(after: Snapshot | None) -> Since:
    """Find the change of a commit: since its parent, where that is still there."""
    if after is None or after.id is None:
        return Since(None, after)
    parent = next(after.walk_ancestors(), None)
    first = after.parent_id is None if parent is None else False
    return Since(parent, after, is_known=parent is not None or first)


def _map_trace(table: Table, trace: TableTrace, snapshot: Any, statement: str | None) -> Map:
    """The map with the objects that a trace saw; the state after it, whatever was committed since."""
    shown = trace.after or table
    after = shown.current if snapshot is None else shown.snapshot(snapshot)
    before = None if trace.before is None else trace.before.current
    touched = {file.path: str(file.state) for file in trace.files}
    is_known = before is not None or trace.kind == "created"
    return Map(shown, Since(before, after, is_known, touched), statement)
