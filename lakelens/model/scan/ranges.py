"""What is known of the values of a column, item by item, and what that proves about a comparison.

Nothing is taken as proved that bounds do not prove: NaN is above every number (SQL's order, that of Spark and DuckDB) and
outside of bounds, so a bound proves `x > 5` false only where there is no NaN; a bound that is NaN proves nothing; counts
that are not recorded prove nothing. Bounds of text may be cut short: a lower one is then below, an upper one above every
value, which is all that is needed here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.model.arrow import arrow_type, to_array

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.model.predicate import Term

    Mask = NDArray[np.bool_]


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
    """What ranges prove of a comparison.

    >>> import pyarrow as pa
    >>> from lakelens.model.schema import DataType
    >>> from lakelens.model.predicate import Term
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
        import pyarrow as pa

        kind = arrow_type(term.type)
        self.term = term
        self.lower, self.upper = _comparable(ranges.lower), _comparable(ranges.upper)
        nulls, values, nans = _count(ranges.nulls), _count(ranges.values), _count(ranges.nans)
        self.no_nulls: Mask = nulls == 0
        self.only_nulls: Mask = _is_equal(nulls, values)
        is_floating = pa.types.is_floating(kind)
        self.no_nans: Mask = (nans == 0) if is_floating else (nulls == nulls) | True
        self.only_nans: Mask = (
            (nans >= 0) & (nulls >= 0) & (nans + nulls == values) if is_floating else ~self.no_nans
        )
        literals = _comparable(to_array(list(term.values), kind)) if term.values else pa.array([], kind)
        self.literals = self.exact = [one for one in literals if one.is_valid]
        #: a literal that Arrow does not hold proves nothing
        self.is_lost = len(self.literals) < len(term.values)
        if pa.types.is_float32(kind):
            # engines compare with the double that is written, or with the float next to it
            near = _comparable(pa.array([float(value) for value in term.values], pa.float64()))
            written = {one.as_py() for one in near}
            self.exact = [one for one in self.literals if one.as_py() in written]
            self.literals = [*self.literals, *(one for one in near if one not in self.exact)]

    def compare(self, bound: str, test: Callable[[Any, Any], Any], literal: Any) -> Mask:
        """For each item whether a bound is known and compares so with a literal."""
        import pyarrow.compute as pc

        names = {operator.lt: pc.less, operator.le: pc.less_equal, operator.gt: pc.greater}
        function = {**names, operator.ge: pc.greater_equal, operator.eq: pc.equal}[test]
        return _mask(function(getattr(self, bound), literal))

    def all_literals(self, prove: Callable[[Any], Mask]) -> Mask:
        """For each item whether something holds for every literal."""
        found = self.only_nulls | (not self.is_lost)
        for literal in self.literals:
            found = found & prove(literal)
        return found

    def any_literal(self, prove: Callable[[Any], Mask]) -> Mask:
        """For each item whether something holds for one literal, in whichever way engines compare with it."""
        found = self.only_nulls & False
        for literal in self.exact:
            found = found | prove(literal)
        return found

    def outside(self, literal: Any) -> Mask:
        """Whether a literal is outside of the bounds. It is no NaN: no NaN equals it."""
        below = self.compare("lower", operator.gt, literal)
        return below | self.compare("upper", operator.lt, literal) | self.only_nans

    def is_single(self, literal: Any) -> Mask:
        """Whether every value is this one."""
        both = self.compare("lower", operator.eq, literal) & self.compare("upper", operator.eq, literal)
        return both & self.no_nans

    def none_of(self) -> Mask:
        """Whether no value is among the literals: of many those between the bounds of few items are looked at."""
        if len(self.literals) < 3 or self.is_lost:
            return self.all_literals(self.outside)
        import numpy as np
        import pyarrow as pa

        ordered = sorted(self.literals, key=lambda one: one.as_py())
        least, most = ordered[0], ordered[-1]
        found = self.compare("lower", operator.gt, most) | self.compare("upper", operator.lt, least)
        found = found | self.only_nans
        places = np.flatnonzero(~found & _mask(self.lower.is_valid()) & _mask(self.upper.is_valid()))
        if len(places):
            few = _Few(self, pa.array(places))
            found[places] = few.all_literals(few.outside)
        return found

    def prefixed(self, bound: str, test: Callable[[Any, Any], Any]) -> Mask:
        """How the beginning of a bound, as long as the literal, compares with it."""
        import pyarrow.compute as pc

        (prefix,) = self.literals
        begin = pc.binary_slice(getattr(self, bound), 0, len(prefix.as_py()))
        names = {operator.lt: pc.less, operator.gt: pc.greater, operator.eq: pc.equal}
        return _mask(names[test](begin, prefix))

    def all_prefixed(self) -> Mask:
        """Whether every value starts with the literal."""
        return self.prefixed("lower", operator.eq) & self.prefixed("upper", operator.eq)

    def none_prefixed(self) -> Mask:
        """Whether no value starts with the literal."""
        return self.prefixed("lower", operator.gt) | self.prefixed("upper", operator.lt)


class _Few(_Facts):
    """The same of some of the items."""

    def __init__(self, facts: _Facts, places: pa.Array) -> None:
        chosen = places.to_numpy()
        self.term, self.literals, self.exact = facts.term, facts.literals, facts.exact
        self.is_lost = facts.is_lost
        self.lower, self.upper = facts.lower.take(places), facts.upper.take(places)
        self.no_nulls, self.only_nulls = facts.no_nulls[chosen], facts.only_nulls[chosen]
        self.no_nans, self.only_nans = facts.no_nans[chosen], facts.only_nans[chosen]


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
    "not in": lambda facts: facts.any_literal(facts.is_single),
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
    "in": lambda facts: facts.any_literal(facts.is_single),
    "!=": lambda facts: facts.all_literals(facts.outside),
    "not in": lambda facts: facts.all_literals(facts.outside),
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


def _comparable(array: Any) -> Any:
    """Values in a type whose order Arrow knows: booleans as numbers, floats as doubles, text and uuids as bytes; no NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

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


def _mask(array: Any) -> Mask:
    """A boolean array as numpy's; what is not known is false."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found: Mask = pc.fill_null(array, pa.scalar(False)).to_numpy(zero_copy_only=False)
    return found


def _any(arrays: Iterable[Any]) -> Mask:
    masks = [_mask(array) for array in arrays]
    found = masks[0].copy()
    for mask in masks[1:]:
        found |= mask
    return found


def _count(array: Any) -> NDArray[np.int64]:
    """Counts as numpy's; one that is not known, or is no count, is negative."""
    import pyarrow.compute as pc

    counts: NDArray[np.int64] = pc.fill_null(array, -1).to_numpy(zero_copy_only=False)
    return counts


def _is_equal(nulls: NDArray[np.int64], values: NDArray[np.int64]) -> Mask:
    """Whether both are known and equal: there is nothing but nulls."""
    found: Mask = (nulls >= 0) & (nulls == values)
    return found
