"""Which sorted runs of a bucket the next compaction takes.

    size amplification   all runs, where the newer ones together are more than 200 % of the oldest
    size ratio           the newest run, and each next one that is not more than 1 % larger than all before it
    number of runs       as many of the newest as bring the bucket below the trigger, and those of the size ratio
    level 0              where rows are looked up by compactions: whatever is at level 0 otherwise

Nothing happens below `num-sorted-run.compaction-trigger` runs, but for the last rule and `compaction.optimization-interval`.
Follows `UniversalCompaction`, `ForceUpLevel0Compaction` and `CompactStrategy` of Paimon 0.9 and 2.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakelens.formats.paimon.maintenance.settings import Settings, parse_span
from lakelens.formats.paimon.maintenance.sorted_runs import SortedRun


@dataclass(frozen=True, slots=True)
class Unit:
    """The newest `count` runs of a bucket, which become level `level`; `why` says by which rule."""

    count: int
    level: int
    why: str


def pick_unit(runs: Sequence[SortedRun], levels: int, settings: Settings, is_new: bool) -> Unit | None:
    """The next pick by the table's own settings; None where nothing is compacted.

    >>> from types import SimpleNamespace as File
    >>> runs = [SortedRun(0, (File(size_bytes=10),)) for _ in range(5)]
    >>> pick_unit(runs, 6, Settings({}, True), False)
    Unit(count=5, level=5, why='size amplification: 400 % of 200 %')
    """
    found = _pick(runs, levels, settings, is_new)
    if found is None and settings.needs_lookup:
        count = sum(run.level == 0 for run in runs)
        if count:
            why = "level 0 is never left behind: rows are looked up"
            found = _grow(runs, levels, count, True, settings, is_new, why)
    if found is None or not found.count:
        return None
    taken = [file for run in runs[: found.count] for file in run.files]
    is_moved = len(taken) > 1 or runs[0].level != found.level
    return found if is_moved else None


def pick_full(runs: Sequence[SortedRun], levels: int) -> Unit | None:
    """All runs, to the highest level; None where all files are there already."""
    if not runs or (len(runs) == 1 and runs[0].level == levels - 1):
        return None
    return Unit(len(runs), levels - 1, "full: all files to the highest level")


def _pick(runs: Sequence[SortedRun], levels: int, settings: Settings, is_new: bool) -> Unit | None:
    if not runs:
        return None
    if settings.read("compaction.optimization-interval", None, parse_span) is not None:
        return Unit(len(runs), levels - 1, "compaction.optimization-interval: a new writer takes all")
    trigger = settings.trigger
    if len(runs) < trigger:
        return None
    newer, oldest = sum(run.size_bytes for run in runs[:-1]), runs[-1].size_bytes
    most = settings.number("compaction.max-size-amplification-percent", 200)
    if newer * 100 > most * oldest:
        percent = f"{newer * 100 // oldest:,}" if oldest else "more than 100"
        return Unit(len(runs), levels - 1, f"size amplification: {percent} % of {most} %")
    found = _grow(runs, levels, 1, False, settings, is_new, "size ratio")
    if found is None and len(runs) > trigger:
        count = len(runs) - trigger + 1
        found = _grow(runs, levels, count, False, settings, is_new, f"{len(runs)} runs, more than {trigger}")
    return found


def _grow(
    runs: Sequence[SortedRun],
    levels: int,
    count: int,
    is_forced: bool,
    settings: Settings,
    is_new: bool,
    why: str,
) -> Unit | None:
    """The newest `count` runs, and each next one that is not much larger than all before it."""
    ratio = settings.number("compaction.size-ratio", 1)
    size = sum(run.size_bytes for run in runs[:count])
    is_started = is_forced or count > 1
    for run in runs[count:]:
        is_larger = size * (100.0 + ratio) / 100.0 < run.size_bytes
        if is_larger and (not is_new or not is_started or run.level > 1):
            break
        size += run.size_bytes
        count += 1
        is_started = True
    return _make_unit(runs, levels, count, why) if is_forced or count > 1 else None


def _make_unit(runs: Sequence[SortedRun], levels: int, count: int, why: str) -> Unit:
    """The level that is written: below that of the next run, never level 0."""
    level = levels - 1 if count == len(runs) else max(0, runs[count].level - 1)
    if level == 0:
        for run in runs[count:]:
            count += 1
            if run.level != 0:
                level = run.level
                break
    return Unit(count, levels - 1 if count == len(runs) else level, why)
