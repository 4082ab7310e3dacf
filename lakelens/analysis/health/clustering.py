"""How well files separate the values of a column: how many of them a look-up of one value must open, from bounds alone.

The depth at a value is the number of files whose bounds hold it. It changes only where a file begins or ends, so it is
measured at the lower and the upper bound of every file: 2n values that are there, or nearly (bounds of text may be cut)::

    depth(v) = files that begin at or before v - files that ended before v

Files that hold nothing but nulls and NaN are opened by no look-up, files without bounds by every one: both are counted
apart. NaN is no bound, -0.0 is 0.0. A file whose lower bound is above its upper one holds no value: it is counted apart too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lakelens.display import Displayable
from lakelens.model.collections import NamedItems
from lakelens.model.facts.facts import Fact
from lakelens.model.measures.measure import Call, Limit, Measure, count
from lakelens.model.scan.placement import open_placement
from lakelens.model.scan.ranges import to_comparable
from lakelens.model.stats import Term

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.model.measures.figures import FileFigures
    from lakelens.model.measures.rules import HealthRules
    from lakelens.model.schema import Field
    from lakelens.model.table import Table

    Numbers = NDArray[np.int64]


#: The strokes of a strip.
QUANTILES = 20
# bounds of these are not in the order of their bytes, or are no values
_UNORDERED = (
    "geometry",
    "geography",
    "variant",
    "unknown",
    "blob",
    "list",
    "map",
    "multiset",
    "struct",
    "vector",
)


@dataclass(frozen=True, slots=True, repr=False)
class ColumnDepth(Displayable):
    """How many files overlap, for one column.

    `files` have bounds, `unbounded` have none, `empty` hold nothing but nulls and NaN, `reversed` have a lower bound above
    the upper one. `mean`, `worst` and `quantiles` (the depths at 5 %, 10 % … 100 %) are over all bounds of the column;
    `inside_mean` and `inside_worst` are the same within one partition. `worst_at` is a value that the most files hold.
    """

    name: str
    type: str
    files: int
    unbounded: int
    empty: int
    reversed: int
    mean: float
    worst: int
    quantiles: tuple[int, ...]
    inside_mean: float
    inside_worst: int
    worst_at: Any = None
    why: str = ""

    def __repr__(self) -> str:
        return f"<ColumnDepth {self.name}: {self.mean:,.4g} of {self.files:,} files, at worst {self.worst:,}>"


class Clustering(NamedItems[ColumnDepth]):
    """The columns with bounds, the best separated first; by name too."""

    __slots__ = ()
    facts = (
        Fact("name"),
        Fact("type"),
        Fact("files", "int64"),
        Fact("unbounded", "int64"),
        Fact("empty", "int64"),
        Fact("reversed", "int64"),
        Fact("mean", "float64"),
        Fact("worst", "int64"),
        Fact("quantiles", "ids"),
        Fact("inside_mean", "float64"),
        Fact("inside_worst", "int64"),
        Fact("worst_at", "text"),
        Fact("why"),
    )

    def _list_names(self, item: ColumnDepth) -> tuple[str, ...]:
        return (item.name,)


def rank_bounds(lower: pa.Array, upper: pa.Array) -> tuple[Numbers, Numbers]:
    """Bounds of one comparable type, none of them null, as numbers in the same order; equal ones are equal.

    >>> import pyarrow as pa
    >>> low, high = rank_bounds(pa.array([b"b", b"a"]), pa.array([b"b", b"c"]))
    >>> low.tolist(), high.tolist()
    ([1, 0], [1, 2])
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    both = pa.concat_arrays([lower, upper])
    numbers = _as_integers(both)
    if numbers is not None:
        return numbers[: len(lower)], numbers[len(lower) :]
    if pa.types.is_floating(both.type):
        values = both.to_numpy(zero_copy_only=False) + 0.0  # -0.0 becomes 0.0
        ranks = np.unique(values, return_inverse=True)[1].astype(np.int64)
    else:
        order = pc.sort_indices(both)
        ordered = both.take(order)
        steps = pc.not_equal(ordered[1:], ordered[:-1]).to_numpy(zero_copy_only=False)
        ranks = np.zeros(len(both), np.int64)
        ranks[order.to_numpy()] = np.r_[0, np.cumsum(steps)][: len(both)]
    return ranks[: len(lower)], ranks[len(lower) :]


def count_depths(low: Numbers, high: Numbers, groups: Numbers | None = None) -> tuple[Numbers, Numbers]:
    """The depths at all lower and upper bounds, least bound first, with the bounds; within `groups` of files where given.

    Parameters
    ----------
    low, high
        Bounds as numbers, none of `low` above its `high`.
    groups
        For each file the number of its group: only files of one group overlap.

    Examples
    --------
    >>> import numpy as np
    >>> depths, points = count_depths(np.array([1, 3, 9]), np.array([5, 9, 9]))
    >>> depths.tolist(), points.tolist()
    ([1, 2, 2, 2, 2, 2], [1, 3, 9, 5, 9, 9])
    >>> count_depths(np.array([1, 3, 9]), np.array([5, 9, 9]), np.array([0, 0, 1]))[0].tolist()
    [1, 2, 1, 2, 1, 1]
    """
    import numpy as np

    if groups is not None and len(low):
        # one axis after the other: what ended in the groups before also began there, and both counts lose it
        least = min(int(low.min()), int(high.min()))
        width = int(high.max()) - least + 1
        if width * (int(groups.max()) + 1) >= 1 << 62:
            ranks = np.unique(np.r_[low, high], return_inverse=True)[1].astype(np.int64)
            low, high = ranks[: len(low)], ranks[len(low) :]
            least, width = 0, int(ranks.max()) + 1
        low, high = low - least + groups * width, high - least + groups * width
    # looked up in order, which is several times as fast
    starts, ends = np.sort(low), np.sort(high)
    at_starts = _count_within(starts)[1] - np.searchsorted(ends, starts, "left")
    at_ends = np.searchsorted(starts, ends, "right") - _count_within(ends)[0]
    return np.concatenate([at_starts, at_ends]), np.concatenate([starts, ends])


def _count_within(ordered: Numbers) -> tuple[Numbers, Numbers]:
    """Count for each of some numbers in order those that are less, and those that are not greater.

    >>> import numpy as np
    >>> [counts.tolist() for counts in _count_within(np.array([3, 5, 5, 9]))]
    [[0, 1, 1, 3], [1, 3, 3, 4]]
    """
    import numpy as np

    begins = np.flatnonzero(np.r_[len(ordered) > 0, ordered[1:] != ordered[:-1]])
    ends = np.r_[begins[1:], len(ordered)][: len(begins)]
    return np.repeat(begins, ends - begins), np.repeat(ends, ends - begins)


def measure_column(figures: FileFigures, leaf: str, kind: Any) -> ColumnDepth | None:
    """Measure how many files overlap for one leaf column; None where none has bounds of it, or none that are in an order."""
    import numpy as np

    lower, upper = figures.stat("lower_bounds", leaf), figures.stat("upper_bounds", leaf)
    if lower is None or upper is None or kind.logical in _UNORDERED:
        return None
    lower, upper = to_comparable(lower), to_comparable(upper)
    known = lower.is_valid().to_numpy(zero_copy_only=False) & upper.is_valid().to_numpy(zero_copy_only=False)
    if not known.any():
        return None
    empty = _find_empty(figures, leaf) & ~known
    places = np.flatnonzero(known)
    whole = len(places) == len(known)
    low, high = rank_bounds(*((lower, upper) if whole else (lower.take(places), upper.take(places))))
    right = low <= high
    reversed_count = int((~right).sum())
    if reversed_count:
        places, low, high = places[right], low[right], high[right]
    if not len(low):
        return None
    depths, points = count_depths(low, high)
    inside = depths
    if len(figures.partitions) > 1:
        inside = count_depths(low, high, figures.partition[figures.data][places])[0]
    # the most files overlap where one of them begins
    deepest = int(np.flatnonzero(low == points[: len(low)][int(np.argmax(depths[: len(low)]))])[0])
    bound = figures.stat("lower_bounds", leaf)
    assert bound is not None
    value = bound[int(places[deepest])]
    try:
        shown = value.as_py()
    except (ValueError, OverflowError):
        shown = str(value)  # Python has no such value
    return ColumnDepth(
        leaf,
        str(kind),
        len(low),
        int(len(known) - known.sum() - empty.sum()),
        int(empty.sum()),
        reversed_count,
        float(depths.mean()),
        int(depths.max()),
        list_quantiles(depths),
        float(inside.mean()),
        int(inside.max()),
        shown,
    )


def list_quantiles(depths: Numbers) -> tuple[int, ...]:
    """List the depths that 5 %, 10 % … 100 % of the points do not exceed; the last is the worst.

    >>> import numpy as np
    >>> list_quantiles(np.arange(1, 101))[:3], list_quantiles(np.array([7]))[-1]
    ((5, 10, 15), 7)
    """
    import numpy as np

    places = -(-np.arange(1, QUANTILES + 1) * len(depths) // QUANTILES) - 1
    found: list[int] = np.partition(depths, places)[places].tolist()
    return tuple(found)


def _find_empty(figures: FileFigures, leaf: str) -> Any:
    """Find the data files that hold nothing but nulls and NaN of a column, as far as they are counted."""
    import numpy as np
    import pyarrow.compute as pc

    nulls, nans = figures.stat("null_counts", leaf), figures.stat("nan_counts", leaf)
    if nulls is None:
        return np.zeros(len(figures.data), np.bool_)
    values = figures.stat("value_counts", leaf)
    # where values are not counted apart, every row has one
    whole = (
        figures.rows[figures.data]
        if values is None
        else pc.fill_null(values, -1).to_numpy(zero_copy_only=False)
    )
    found = pc.fill_null(nulls, -1).to_numpy(zero_copy_only=False)
    if nans is not None:
        found = np.where(found < 0, -1, found + pc.fill_null(nans, 0).to_numpy(zero_copy_only=False))
    return (found == whole) & (found > 0)


def _as_integers(array: pa.Array) -> Numbers | None:
    """Values that are whole numbers, or stored as such; None for others."""
    import numpy as np
    import pyarrow as pa

    kind = array.type
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        array = array.view(pa.int32())
    elif pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        array = array.view(pa.int64())
    if not pa.types.is_integer(array.type):
        return None
    found: Numbers = array.to_numpy(zero_copy_only=False).astype(np.int64)
    return found


# How well files separate values, and of which columns nothing is recorded.

_DEPTH = Limit(4, "≤", "lakelens")
_NONE = Limit(0, "≤", "lakelens")
_NO_BOUNDS = (
    "list",
    "map",
    "multiset",
    "struct",
    "vector",
    "variant",
    "blob",
    "unknown",
    "geometry",
    "geography",
)
_MOST_NAMED = 3


def measure_clustering(figures: FileFigures, rules: HealthRules) -> Clustering:
    """Measure every column with bounds, the best separated first."""
    found = [one for leaf, kind in figures.leaves if (one := measure_column(figures, leaf, kind)) is not None]
    why = _list_reasons(figures, rules)
    found = [replace(one, why=_say_why(one, why.get(one.name, ""))) for one in found]
    return Clustering(sorted(found, key=lambda one: (one.mean, one.worst, one.name)))


def _list_reasons(figures: FileFigures, rules: HealthRules) -> dict[str, str]:
    """List why a column may be in order: partitions, buckets, the order of rows."""
    reasons: dict[str, list[str]] = {}
    for spec in rules.specs:
        for field in spec.fields:
            word = "partition" if field.transform == "identity" else f"partition {field}"
            listed = reasons.setdefault(field.source_name, [])
            if word not in listed:
                listed.append(word)
    sorted_by = rules.sort_column
    if sorted_by is not None:
        reasons.setdefault(sorted_by[0], []).append(sorted_by[1])
    return {name: ", ".join(words) for name, words in reasons.items()}


def _say_why(depth: ColumnDepth, reason: str) -> str:
    """Say what the depth comes from: what puts rows in order, else whether they are in one at all."""
    words = [reason] if reason else []
    if not reason and depth.files > 1 and depth.mean > depth.files / 2:
        words.append("not sorted across files")
    if depth.unbounded:
        words.append(f"{count(depth.unbounded, 'file')} without bounds")
    if depth.reversed:
        words.append(f"{count(depth.reversed, 'file')} with bounds the wrong way round")
    return "; ".join(words)


def measure_columns(figures: FileFigures, rules: HealthRules, clustering: Clustering) -> Iterator[Measure]:
    """Measure the depth in the order of rows, files without bounds, and columns without statistics."""
    if not len(figures.data) or not rules.has_records:
        return
    sorted_by = rules.sort_column
    depth = None if sorted_by is None else clustering.get(sorted_by[0])
    if depth is not None and sorted_by is not None:
        advice: str = ""
        calls: tuple[Call, ...] = ()
        if not _DEPTH.keeps(depth.inside_mean):
            calls = rules.call_sort(depth.name)
            advice = f"a look-up of one {depth.name} opens that many files of a partition"
        name = f"files that a look-up by the {sorted_by[1]} opens, mean"
        yield Measure(name, "columns", depth.inside_mean, "files", _DEPTH, advice, calls, depth.name)
    absences = _Absences(rules.table)
    yield from _measure_unbounded(clustering, absences)
    yield _measure_silent(figures, rules, clustering, absences)


def _measure_unbounded(clustering: Clustering, absences: _Absences) -> Iterator[Measure]:
    """Files that have no bounds of a column of which others have some: every look-up opens them."""
    if not len(clustering):
        return
    worst = max(clustering, key=lambda one: one.unbounded)
    if not worst.unbounded:
        yield Measure("files without bounds, worst column", "columns", 0, "files", _NONE)
        return
    reason = absences.explain(worst.name, "")
    older = "written without bounds, or before the column was there"
    advice = f"every look-up by {worst.name} opens them: {reason or older}"
    yield Measure(
        "files without bounds, worst column",
        "columns",
        worst.unbounded,
        "files",
        _NONE,
        advice,
        (),
        worst.name,
    )


class _Absences:
    """Why files have no bounds of a column, as far as properties say it. The columns are walked once: there may be many."""

    def __init__(self, table: Table) -> None:
        self._placement = open_placement(table)
        self._fields = {field.name: field for field in table.schema.fields} | dict(table.schema.leaves())

    def explain(self, column: str, file_format: str) -> str:
        """Explain the property that leaves a column's bounds out; empty where none is known."""
        if column not in self._fields:
            return ""
        term = Term("", column, self._fields[column].type, "is not null")
        return self._placement.explain_absence(term, file_format) or ""


def _measure_silent(
    figures: FileFigures, rules: HealthRules, clustering: Clustering, absences: _Absences
) -> Measure:
    """Columns of which no file has bounds although they could have some, and the property that causes it."""
    able = {name for name, _ in _walk_bounded(rules.table.schema.fields)}
    silent = [
        leaf
        for leaf, _ in figures.leaves
        if leaf in able and clustering.get(leaf) is None and not _is_empty(figures, leaf)
    ]
    name = "columns without statistics"
    if not silent:
        return Measure(name, "columns", 0, "count", _NONE)
    formats = figures.column("file_format")
    first = "" if formats is None or not len(figures.data) else formats[int(figures.data[0])].as_py() or ""
    reasons: dict[str, list[str]] = {}
    for leaf in silent:
        reasons.setdefault(absences.explain(leaf, first) or "nothing recorded says why", []).append(leaf)
    said = []
    for reason, names in list(reasons.items())[:_MOST_NAMED]:
        more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        said.append(f"{', '.join(names[:_MOST_NAMED])}{more}: {reason}")
    if len(reasons) > _MOST_NAMED:
        said.append(f"… {len(reasons) - _MOST_NAMED:,} more reasons")
    return Measure(name, "columns", len(silent), "count", _NONE, "; ".join(said), (), silent[0])


def _is_empty(figures: FileFigures, leaf: str) -> bool:
    """Check whether every data file holds nothing but nulls of a column, so that there is nothing to bound."""
    import pyarrow.compute as pc

    nulls, values = figures.stat("null_counts", leaf), figures.stat("value_counts", leaf)
    if nulls is None or nulls.null_count:
        return False
    rows: Any = figures.rows[figures.data] if values is None else values
    return bool(pc.all(pc.equal(nulls, rows)).as_py())


def _walk_bounded(fields: Sequence[Field], prefix: str = "") -> Iterator[tuple[str, Field]]:
    """Walk the leaf columns that may have bounds: those in no list and no map, of a type that is in an order."""
    for field in fields:
        name = f"{prefix}{field.name}"
        if field.type.logical == "struct":
            yield from _walk_bounded(field.type.children, f"{name}.")
        elif field.type.logical not in _NO_BOUNDS:
            yield name, field
