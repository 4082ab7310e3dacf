"""Which partition values a snapshot's manifests cover, as their list records it. No manifest is read for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lakelens.errors import LakeError
from lakelens.model.manifest import FieldSummary, Manifest
from lakelens.model.snapshot import Snapshot


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
    """The range of each partition field; None where the lists record none or cannot be read."""
    manifests: list[Manifest] = []
    try:
        for manifest_list in snapshot.manifest_lists:
            if manifest_list.role != "changelog":
                manifests += manifest_list.manifests
    except LakeError:
        return None
    found: dict[tuple[int | None, str], list[FieldSummary]] = {}
    for manifest in manifests:
        for summary in manifest.partition_summary:
            found.setdefault((manifest.spec_id, summary.name), []).append(summary)
    ranges = [_join(spec_id, name, summaries) for (spec_id, name), summaries in found.items()]
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
