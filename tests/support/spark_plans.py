"""Which files Spark plans to read for a predicate, as its physical plan has them: nothing is read."""

from __future__ import annotations

from typing import Any


def list_planned(frame: Any) -> set[str]:
    """The names of the data files in the tasks of every scan of a DataFrame; none where Spark's optimizer left no scan."""
    plan = frame._jdf.queryExecution().executedPlan()
    found: set[str] = set()
    for scan in _list_scans(plan):
        parts = scan.toBatch().planInputPartitions()
        for part in parts:
            found |= set(
                _list_iceberg(part) if "iceberg" in part.getClass().getName() else _list_paimon(part)
            )
    return found


def _list_scans(plan: Any) -> list[Any]:
    leaves = plan.collectLeaves()
    found = (leaves.apply(number) for number in range(leaves.size()))
    return [leaf.scan() for leaf in found if leaf.getClass().getSimpleName() == "BatchScanExec"]


def _list_iceberg(part: Any) -> list[str]:
    tasks = part.taskGroup().tasks().iterator()
    found = []
    while tasks.hasNext():
        found.append(str(tasks.next().file().location()).rsplit("/", 1)[-1])
    return found


def _list_paimon(part: Any) -> list[str]:
    splits = part.splits()
    found = []
    for number in range(splits.size()):
        found += [str(file.fileName()) for file in splits.apply(number).dataFiles()]
    return found
