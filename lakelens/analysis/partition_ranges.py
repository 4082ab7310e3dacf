"""Which partition values a snapshot's manifests cover, by what their list records. No manifest is read for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lakelens.errors import LakeError
from lakelens.model.manifest import FieldSummary, Manifest
from lakelens.model.schema import PartitionSpec
from lakelens.model.snapshot import Snapshot
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Cell, Grid


@dataclass(frozen=True, slots=True)
class Range:
    """The values of one partition field over the manifests of one partitioning."""

    spec_id: int | None
    name: str
    lower: Any
    upper: Any
    has_null: bool
    manifests: int


def find_ranges(snapshot: Snapshot) -> list[Range] | None:
    """The range of each partition field; None where the lists do not tell or cannot be read."""
    manifests: list[Manifest] = []
    try:
        for manifest_list in snapshot.manifest_lists:
            if manifest_list.role != "changelog":
                manifests += manifest_list.manifests
    except LakeError:
        return None
    told: dict[tuple[int | None, str], list[FieldSummary]] = {}
    for manifest in manifests:
        for summary in manifest.partition_summary:
            told.setdefault((manifest.spec_id, summary.name), []).append(summary)
    ranges = [_join(spec_id, name, summaries) for (spec_id, name), summaries in told.items()]
    return sorted(ranges, key=lambda one: -(one.spec_id or 0)) or None


def _join(spec_id: int | None, name: str, summaries: Sequence[FieldSummary]) -> Range:
    lowest = _choose(min, [s.lower for s in summaries if s.lower is not None])
    highest = _choose(max, [s.upper for s in summaries if s.upper is not None])
    has_null = any(s.contains_null or bool(s.null_count) for s in summaries)
    return Range(spec_id, name, lowest, highest, has_null, len(summaries))


def _choose(pick: Any, values: list[Any]) -> Any:
    """The smallest or largest of values; None where they cannot be compared."""
    try:
        return pick(values, default=None)
    except TypeError:
        return None


def word_ranges(ranges: Sequence[Range], spec_id: int | None) -> str:
    """The ranges of today's partitioning in a line, and how many manifests still have another."""
    mine = [one for one in ranges if one.spec_id == spec_id]
    words = [
        _word(one) if len(mine) == 1 else f"{wording.clean(one.name, 40)} {_word(one)}" for one in mine[:3]
    ]
    older = {one.spec_id: one.manifests for one in ranges if one.spec_id not in (spec_id, None)}
    told = f": {', '.join(words)}" if words else ""
    left = [f"{wording.plural(number, 'manifest')} still in spec {spec}" for spec, number in older.items()]
    return told + (f"; {', '.join(left[:3])}" if left else "")


def _word(one: Range) -> str:
    null = " and null" if one.has_null else ""
    if one.lower is None or one.upper is None:
        return "null" if one.has_null else "not told"
    if one.lower == one.upper:
        return f"{wording.value(one.lower)}{null}"
    return f"{wording.value(one.lower)} to {wording.value(one.upper)}{null}"


def grid_specs(specs: Sequence[PartitionSpec], ranges: Sequence[Range]) -> Grid:
    """Every partitioning field by field, with the range that the manifests cover."""
    known = {(one.spec_id, one.name): one for one in ranges}
    rows = [
        (
            cells.code(spec.id),
            cells.code(field.name),
            cells.code(field.transform),
            cells.code(field.source_name),
            cells.code(field.result_type),
            *_word_range(known.get((spec.id, field.name))),
        )
        for spec in specs
        for field in spec
    ]
    names = ("spec#", "field", "transform", "column", "type", "lower", "upper", "has null!", "manifests#")
    return cells.prune(cells.grid(names, rows, how="table.specs", noun="field", about=("common.ranges",)))


def _word_range(one: Range | None) -> tuple[Cell, Cell, Cell, Cell]:
    if one is None:
        return cells.ABSENT, cells.ABSENT, cells.ABSENT, cells.ABSENT
    has_null = cells.text("yes" if one.has_null else "")
    return cells.value(one.lower), cells.value(one.upper), has_null, cells.number(one.manifests)
