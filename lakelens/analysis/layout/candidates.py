"""The layouts that are worth a try: sorts, curves and partitions of the columns that predicates name, the simple first.

sort        each column; two of them where the first has few values
curve       two columns in both orders, and the first three: what the engine has of Z-order and Hilbert's curve
partition   the periods of a time, the values of a column with few, buckets of one that is asked for by equality; each
            with the rows sorted inside, and with as many partitions as files come out at most. Of buckets half as many
            and a quarter are tried too
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations
from typing import TYPE_CHECKING

from lakelens.analysis.layout.transforms import PERIODS, floor_times
from lakelens.analysis.layout.wanted import WantedLayout
from lakelens.model.stats import list_terms

if TYPE_CHECKING:
    from lakelens.analysis.layout.ground import Ground

_MOST_COLUMNS = 6
_MOST_ON_CURVES = 4
_FEW_VALUES = 1_000
_MOST_BUCKETS = 256
_BUCKET_COUNTS = 3


def list_candidates(ground: Ground, target_file_size: int | str | None) -> Iterator[WantedLayout]:
    """List layouts of a table, each once, those with fewer columns and without other partitions first."""
    columns = rank_columns(ground)
    size = target_file_size

    def few(name: str) -> bool:
        return name in ground.rows.columns and len(ground.rows.columns[name].values) <= _FEW_VALUES

    for name in columns:
        yield WantedLayout(sort_by=(name,), target_file_size=size)
    for first, second in permutations(columns[:_MOST_ON_CURVES], 2):
        if few(first) and ground.rules.most_sorted is None:
            yield WantedLayout(sort_by=(first, second), target_file_size=size)
    groups = [*permutations(columns[:_MOST_ON_CURVES], 2), *combinations(columns[:3], 3)]
    for group in groups:
        if "zorder" in ground.rules.strategies:
            yield WantedLayout(zorder_by=group, target_file_size=size)
        if "hilbert" in ground.rules.strategies:
            yield WantedLayout(hilbert_by=group, target_file_size=size)
    for term, source in _list_terms(ground, columns, size):
        others = [name for name in columns if name != source][:2]
        if not others:  # its rows are sorted by what it is made of
            yield WantedLayout(partition_by=(term,), target_file_size=size)
        for inner in others:
            yield WantedLayout(partition_by=(term,), sort_by=(inner,), target_file_size=size)


def rank_columns(ground: Ground) -> list[str]:
    """Rank the columns that predicates name by the bytes that those read today; without bounds a file is never ruled out.

    At most 6 are ranked.
    """
    weights: dict[str, int] = {}
    for text, condition in ground.conditions.items():
        cost = ground.asked[text] * ground.today[text][1]
        for name in {term.column for term in list_terms(condition)}:
            if name in ground.leaves and ground.has_bounds(name):
                weights[name] = weights.get(name, 0) + cost
    return sorted(weights, key=lambda name: (-weights[name], name))[:_MOST_COLUMNS]


def _list_terms(ground: Ground, columns: list[str], size: int | str | None) -> Iterator[tuple[str, str]]:
    """List partition fields that make at least two partitions, and at most one for each file that comes out."""
    allowed = ground.rules.transforms
    target = size if isinstance(size, int) else ground.rules.target
    most = min(int(ground.sizes.sum()) // max(target, 1), _MOST_BUCKETS)
    current = {(field.source_name, field.transform) for field in ground.kept_fields}
    equal = {
        term.column
        for condition in ground.conditions.values()
        for term in list_terms(condition)
        if term.test in ("=", "in")
    }
    for name in columns:
        column = ground.rows.columns.get(name)
        if column is None or name in ground.rows.wide or most < 2:
            continue
        periods = {word: floor_times(column.values, word) for word in PERIODS if word in allowed}
        made = [
            (word, f"{word}({name})")
            for word, begun in periods.items()
            if begun is not None and 2 <= len(begun.unique()) <= most
        ]
        if not made and "identity" in allowed and 2 <= len(column.values) <= most:
            made = [("identity", name)]
        if name in equal and "bucket" in allowed and len(column.values) > most:
            # of fewer buckets there is more of the order inside
            counts = [1 << power for power in range(most.bit_length() - 1, 0, -1)][:_BUCKET_COUNTS]
            made += [(f"bucket[{count}]", f"bucket({count}, {name})") for count in counts]
        yield from ((term, name) for word, term in made if (name, word) not in current)
