"""Statistics of many files by column: the same counts and bounds as `action_file.build_bounds` gives file by file.

    text      lines of JSON, which Arrow parses with the columns' types as its schema: all of a batch in one go
    parsed    the struct that a checkpoint may have instead

A text that is no JSON, and a value of another type than its column's, is refused with `NotColumnar`: the record reader reads
it, and says what is wrong with it. See "Per-file Statistics" of the Delta protocol.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from lakelens.codecs.numbers import read_number
from lakelens.errors import LakeError
from lakelens.formats.delta.scan.rows import ActionRows, find_field
from lakelens.formats.delta.values import BAD, parse_statistics, read_bound
from lakelens.formats.struct_json import StructColumn
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.scan.columnar import NotColumnar
from lakelens.model.scan.files_to_arrow import BOUNDS
from lakelens.model.scan.json_lines import join_lines, make_struct_type, parse_lines
from lakelens.model.scan.wide_bounds import EXACT_DIGITS, widen_singles, widen_texts

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.schema import DataType

_SIDES = {"lower_bounds": "minValues", "upper_bounds": "maxValues", "null_counts": "nullCount"}
_COUNT, _TIGHT = "numRecords", "tightBounds"
_DIGITS = r"\.\d{4,}"  # of a second that was not cut to milliseconds
_OFFSET = r":\d\d(\.\d+)?[+-]\d\d:?\d\d(:\d\d)?$"
_ZONE = r"\s*(Z|UTC|[+-]\d\d:?\d\d)$"


class _Counted(msgspec.Struct, gc=False):
    numRecords: int | None = None  # noqa: N815 (the name in the text)


_decode_counts = msgspec.json.Decoder(_Counted).decode_lines


def count_records(rows: ActionRows) -> pa.Array:
    """Count the rows of each file, as its statistics say. Raises `NotColumnar`."""
    import pyarrow as pa

    text, parsed = _choose(rows)
    if parsed is not None:
        return _clean_counts(find_field(parsed, _COUNT), len(rows))
    if text is None:
        return pa.nulls(len(rows), pa.int64())
    try:
        counted = _decode_counts(memoryview(join_lines(text)))
    except (msgspec.DecodeError, UnicodeDecodeError):
        counted = []
    is_counted = len(counted) == len(rows)
    counts = [one.numRecords for one in counted] if is_counted else [*map(_count_singly, text.to_pylist())]
    return pa.array(
        [None if count is None or not 0 <= count < 2**63 else count for count in counts], pa.int64()
    )


def _count_singly(text: str | None) -> int | None:
    if not text:
        return None
    try:
        return read_number(parse_statistics(text, ""), _COUNT)
    except LakeError as error:  # a finding of the record reader
        raise NotColumnar(str(error)) from None


def build_stats(
    rows: ActionRows, leaves: Sequence[StructColumn], wanted: Sequence[str]
) -> tuple[pa.Array, dict[str, dict[str, pa.Array]]]:
    """Count rows, and build the wanted columns of the contract: arrays by leaf. Raises `NotColumnar`.

    A leaf that no file has anything for is left out.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    found: dict[str, dict[str, pa.Array]] = {name: {} for name in wanted}
    text, parsed = _choose(rows)
    held = parsed if text is None else parse_texts(text, leaves)
    nothing = pa.nulls(len(rows), pa.int64())
    if held is None:
        return nothing, found
    counts = _clean_counts(find_field(held, _COUNT), len(rows))
    tight = find_field(held, _TIGHT)
    if tight is not None and not pa.types.is_boolean(tight.type):
        raise NotColumnar(f"{_TIGHT} is {tight.type}")
    loose = None if tight is None or tight.null_count == len(rows) else pc.fill_null(pc.invert(tight), False)
    structs = {name: find_field(held, side) for name, side in _SIDES.items()}
    for leaf in leaves:
        sides = {name: find_field(struct, *leaf.physical) for name, struct in structs.items()}
        there = [side for side in sides.values() if side is not None and side.null_count < len(rows)]
        if not there:
            continue
        if any(pa.types.is_nested(side.type) for side in there):
            raise NotColumnar(f"statistics of {leaf.name} are {there[0].type}")
        for name in wanted:
            side, made = sides.get(name), nothing
            if name in BOUNDS:
                kind = arrow_type(leaf.field.type)
                is_upper = name == "upper_bounds"
                made = (
                    pa.nulls(len(rows), kind)
                    if side is None
                    else _read_bounds(side, leaf.field.type, kind, is_upper)
                )
                made = widen_singles(made, is_upper) if leaf.was_single else made
            elif name == "null_counts":
                made = _clean_counts(side, len(rows))
                if loose is not None:
                    says_all = pc.fill_null(pc.or_(pc.equal(made, 0), pc.equal(made, counts)), False)
                    made = pc.if_else(pc.and_(loose, pc.invert(says_all)), pa.scalar(None, pa.int64()), made)
            elif name == "value_counts":
                made = counts
                if all(side.null_count for side in there):
                    some = functools.reduce(pc.or_, [side.is_valid() for side in there])
                    made = pc.if_else(some, counts, pa.scalar(None, pa.int64()))
            found[name][leaf.name] = made
    return counts, found


def _choose(rows: ActionRows) -> tuple[pa.Array | None, pa.Array | None]:
    """Choose the text or the struct; the text counts where a file has both. Raises `NotColumnar` where some have each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text, parsed = rows.get("stats"), rows.get("stats_parsed")
    if text is not None and pc.any(pc.equal(text, "")).as_py():
        text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
    if text is not None and text.null_count == len(text):
        text = None
    if parsed is not None and (not pa.types.is_struct(parsed.type) or parsed.null_count == len(parsed)):
        parsed = None
    if text is None or parsed is None:
        return text, parsed
    if pc.any(pc.and_(text.is_null(), parsed.is_valid())).as_py():
        raise NotColumnar("statistics as text and as a struct")
    return text, None


def _clean_counts(counts: pa.Array | None, rows: int) -> pa.Array:
    """Counts that are counts; null for those below zero."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if counts is None:
        return pa.nulls(rows, pa.int64())
    if not pa.types.is_integer(counts.type):
        raise NotColumnar(f"a count is {counts.type}")
    counts = counts.cast(pa.int64())
    if (pc.min(counts).as_py() or 0) >= 0:
        return counts
    return pc.if_else(pc.greater_equal(counts, 0), counts, pa.scalar(None, pa.int64()))


# --- text ---------------------------------------------------------------------------------------------------------------


def parse_texts(text: pa.Array, leaves: Sequence[StructColumn]) -> pa.StructArray:
    """Parse texts into a struct of what they say of the leaves. Raises `NotColumnar`."""
    import pyarrow as pa

    schema = pa.schema(
        [
            (_COUNT, pa.int64()),
            (_TIGHT, pa.bool_()),
            *(
                (side, make_struct_type([(leaf.physical, _choose_type(leaf, side)) for leaf in leaves]))
                for side in _SIDES.values()
            ),
        ]
    )
    return parse_lines(text, schema)


def _choose_type(leaf: StructColumn, side: str) -> pa.DataType:
    """Choose as what a bound stands in the text: what it is made of comes after that."""
    import pyarrow as pa

    logical = leaf.field.type.logical
    if side == _SIDES["null_counts"] or logical.startswith("int"):
        return pa.int64()
    if logical in ("float32", "float64"):
        return pa.float64()
    if logical == "decimal":
        return arrow_type(leaf.field.type)
    return pa.bool_() if logical == "boolean" else pa.string()


# --- bounds -------------------------------------------------------------------------------------------------------------


def _read_bounds(stored: pa.Array, kind: DataType, target: pa.DataType, is_upper: bool) -> pa.Array:
    """`values.read_bound` of each. Raises `NotColumnar`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    logical = kind.logical
    try:
        if logical == "string" and pa.types.is_string(stored.type):
            return widen_texts(stored) if is_upper else stored
        if logical in ("timestamp", "timestamptz"):
            return _read_moments(stored, target, is_upper)
        if logical in ("float32", "float64") and pa.types.is_floating(stored.type):
            numbers = stored.cast(pa.float64())
            nan = pc.is_nan(numbers)
            return pc.if_else(nan, pa.scalar(None, pa.float64()), numbers).cast(target, safe=False)
        if logical.startswith("int") and pa.types.is_integer(stored.type):
            return stored.cast(target)
        if logical == "date" and (pa.types.is_date32(stored.type) or pa.types.is_string(stored.type)):
            return stored.cast(target)
        if logical == "boolean" and pa.types.is_boolean(stored.type):
            return stored
        if logical == "decimal" and stored.type == target and kind.precision <= EXACT_DIGITS:
            return stored
    except pa.ArrowInvalid:
        pass  # one by one, then: what is wrong with a value is found there
    try:
        values = [read_bound(value, kind, is_upper=is_upper)[0] for value in stored.to_pylist()]
    except BAD as error:
        raise NotColumnar(str(error)) from None
    return to_array(values, target)


def _read_moments(stored: pa.Array, target: pa.DataType, is_upper: bool) -> pa.Array:
    """Moments from text, or as the struct has them. What was cut to milliseconds may have been up to 999 µs later."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_timestamp(stored.type):
        moments = stored.cast(pa.timestamp("us", stored.type.tz), safe=False).view(pa.int64())
        is_cut: Any = pc.equal(pc.multiply(pc.divide(moments, 1000), 1000), moments)
    elif pa.types.is_string(stored.type):
        ends = pc.all(pc.ends_with(stored, "Z")).as_py()
        if not ends and pc.any(pc.match_substring_regex(stored, _OFFSET)).as_py():
            raise pa.ArrowInvalid("an offset, which may have lost its seconds")
        texts = stored if target.tz else pc.replace_substring_regex(stored, _ZONE, "")
        moments = texts.cast(target).view(pa.int64())
        is_cut = pa.scalar(True)
        if not ends or pc.max(pc.binary_length(stored)).as_py() > len("2024-01-31T10:11:12.123Z"):
            is_cut = pc.invert(pc.match_substring_regex(stored, _DIGITS))
    else:
        raise pa.ArrowInvalid(f"a moment is {stored.type}")
    if is_upper:
        moments = pc.if_else(is_cut, pc.add_checked(moments, 999), moments)
    return moments.view(target)
