"""What is used of Arrow's functions where the core works without pyarrow; names, arguments and results are pyarrow's."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from decimal import Context
from typing import Any

from lakelens.arrays import kinds
from lakelens.arrays.lists import ListColumn, Scalar

_EXACT = Context(prec=200)


def _list_side(side: Any, count: int) -> list[Any]:
    if isinstance(side, ListColumn):
        return side.items
    return [side.item if isinstance(side, Scalar) else side] * count


def _map(function: Callable[[Any, Any], Any], left: Any, right: Any, kind: Any = None) -> ListColumn:
    """Map the items of two columns, or of one and a value: null where either is."""
    count = len(left if isinstance(left, ListColumn) else right)
    pairs = zip(_list_side(left, count), _list_side(right, count), strict=True)
    found = (None if one is None or other is None else function(one, other) for one, other in pairs)
    return ListColumn(found, kinds.bool_() if kind is None else kind)


def equal(left: Any, right: Any) -> ListColumn:
    """See `pyarrow.compute.equal`."""
    return _map(operator.eq, left, right)


def less(left: Any, right: Any) -> ListColumn:
    """See `pyarrow.compute.less`."""
    return _map(operator.lt, left, right)


def less_equal(left: Any, right: Any) -> ListColumn:
    """See `pyarrow.compute.less_equal`."""
    return _map(operator.le, left, right)


def greater(left: Any, right: Any) -> ListColumn:
    """See `pyarrow.compute.greater`."""
    return _map(operator.gt, left, right)


def greater_equal(left: Any, right: Any) -> ListColumn:
    """See `pyarrow.compute.greater_equal`."""
    return _map(operator.ge, left, right)


def and_(left: Any, right: Any) -> ListColumn:
    """See `pyarrow.compute.and_`."""
    return _map(operator.and_, left, right)


def add(left: Any, right: Any) -> ListColumn:
    """See `pyarrow.compute.add`."""
    is_decimal = kinds.types.is_decimal(left.type)
    return _map(_EXACT.add if is_decimal else operator.add, left, right, left.type)


def subtract(left: Any, right: Any) -> ListColumn:
    """See `pyarrow.compute.subtract`."""
    return _map(operator.sub, left, right, left.type)


def invert(column: ListColumn) -> ListColumn:
    """See `pyarrow.compute.invert`."""
    return ListColumn((None if item is None else not item for item in column.items), kinds.bool_())


def is_valid(column: ListColumn) -> ListColumn:
    """See `pyarrow.compute.is_valid`."""
    return column.is_valid()


def is_nan(column: ListColumn) -> ListColumn:
    """See `pyarrow.compute.is_nan`."""
    return ListColumn((None if item is None else math.isnan(item) for item in column.items), kinds.bool_())


def is_in(column: ListColumn, value_set: ListColumn) -> ListColumn:
    """See `pyarrow.compute.is_in`: null is in a set that has it."""
    known = set(value_set.items)
    return ListColumn((item in known for item in column.items), kinds.bool_())


def fill_null(column: ListColumn, value: Any) -> ListColumn:
    """See `pyarrow.compute.fill_null`."""
    return column.fill_null(value.item if isinstance(value, Scalar) else value)


def if_else(mask: ListColumn, yes: Any, no: Any) -> ListColumn:
    """See `pyarrow.compute.if_else`."""
    sides = (_list_side(side, len(mask)) for side in (yes, no))
    chosen = zip(mask.items, *sides, strict=True)
    kind = yes.type if not kinds.types.is_null(yes.type) else no.type
    found = (None if is_so is None else left if is_so else right for is_so, left, right in chosen)
    return ListColumn(found, kind)


def unique(column: ListColumn) -> ListColumn:
    """See `pyarrow.compute.unique`."""
    if column.null_count:
        return ListColumn(dict.fromkeys(column.items), column.type)
    return column.dictionary_encode().dictionary


def _choose(function: Callable[[Any, Any], Any], left: Any, right: Any, skip_nulls: bool) -> ListColumn:
    if skip_nulls:
        raise NotImplementedError("nulls are not skipped here")
    return _map(function, left, right, left.type)


def max_element_wise(left: Any, right: Any, skip_nulls: bool = True) -> ListColumn:
    """See `pyarrow.compute.max_element_wise`."""
    return _choose(max, left, right, skip_nulls)


def min_element_wise(left: Any, right: Any, skip_nulls: bool = True) -> ListColumn:
    """See `pyarrow.compute.min_element_wise`."""
    return _choose(min, left, right, skip_nulls)


def min_max(column: ListColumn) -> dict[str, Scalar]:
    """See `pyarrow.compute.min_max`: nulls are passed over, and NaN where there is a number."""
    valid = [item for item in column.items if item is not None]
    known = [item for item in valid if item == item] or valid[:1]
    return {
        "min": Scalar(min(known, default=None), column.type),
        "max": Scalar(max(known, default=None), column.type),
    }


def struct_field(column: ListColumn, place: int) -> ListColumn:
    """See `pyarrow.compute.struct_field`: null where the struct is."""
    child = column.field(place)
    pairs = zip(column.items, child.items, strict=True)
    return ListColumn((None if item is None else inner for item, inner in pairs), child.type)


def binary_slice(column: ListColumn, start: int, stop: int) -> ListColumn:
    """See `pyarrow.compute.binary_slice`."""
    return ListColumn((None if item is None else item[start:stop] for item in column.items), column.type)


def binary_join_element_wise(column: ListColumn, end: bytes, between: bytes) -> ListColumn:
    """See `pyarrow.compute.binary_join_element_wise`, of a column and a value."""
    return ListColumn((None if item is None else item + between + end for item in column.items), column.type)


def utf8_length(column: ListColumn) -> ListColumn:
    """See `pyarrow.compute.utf8_length`."""
    return ListColumn((None if item is None else len(item) for item in column.items), kinds.int32())


def ends_with(column: ListColumn, end: str) -> ListColumn:
    """See `pyarrow.compute.ends_with`."""
    return ListColumn((None if item is None else item.endswith(end) for item in column.items), kinds.bool_())


def list_parent_indices(column: ListColumn) -> ListColumn:
    """See `pyarrow.compute.list_parent_indices`."""
    found: Iterable[int] = (place for place, item in enumerate(column.items) for _ in item or ())
    return ListColumn(found, kinds.int64())
