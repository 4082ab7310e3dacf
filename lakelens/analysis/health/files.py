"""Sizes of files against what writers aim at, small files by partition, and how unlike partitions and buckets are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakelens.model.facts.traits import format_size
from lakelens.model.health.figures import sum_groups
from lakelens.model.health.measure import Limit, Measure, count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.model.health.figures import FileFigures
    from lakelens.model.health.rules import HealthRules

    Numbers = NDArray[np.int64]

_SKEW = Limit(4, "≤", "lakelens")
# fewer have no median to speak of
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class SmallFiles:
    """The files below the size that the table aims at, in the groups in which a rewrite joins files.

    `counts` and `sizes` are theirs by group, `held` the bytes of all data files by group; of them a rewrite takes `taken`
    and makes `made`. `name` names the group of a file.
    """

    groups: Numbers
    counts: Numbers
    sizes: Numbers
    held: Numbers
    taken: Numbers
    made: Numbers
    name: Callable[[int], str]

    @property
    def fewer(self) -> int:
        """How many files fewer there are after a rewrite."""
        return int(self.taken.sum() - self.made.sum())


def find_small(figures: FileFigures, rules: HealthRules) -> SmallFiles:
    """The small files of each group."""
    grouped = rules.group(figures)
    groups, sizes, number = grouped.numbers[figures.data], figures.sizes[figures.data], grouped.count
    small = sizes < rules.file_size.value
    counts = sum_groups(groups[small], number)
    held_small = sum_groups(groups[small], number, sizes[small])
    taken, made = rules.join_files(counts, held_small)
    held = sum_groups(groups, number, sizes)
    return SmallFiles(groups, counts, held_small, held, taken, made, grouped.name)


def measure_files(figures: FileFigures, rules: HealthRules) -> Iterator[Measure]:
    """The figures of data files."""
    if not len(figures.data):
        return
    small = find_small(figures, rules)
    yield _measure_median(figures, rules, small)
    yield _measure_small(figures, rules, small)
    if len(figures.partitions) >= _FEWEST:
        held = figures.sum_by_partition(figures.data, figures.sizes[figures.data])
        yield from _measure_skew("partition", held, lambda place: str(figures.partitions[place]))
    found = rules.number_buckets(figures)
    if found is not None:
        names, numbers = found
        chosen = figures.data[numbers[figures.data] >= 0]
        held = sum_groups(numbers[chosen], len(names), figures.sizes[chosen])
        yield from _measure_skew("bucket", held, names.__getitem__)


def _measure_median(figures: FileFigures, rules: HealthRules, small: SmallFiles) -> Measure:
    """The median size, and whether a rewrite can reach what it is compared with."""
    import numpy as np

    limit = rules.file_size
    median = float(np.median(figures.sizes[figures.data]))
    if limit.keeps(median):
        return Measure("file size, median", "files", median, "bytes", limit)
    held = small.held[small.held > 0]
    reached = float(np.median(held)) if len(held) else 0.0
    advice, calls = "", rules.call_join(figures)
    if reached < limit.value:
        noun = f"{rules.group_noun}s" if len(held) > 1 else "table"
        what = f"the {noun} {'hold' if len(held) > 1 else 'holds'} {format_size(reached)}"
        advice = f"no rewrite reaches it: {what}{' in the median' if len(held) > 1 else ' in all'}"
        coarser, calls = rules.advise_coarser(figures)
        advice += f"; {coarser}" if coarser else ""
        if not calls:
            # small files that could be joined are a measure of their own; this one asks for what the table cannot have
            why = f"{limit.compared_with or limit.source} {format_size(round(limit.value))}, which it is too small for"
            limit = replace(limit, value=median, compared_with=why)
    elif not calls:
        advice = rules.explain_no_call(figures)
    elif small.fewer > 0:
        advice = f"{_say_joined(small, rules)}"
    else:
        advice, calls = "no rewrite takes them: too few small files are together", ()
    return Measure("file size, median", "files", median, "bytes", limit, advice, calls)


def _measure_small(figures: FileFigures, rules: HealthRules, small: SmallFiles) -> Measure:
    """The most small files that one partition has, and what a rewrite makes of all of them."""
    import numpy as np

    limit = rules.small_files
    worst = int(np.argmax(small.counts))
    value = int(small.counts[worst])
    name = f"small files in a {rules.group_noun}, worst"
    first = figures.data[np.flatnonzero(small.groups == worst)[0]] if value else None
    place = "" if first is None else small.name(int(first))
    if limit.keeps(value):
        return Measure(name, "files", value, "files", limit, place=place)
    calls = rules.call_join(figures) if small.fewer > 0 else ()
    advice = _say_joined(small, rules) if calls else rules.explain_no_call(figures)
    return Measure(name, "files", value, "files", limit, advice, calls, place)


def _say_joined(small: SmallFiles, rules: HealthRules) -> str:
    """How many files fewer a rewrite leaves; exactly, where each group becomes one file."""
    import numpy as np

    is_exact = rules.joins_exactly and bool((small.made <= 1).all())
    many = int(np.count_nonzero(small.taken))
    taken, made = int(small.taken.sum()), int(small.made.sum())
    about = "" if is_exact else "about "
    where = f" of {count(many, rules.group_noun)}" if len(small.counts) > 1 else ""
    return f"{about}{count(small.fewer, 'file')} fewer: {taken:,} small ones{where} into {about}{made:,}"


def _measure_skew(noun: str, held: Numbers, name: object) -> Iterator[Measure]:
    """The largest part beside the median one."""
    import numpy as np

    known = held[held > 0]
    if len(known) < 2:
        return
    worst, median = int(np.argmax(held)), float(np.median(known))
    value = float(held[worst]) / median
    beyond = int(np.count_nonzero(held > _SKEW.value * median))
    advice, place = "", name(worst)  # type: ignore[operator]
    if not _SKEW.keeps(value):
        alone = "alone" if beyond == 1 else f"and {count(beyond - 1, 'more', 'more')}"
        size = format_size(int(held[worst]))
        advice = f"{place} {alone}: {size}; no call helps, rows are where their values put them"
    yield Measure(f"bytes a {noun}, worst ÷ median", "files", value, "times", _SKEW, advice, (), place)


def list_quantities(figures: FileFigures, groups: Numbers, number: int, places: Numbers) -> Sequence[Numbers]:
    """Files, bytes and rows of some files by group."""
    chosen = groups[places]
    return (
        sum_groups(chosen, number),
        sum_groups(chosen, number, figures.sizes[places]),
        sum_groups(chosen, number, figures.rows[places]),
    )
