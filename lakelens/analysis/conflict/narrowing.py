"""Which narrower filter would have passed: the same, without the partitions or the values of the files that collide.

A filter is given only if every check passes with it on the commits that came, and it still meets files of the base: then the
part of the statement that nobody disturbed can be committed by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.analysis.explain.completing import quote_name, write_literal
from lakelens.analysis.explain.conditions import parse_condition
from lakelens.errors import LakeError
from lakelens.model.check.attempt import Way
from lakelens.model.stats import Condition, Group, Term, list_terms

if TYPE_CHECKING:
    from lakelens.model.table import Table

_MOST = 20  # values that a filter names
_MOST_TEXT = 10_000  # characters of one


def list_narrower(
    table: Table, where: str | None, files: Sequence[Any], passes: Callable[[str], bool], bounds: bool
) -> Iterator[Way]:
    """List the first narrower filter by partitions that passes, else by the bounds of a column of the filter.

    `files` are those that collide; `passes` says of a filter whether the commit would pass with it and meets files.
    """
    for cut, left in [*_cut_partitions(table, files), *(_cut_bounds(table, where, files) if bounds else ())]:
        text = cut if where is None else f"({where}) AND {cut}"
        if passes(text):
            yield Way(f"where {text}", "yes", f"rows with {left} stay as they are until it is run for them")
            return


def _cut_partitions(table: Table, files: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Cut off the values that a partition column has in the files."""
    for field in table.partitioning.fields:
        if field.transform != "identity":
            continue
        values = list(dict.fromkeys(file.partition.get(field.name) for file in files))
        words = [write_literal(value, _MOST_TEXT) for value in values if value is not None]
        if len(values) > _MOST or "" in words:
            continue
        name = quote_name(field.source_name)
        cuts = [f"{name} NOT IN ({', '.join(words)})"] if words else []
        cuts += [f"{name} IS NOT NULL"] if None in values else []
        shown = ", ".join([*words, *(["NULL"] if None in values else [])])
        yield " AND ".join(cuts), f"{name} {shown}"


def _cut_bounds(table: Table, where: str | None, files: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Cut off what is between the bounds of a column of the filter in the files, if the filter reaches beyond them."""
    if where is None:
        return
    condition = parse_condition(where, table.schema)
    for column in dict.fromkeys(term.column for term in list_terms(condition)):
        asked = _find_range(condition, column)
        try:
            sides = [(file.bounds[column].lower, file.bounds[column].upper) for file in files]
            low, high = min(lower for lower, _ in sides), max(upper for _, upper in sides)
            reaches = any(side is None for side in asked) or asked[0] < low or asked[1] > high
        except (KeyError, TypeError, ValueError, LakeError):  # a file without bounds of it
            continue
        first, last = write_literal(low, _MOST_TEXT), write_literal(high, _MOST_TEXT)
        if reaches and first and last:
            name = quote_name(column)
            yield f"({name} < {first} OR {name} > {last})", f"{name} from {first} to {last}"


def _find_range(condition: Condition, column: str) -> tuple[Any, Any]:
    """Find the least and the greatest value of a column that fit; None for a side without an end."""
    if isinstance(condition, Group):
        ranges = [_find_range(part, column) for part in condition.parts]
        is_and = condition.kind == "and"
        lows, highs = ([side for side in sides if side is not None] for sides in zip(*ranges, strict=True))
        low = max(lows, default=None) if is_and else min(lows) if len(lows) == len(ranges) else None
        high = min(highs, default=None) if is_and else max(highs) if len(highs) == len(ranges) else None
        return low, high
    if not isinstance(condition, Term) or condition.column != column or not condition.values:
        return None, None
    least, most = min(condition.values), max(condition.values)
    return (
        least if condition.test in ("=", "in", ">", ">=") else None,
        most if condition.test in ("=", "in", "<", "<=") else None,
    )
