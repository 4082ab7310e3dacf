"""What a Spark event log says that tables were asked: the filters that were pushed down into their scans, and how often.

A log has a line of JSON for each event; `SparkListenerSQLExecutionStart` has the physical plan of a query as a tree.
A scan without a filter, and one whose filter is not understood, is counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.analysis.layout.pushed import UnreadFilter, adapt_predicate, find_pushed
from lakelens.display import Named
from lakelens.errors import LakeError, list_nearest
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact

if TYPE_CHECKING:
    from lakelens.model.table import Table

_START = b"SparkListenerSQLExecutionStart"


@dataclass(frozen=True, slots=True)
class LoggedPredicate(Named):
    """A predicate that queries pushed down into the scan of a table, which has its name in the log, and how often."""

    table: str
    predicate: str
    asked: int


class LoggedPredicates(Items[LoggedPredicate]):
    """The predicates of a log, the most frequent first: what `where=` of `Table.what_if` and `Table.advise` takes.

    `scans` are all that were begun, `unfiltered` those without a filter, `unread` those whose filter is not understood.
    """

    __slots__ = ("scans", "unfiltered", "unread")
    facts = (Fact("table"), Fact("predicate"), Fact("asked", "int64"))

    def __init__(
        self, items: Iterable[LoggedPredicate] = (), scans: int = 0, unfiltered: int = 0, unread: int = 0
    ) -> None:
        super().__init__(tuple(items))
        self.scans, self.unfiltered, self.unread = scans, unfiltered, unread

    def of(self, table: Table) -> dict[str, int]:
        """Give the predicates of a table with how often each was asked, in the words of its schema.

        A table is known by the end of its name. Raises `LakeError` where the log has none of it, or several that may be it.
        """
        own = f".{table.name.lower()}"
        dotted = {row.table: f".{row.table.lower()}" for row in self}
        names = {said for said, other in dotted.items() if own.endswith(other) or other.endswith(own)}
        if not names:
            known = sorted({row.table for row in self})
            raise LakeError(f"the log asks nothing of {table.name}", hint=list_nearest(table.name, known))
        if len(names) > 1:
            first, second = sorted(names)[:2]
            raise LakeError(
                f"{table.name} may be {first} or {second} of the log",
                hint=f"lakelens.predicates(…, table={first!r})",
            )
        asked: Counter[str] = Counter()
        for row in self:
            if row.table in names:
                asked[adapt_predicate(row.predicate, table.schema)] += row.asked
        return dict(asked)


def count_predicates(lines: Iterable[bytes], table: str | None = None) -> LoggedPredicates:
    """Count what the lines of a log say was pushed down, of one table or of all; a line that is cut is passed over.

    >>> plan = {"nodeName": "BatchScan c.db.t", "simpleString": "c.db.t [filters=id = 5, groupedBy=] RuntimeFilters: []"}
    >>> event = {"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", "sparkPlanInfo": plan}
    >>> count_predicates([json.dumps(event).encode()] * 3)[0]
    LoggedPredicate(table='c.db.t', predicate='id = 5', asked=3)
    """
    asked: Counter[tuple[str, str]] = Counter()
    scans = unfiltered = unread = 0
    for line in lines:
        if _START not in line[:200]:
            continue
        try:
            event = json.loads(line)
        except ValueError:
            continue
        for name, node in _walk_scans(event.get("sparkPlanInfo") if isinstance(event, dict) else None):
            if table is not None and name.lower() != table.lower():
                continue
            scans += 1
            try:
                predicate = find_pushed(str(node.get("simpleString", "")))
            except UnreadFilter:
                unread += 1
                continue
            unfiltered += not predicate
            if predicate:
                asked[name, predicate] += 1
    rows = [LoggedPredicate(name, predicate, number) for (name, predicate), number in asked.items()]
    rows.sort(key=lambda row: (-row.asked, row.table, row.predicate))
    return LoggedPredicates(rows, scans, unfiltered, unread)


def _walk_scans(plan: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Walk the scans of a plan, each with the name of its table."""
    left = [plan]
    while left:
        node = left.pop()
        if not isinstance(node, dict):
            continue
        children = node.get("children")
        left += reversed(children) if isinstance(children, list) else []
        words = str(node.get("nodeName", "")).split()
        if len(words) > 1 and (words[0] == "BatchScan" or words[0] == "Scan"):
            yield words[-1].replace("`", ""), node
