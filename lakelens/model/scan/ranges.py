"""What is known of the values of a column, item by item, and what that proves about a comparison.

Nothing is taken as proved that bounds do not prove: NaN is above every number (SQL's order, that of Spark and DuckDB) and
outside of bounds, so a bound proves `x > 5` false only where there is no NaN; a bound that is NaN proves nothing; counts
that are not recorded prove nothing. Bounds of text may be cut short: a lower one is then below, an upper one above every
value, which is all that is needed here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from lakelens.lazy import dataclass
from lakelens.model.arrow import arrow_type, to_array

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.model.stats import Term

    Mask = NDArray[np.bool_]


_FEW = 8  # literals that are compared one by one


@dataclass(frozen=True, slots=True)
class Ranges:
    """The values of one column in some items (manifests, files, row groups): Arrow arrays, one entry an item.

    `lower` and `upper` are of the column's type (of text also its bytes, where a bound is no text). Of `values` (nulls
    included), `nulls` are null and `nans` are NaN; an entry that is null is not known.
    """

    lower: pa.Array
    upper: pa.Array
    nulls: pa.Array
    values: pa.Array
    nans: pa.Array

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def is_known(self) -> Mask:
        """For each item whether there is a bound or a count."""
        found = (array.is_valid() for array in (self.lower, self.upper, self.nulls))
        return _any(found)

    @property
    def is_bounded(self) -> Mask:
        """For each item whether there are both bounds, or only nulls."""
        nulls, values = _count(self.nulls), _count(self.values)
        return _mask(self.lower.is_valid()) & _mask(self.upper.is_valid()) | _is_equal(nulls, values)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What ranges prove of a comparison, item by item: that no row fits, and by counts of nulls alone; that all rows do."""

    none: Mask
    none_by_nulls: Mask
    all: Mask


def judge(term: Term, ranges: Ranges) -> Verdict:
    """Judge what ranges prove of a comparison.

    >>> import pyarrow as pa
    >>> from lakelens.model.schema import DataType
    >>> from lakelens.model.stats import Term
    >>> counts = pa.array([0, 0, 0]), pa.array([9, 9, 9]), pa.array([None] * 3, pa.int64())
    >>> ranges = Ranges(pa.array([1, 5, 8], pa.int32()), pa.array([4, 7, 9], pa.int32()), *counts)
    >>> verdict = judge(Term("x > 7", "x", DataType("int", "int32"), ">", (7,)), ranges)
    >>> verdict.none.tolist(), verdict.all.tolist()
    ([True, True, False], [False, False, True])
    """
    facts = _Facts(term, ranges)
    by_nulls = facts.only_nulls if term.test != "is null" else facts.no_nulls
    none = _NONE[term.test](facts) if term.test in _NONE else by_nulls
    proved = _ALL[term.test](facts) & term.is_exact
    if term.test != "is null":
        proved = proved & facts.no_nulls
    return Verdict(none | by_nulls, by_nulls, proved & ~(none | by_nulls))


class _Facts:
    """Ranges beside the literals of a term, all of one comparable type."""

    def __init__(self, term: Term, ranges: Ranges) -> None:
        from lakelens.arrays import pa, pc

        kind = arrow_type(term.type)
        self.term = term
        self.lower, self.upper = to_comparable(ranges.lower), to_comparable(ranges.upper)
        nulls, values, nans = _count(ranges.nulls), _count(ranges.values), _count(ranges.nans)
        self.no_nulls: Mask = nulls == 0
        self.only_nulls: Mask = _is_equal(nulls, values)
        is_floating = pa.types.is_floating(kind)
        self.no_nans: Mask = (nans == 0) if is_floating else (nulls == nulls) | True
        self.only_nans: Mask = (
            (nans >= 0) & (nulls >= 0) & (nans + nulls == values) if is_floating else ~self.no_nans
        )
        wanted = to_comparable(to_array(list(term.values), kind))
        #: a literal that Arrow does not hold proves nothing
        self.is_lost = wanted.null_count > 0
        #: the literals, and of floats those that engines take for the same number
        self.values = self.exact = wanted.drop_null()
        if pa.types.is_float32(kind):
            # engines compare with the double that is written, or with the float next to it
            near = pa.array([float(value) for value in term.values], pa.float64())
            self.exact = self.values.filter(pc.is_in(self.values, value_set=near))
            self.values = pc.unique(pa.concat_arrays([self.values, near]))
        self.literals = list(self.values)
        # a column of which nothing is known has no type
        if any(pa.types.is_null(bound.type) for bound in (self.lower, self.upper)):
            self.lower = self.upper = pa.nulls(len(self.lower), self.values.type)

    def compare(self, bound: str, test: Callable[[Any, Any], Any], literal: Any) -> Mask:
        """For each item whether a bound is known and compares so with a literal."""
        from lakelens.arrays import pc

        names = {operator.lt: pc.less, operator.le: pc.less_equal, operator.gt: pc.greater}
        function = {**names, operator.ge: pc.greater_equal, operator.eq: pc.equal}[test]
        return _mask(function(getattr(self, bound), literal))

    def all_literals(self, prove: Callable[[Any], Mask]) -> Mask:
        """For each item whether something holds for every literal."""
        found = self.only_nulls | (not self.is_lost)
        for literal in self.literals:
            found = found & prove(literal)
        return found

    def outside(self, literal: Any) -> Mask:
        """Check whether a literal is outside of the bounds. It is no NaN: no NaN equals it."""
        below = self.compare("lower", operator.gt, literal)
        return below | self.compare("upper", operator.lt, literal) | self.only_nans

    def is_single(self, literal: Any) -> Mask:
        """Check whether every value is this one."""
        both = self.compare("lower", operator.eq, literal) & self.compare("upper", operator.eq, literal)
        return both & self.no_nans

    def none_of(self) -> Mask:
        """Check whether no value is among the literals."""
        if len(self.literals) < _FEW:
            return self.all_literals(self.outside)
        from lakelens.arrays import np

        ordered = np.sort(_as_numbers(self.values))
        places = np.flatnonzero(_mask(self.lower.is_valid()) & _mask(self.upper.is_valid()))
        lower, upper = (_as_numbers(end.take(places)) for end in (self.lower, self.upper))
        least = np.searchsorted(ordered, lower)  # the first literal that is not below the bounds
        inside = np.zeros(len(places), np.bool_)
        within = least < len(ordered)
        inside[within] = ordered[least[within]] <= upper[within]
        found: Mask = np.zeros(len(self.lower), np.bool_)
        found[places] = ~inside
        return (found | self.only_nans) & (not self.is_lost)

    def single_of(self) -> Mask:
        """Check whether every value is one of the literals, and the same one, in whichever way engines compare with it."""
        from lakelens.arrays import pc

        is_one = _mask(pc.equal(self.lower, self.upper))
        return is_one & _mask(pc.is_in(self.lower, value_set=self.exact)) & self.no_nans

    def prefixed(self, bound: str, test: Callable[[Any, Any], Any]) -> Mask:
        """Say how the beginning of a bound, as long as the literal, compares with it."""
        from lakelens.arrays import pc

        (prefix,) = self.literals
        begin = pc.binary_slice(getattr(self, bound), 0, len(prefix.as_py()))
        names = {operator.lt: pc.less, operator.gt: pc.greater, operator.eq: pc.equal}
        return _mask(names[test](begin, prefix))

    def all_prefixed(self) -> Mask:
        """Check whether every value starts with the literal."""
        return self.prefixed("lower", operator.eq) & self.prefixed("upper", operator.eq)

    def none_prefixed(self) -> Mask:
        """Check whether no value starts with the literal."""
        return self.prefixed("lower", operator.gt) | self.prefixed("upper", operator.lt)


def _above(facts: _Facts, test: Callable[[Any, Any], Any]) -> Mask:
    """All values compare so by their lower bound."""
    return facts.all_literals(lambda one: facts.compare("lower", test, one))


def _below(facts: _Facts, test: Callable[[Any, Any], Any]) -> Mask:
    """All values compare so by their upper bound, and none is NaN."""
    return facts.all_literals(lambda one: facts.compare("upper", test, one)) & facts.no_nans


_NONE: dict[str, Callable[[_Facts], Mask]] = {
    "=": _Facts.none_of,
    "in": _Facts.none_of,
    "!=": lambda facts: facts.all_literals(facts.is_single),
    "not in": _Facts.single_of,
    "<": lambda facts: _above(facts, operator.ge) | facts.only_nans,
    "<=": lambda facts: _above(facts, operator.gt) | facts.only_nans,
    ">": lambda facts: _below(facts, operator.le),
    ">=": lambda facts: _below(facts, operator.lt),
    "starts with": _Facts.none_prefixed,
    "not starts with": _Facts.all_prefixed,
    "is nan": lambda facts: facts.no_nans,
    "is not nan": lambda facts: facts.only_nans,
}
_ALL: dict[str, Callable[[_Facts], Mask]] = {
    "=": lambda facts: facts.all_literals(facts.is_single),
    "in": _Facts.single_of,
    "!=": lambda facts: facts.all_literals(facts.outside),
    "not in": _Facts.none_of,
    "<": lambda facts: _below(facts, operator.lt),
    "<=": lambda facts: _below(facts, operator.le),
    ">": lambda facts: _above(facts, operator.gt),
    ">=": lambda facts: _above(facts, operator.ge),
    "is null": lambda facts: facts.only_nulls,
    "is not null": lambda facts: facts.no_nulls,
    "starts with": _Facts.all_prefixed,
    "not starts with": _Facts.none_prefixed,
    "is nan": lambda facts: facts.only_nans & facts.no_nulls,
    "is not nan": lambda facts: facts.no_nans,
}


def to_comparable(array: Any) -> Any:
    """Values in a type whose order Arrow knows: booleans as numbers, floats as doubles, text and uuids as bytes; no NaN."""
    from lakelens.arrays import pa, pc

    array = getattr(array, "storage", array)
    kind = array.type
    if pa.types.is_boolean(kind):
        return array.cast(pa.int8())
    if pa.types.is_floating(kind):
        array = array.cast(pa.float64())
        return pc.if_else(pc.is_nan(array), pa.scalar(None, pa.float64()), array)
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return array.cast(pa.binary())
    return array


def _as_numbers(array: Any) -> NDArray[Any]:
    """Comparable values as numpy's, which can be searched: times as counts, texts and decimals as objects."""
    from lakelens.arrays import pa

    kind = array.type
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        array = array.view(pa.int32())
    elif pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        array = array.view(pa.int64())
    found: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return found


def _mask(array: Any) -> Mask:
    """A boolean array as numpy's; what is not known is false."""
    if array.null_count:
        array = array.fill_null(False)
    found: Mask = array.to_numpy(zero_copy_only=False)
    return found


def _any(arrays: Iterable[Any]) -> Mask:
    masks = [_mask(array) for array in arrays]
    found = masks[0].copy()
    for mask in masks[1:]:
        found |= mask
    return found


def _count(array: Any) -> NDArray[np.int64]:
    """Counts as numpy's; one that is not known, or is no count, is negative."""
    if array.null_count:
        array = array.fill_null(-1)
    counts: NDArray[np.int64] = array.to_numpy(zero_copy_only=False)
    return counts


def _is_equal(nulls: NDArray[np.int64], values: NDArray[np.int64]) -> Mask:
    """Check whether both are known and equal: there is nothing but nulls."""
    found: Mask = (nulls >= 0) & (nulls == values)
    return found
