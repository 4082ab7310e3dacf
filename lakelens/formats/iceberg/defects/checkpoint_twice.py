"""Flink committed the files of a checkpoint in two snapshots: rows are there twice.

Shows in summaries: two snapshots of the same job and operator name the same checkpoint and both add files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.model.check.defect import Product, Rule
from lakelens.model.facts.traits import parse_figure

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding

_KEYS = ("flink.job-id", "flink.operator-id", "flink.max-committed-checkpoint-id")


def find(table: IcebergTable) -> Iterator[Finding]:
    """Checkpoints that two snapshots of a branch committed."""
    seen: dict[tuple[str | None, ...], list[int]] = {}
    for snapshot in table.walk_snapshots():
        key = tuple(snapshot.summary.get(name) for name in _KEYS)
        adds = parse_figure(snapshot.summary, "added-data-files") or 0
        if key[0] is not None and key[2] is not None and adds and snapshot.picked_from is None:
            seen.setdefault(key, []).append(snapshot.id)
    for (job, _, checkpoint), snapshots in seen.items():
        if len(snapshots) > 1:
            message = f"checkpoint {checkpoint} of job {job} was committed {len(snapshots)} times, with files each time"
            yield RULE.report(table.metadata_path, message, snapshots)


RULE = Rule(
    "checkpoint-committed-twice",
    "a checkpoint that was committed twice",
    (Product("flink"),),
    ("apache/iceberg#10765",),
    "two snapshots with files have the same job, operator and checkpoint",
    "warning",
    find,
)
