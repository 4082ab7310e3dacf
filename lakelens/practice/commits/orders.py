"""Every order of two INSERTs, and every place at which one can be killed: what a SELECT saw, and what was left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from lakelens.practice.commits.lab import FORMATS, CrashLab, name_variant
from lakelens.practice.commits.seen import ROWS, Anomalies, AnomalyTable, Kill, Kills, LabMoment

#: Each format, and whether its last step is atomic; Hive has no such step.
VARIANTS = tuple(
    (name, atomic)
    for name, format in FORMATS.items()
    for atomic in ((True, False) if format.atomic else (True,))
)
STEPS = 5


class Order(NamedTuple):
    """Two INSERTs in one order of their steps, as ABBA…, what was read after each, and what was left."""

    order: str
    moments: tuple[LabMoment, ...]
    orphans: tuple[str, ...]

    @property
    def anomalies(self) -> tuple[str, ...]:
        """What went wrong, by what was read: of `ANOMALIES`, in that order."""
        return tuple(name for name, test in ANOMALIES.items() if test(self))

    @property
    def rows(self) -> tuple[int, ...]:
        """What a SELECT sees at the end."""
        return self.moments[-1].rows

    @property
    def outcomes(self) -> dict[str, str]:
        """How each writer ended."""
        return {moment.writer: moment.outcome for moment in self.moments}


def _is_torn(order: Order) -> bool:
    return any(moment.is_torn for moment in order.moments)


def _is_dirty(order: Order) -> bool:
    return any(set(moment.rows) - set(order.rows) for moment in order.moments)


def _is_lost(order: Order) -> bool:
    return any(
        outcome == "done" and set(ROWS[name]) - set(order.rows) for name, outcome in order.outcomes.items()
    )


def _is_failed(order: Order) -> bool:
    return any(outcome.startswith("failed") for outcome in order.outcomes.values())


#: torn read     a SELECT saw some rows of an INSERT and not the others
#: dirty read    a SELECT saw a row that is not there at the end
#: lost update   an INSERT said that it was done, and a row of it is not there at the end
#: failed        an INSERT ended with an error
#: orphan files  files are left that nothing names
ANOMALIES: Mapping[str, Callable[[Order], bool]] = {
    "torn read": _is_torn,
    "dirty read": _is_dirty,
    "lost update": _is_lost,
    "failed": _is_failed,
    "orphan files": lambda order: bool(order.orphans),
}


def run_order(format: str, atomic: bool, order: str) -> Order:
    """Run two INSERTs in one order of their steps; a writer that failed makes no more."""
    lab = CrashLab(format, atomic=atomic)
    for name in order:
        if lab.next_step(name) in FORMATS[format].steps:
            lab.step(name)
    return Order(order, tuple(lab.moments), lab.list_orphans())


def list_orders(format: str, atomic: bool) -> Iterator[Order]:
    """Run every order of two INSERTs: 252 of five steps and five."""
    for places in combinations(range(2 * STEPS), STEPS):
        yield run_order(
            format, atomic, "".join("A" if place in places else "B" for place in range(2 * STEPS))
        )


def list_anomalies(*formats: str) -> AnomalyTable:
    """Count the anomalies of every order of two INSERTs, by format; each state is read from its files.

    Parameters
    ----------
    *formats
        Which formats; by default all.
    """
    rows = []
    for format, atomic in VARIANTS:
        if formats and format not in formats:
            continue
        orders = list(list_orders(format, atomic))
        counts = Counter(name for order in orders for name in order.anomalies)
        none = sum(not order.anomalies for order in orders)
        rows.append(
            Anomalies(name_variant(format, atomic), len(orders), none, *(counts[name] for name in ANOMALIES))
        )
    return AnomalyTable(rows)


def list_kills(format: str) -> Kills:
    """Kill an INSERT after each of its changes, and run it once more.

    Parameters
    ----------
    format
        "hive", "iceberg", "paimon" or "delta".
    """
    kills: list[Kill] = []
    own = set(ROWS["A"])
    while True:
        lab = CrashLab(format)
        for _ in kills:
            lab.change("A")
        if lab.next_step("A") not in FORMATS[format].steps:
            break
        last = next((change for moment in reversed(lab.moments) for change in moment.changes), "")
        rows, orphans = lab.kill("A").rows, len(lab.list_orphans())
        again = lab.finish("B").rows
        seen = {"torn read": 0 < len(set(rows) & own) < len(own), "double rows": bool(set(again) & own)}
        anomalies = tuple(name for name, is_seen in seen.items() if is_seen)
        kills.append(Kill(len(kills), last, rows, again, anomalies, orphans))
    return Kills(kills)
