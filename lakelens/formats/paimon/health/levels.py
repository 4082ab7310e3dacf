"""Levels of a table with keys: how many sorted runs a bucket has, and how many files wait on level 0.

A file of level 0 is a run of its own, the files of each higher level are one together (`Levels.numberOfSortedRuns`). More
than `num-sorted-run.compaction-trigger` of them start a compaction (`UniversalCompaction.pick`), more than
`num-sorted-run.stop-trigger` let writers wait (`MergeTreeCompactManager.shouldWaitForLatestCompaction`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.model.health.figures import sum_groups
from lakelens.model.health.measure import Limit, Measure, count
from lakelens.model.health.rules import name_source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.formats.paimon.health.rules import PaimonHealth
    from lakelens.model.health.figures import FileFigures
    from lakelens.model.health.measure import DocumentParts
    from lakelens.model.health.reach import Reach

    Numbers = NDArray[np.int64]


def count_runs(groups: Numbers, levels: Numbers, number: int) -> Numbers:
    """The sorted runs of each bucket.

    >>> import numpy as np
    >>> count_runs(np.array([0, 0, 0, 0, 1]), np.array([0, 0, 5, 5, 5]), 2).tolist()
    [3, 1]
    """
    import numpy as np

    waiting = sum_groups(groups[levels == 0], number)
    above = levels > 0
    width = int(levels.max(initial=0)) + 1
    pairs = np.unique(groups[above] * width + levels[above])
    found: Numbers = waiting + sum_groups(pairs // width, number)
    return found


def measure_levels(
    rules: PaimonHealth, figures: FileFigures, reach: Reach | None, documents: DocumentParts
) -> Iterator[Measure]:
    """Sorted runs against the two triggers, and what batch readers do not see yet."""
    import numpy as np

    if not rules.has_keys or not len(figures.data):
        return
    grouped = rules.group(figures)
    groups, levels = grouped.numbers[figures.data], figures.numbers("level")[figures.data]
    runs = count_runs(groups, levels, grouped.count)
    worst = int(np.argmax(runs))
    value = int(runs[worst])
    place = grouped.name(int(figures.data[np.flatnonzero(groups == worst)[0]]))
    trigger = rules.read("runs", "num-sorted-run.compaction-trigger", 5)
    stop = rules.read("stop", "num-sorted-run.stop-trigger", trigger.value + 3)
    compact = rules.call_compact(figures, "merges the sorted runs of each bucket")
    limit = Limit(trigger.value, "≤", name_source(trigger), trigger.property)
    beyond = int(np.count_nonzero(runs > trigger.value))
    advice = f"compact merges the runs of {count(beyond, 'bucket')}" if beyond else ""
    yield Measure("sorted runs in a bucket, worst", "levels", value, "count", limit, advice, compact, place)
    most = max(stop.value, trigger.value)  # a lower one counts as the other
    limit = Limit(most, "≤", name_source(stop), stop.property)
    waits = int(np.count_nonzero(runs > most))
    advice = f"writers of {count(waits, 'bucket')} wait for a compaction" if waits else ""
    yield Measure(
        "sorted runs until writers wait, worst", "levels", value, "count", limit, advice, compact, place
    )
    if rules.table.context.skips_level_0:
        yield _measure_unseen(rules, figures, levels)


def _measure_unseen(rules: PaimonHealth, figures: FileFigures, levels: Numbers) -> Measure:
    """The files that batch readers leave out until a compaction has taken them."""
    waiting = figures.data[levels == 0]
    rows = int(figures.rows[waiting].sum())
    advice = (
        f"batch readers do not see {count(rows, 'row')} of them before a compaction" if len(waiting) else ""
    )
    calls = rules.call_compact(figures, "takes files from level 0, where batch readers do not look")
    limit = Limit(0, "≤", "lakelens")
    return Measure("files on level 0", "levels", len(waiting), "files", limit, advice, calls)
