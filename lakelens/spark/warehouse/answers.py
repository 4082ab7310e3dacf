"""The answers of one table for an inventory, made on an executor: is it sound, is it healthy, where are its bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

from lakelens.analysis.space.census import Slices
from lakelens.errors import LakeError, list_nearest
from lakelens.model.facts.facts import list_facts
from lakelens.model.health.measure import Measures

if TYPE_CHECKING:
    from lakelens.model.table import Table

Row = dict[str, Any]
Rows = Iterator[tuple[str, Row]]

_RECLAIMABLE = ("old snapshots", "orphans")


def check_names(names: Collection[str]) -> tuple[str, ...]:
    """The answers that are asked for, in the order in which they are worked out. Raises `LakeError` for another name.

    >>> check_names({"health", "check"})
    ('check', 'health')
    """
    for name in names:
        if name not in _DESCRIBE:
            raise LakeError(f"an inventory has no answer {name!r}", hint=list_nearest(str(name), _DESCRIBE))
    return tuple(name for name in _DESCRIBE if name in names)


def describe_answers(table: Table, key: Row, asked: Collection[str]) -> Rows:
    """The rows of the answers that are asked for; one that fails leaves its figures empty, and `error` says why."""
    figures: Row = {}
    failed: list[str] = []
    for name in check_names(asked):
        try:
            # all or nothing: an error half way leaves no rows
            rows = list(_DESCRIBE[name](table, figures))
        except Exception as error:  # one table that cannot be judged must not hide the others
            reason = str(error) if isinstance(error, LakeError) else f"{type(error).__name__}: {error}"
            failed.append(f"{name}: {reason}")
            continue
        yield from ((of, {**key, **row}) for of, row in rows)
    yield "answers", {**key, **figures, "error": "; ".join(failed) or None}


def _describe_check(table: Table, figures: Row) -> Rows:
    found = table.check()
    severities = found.severities
    figures |= {
        "verdict": found.verdict,
        "compared": found.compared,
        "differ": found.differ,
        "errors": severities["error"],
        "warnings": severities["warning"],
        "missing": len(found.missing),
        "orphans": len(found.orphans),
    }
    yield from ()


def _describe_health(table: Table, figures: Row) -> Rows:
    health = table.health()
    verdicts = health.verdicts
    figures |= {"act": verdicts["act"], "watch": verdicts["watch"], "good": verdicts["good"]}
    if len(health.calls):
        figures |= {"first": health.calls[0].why, "call": health.calls[0].statement}
    yield from (("measures", list_facts(Measures.facts, measure)) for measure in health.measures)


def _describe_space(table: Table, figures: Row) -> Rows:
    space = table.space()
    figures["total_bytes"] = space.size_bytes
    figures["live_bytes"] = space.live_bytes
    figures["reclaimable_bytes"] = sum(map(space.measure, _RECLAIMABLE))
    yield from (("slices", list_facts(Slices.facts, part)) for part in space.slices)


# in the order in which they are worked out: each finds in memory what those before it have read
_DESCRIBE: dict[str, Callable[[Table, Row], Rows]] = {
    "check": _describe_check,
    "health": _describe_health,
    "space": _describe_space,
}
