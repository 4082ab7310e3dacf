"""What is seen in a crash lab, as plain data: moments, anomalies by format, kills. Nothing here reads a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact

#: The rows of each writer's INSERT by their ids; the table has row 1 before both.
ROWS: Mapping[str, tuple[int, ...]] = {"A": (2, 3), "B": (4, 5)}


class LabMoment(NamedTuple):
    """A state of the table after a step: who made it, what changed, and the ids that a SELECT gives."""

    writer: str
    step: str
    changes: tuple[str, ...]
    rows: tuple[int, ...]
    outcome: str

    @property
    def is_torn(self) -> bool:
        """Whether a SELECT sees some rows of an INSERT and not the others."""
        return any(0 < len(set(rows) & set(self.rows)) < len(rows) for rows in ROWS.values())


class Moments(Items[LabMoment]):
    """What happened in a lab, in order."""

    __slots__ = ()
    facts = (
        Fact("writer"),
        Fact("step"),
        Fact("changes", "list<string>"),
        Fact("rows", "list<int64>"),
        Fact("outcome"),
    )


class Anomalies(NamedTuple):
    """Of a format: in how many orders each anomaly is seen, and in how many none."""

    variant: str
    orders: int
    none: int
    torn_read: int
    dirty_read: int
    lost_update: int
    failed: int
    orphan_files: int


class AnomalyTable(Items[Anomalies]):
    """The anomalies of each format, counted over all orders of two INSERTs."""

    __slots__ = ()
    facts = (Fact("variant"), *(Fact(name, "int64") for name in Anomalies._fields[1:]))


class Kill(NamedTuple):
    """An INSERT that was killed after some changes: what a SELECT sees then, and after it was run once more.

    Run once more it is called B: its rows 4 and 5 stand for 2 and 3, so that one can see which are there twice.
    """

    changes: int
    last: str
    rows: tuple[int, ...]
    again: tuple[int, ...]
    anomalies: tuple[str, ...]
    orphans: int


class Kills(Items[Kill]):
    """An INSERT killed after each of its changes."""

    __slots__ = ()
    facts = (
        Fact("changes", "int64"),
        Fact("last"),
        Fact("rows", "list<int64>"),
        Fact("again", "list<int64>"),
        Fact("anomalies", "list<string>"),
        Fact("orphans", "int64"),
    )
