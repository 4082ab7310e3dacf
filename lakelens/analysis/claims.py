"""What the metadata claims of a file beside what the file says of itself.

A bound agrees when it is the same, is wider when it lets more values in (texts are cut short), and differs when it leaves
out a value that the file has: then readers that go by it lose rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from lakelens.lazy import dataclass
from lakelens.model.datafile import DataFile
from lakelens.model.schema import Schema
from lakelens.model.stats import ColumnBounds

Verdict = Literal["agree", "wider", "DIFFER"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One fact that both record: about the whole file, or about one column."""

    fact: str
    column: str
    claimed: Any
    actual: Any
    verdict: Verdict


def compare_claims(found: DataFile, footer: Any) -> list[Claim]:
    """List every fact that the metadata and the footer both record; none of a file that no manifest describes."""
    if found.manifest is None:
        return []
    claims = []
    for fact, claimed, actual in (
        ("rows", found.record_count, getattr(footer, "num_rows", None)),
        ("length", found.size_bytes, getattr(footer, "file_length", None)),
    ):
        if isinstance(claimed, int) and isinstance(actual, int):
            claims.append(Claim(fact, "", claimed, actual, "agree" if claimed == actual else "DIFFER"))
    return [*claims, *_compare_columns(found, footer)]


def _compare_columns(found: DataFile, footer: Any) -> Iterator[Claim]:
    columns = getattr(footer, "columns", None) or ()
    for bound in found.bounds.values():
        name = name_written(found, bound)
        column = None if name is None else find_column(columns, bound, name)
        if column is None:
            continue
        for fact, claimed, actual in (
            ("nulls", bound.nulls, getattr(column, "null_count", None)),
            ("bytes", bound.size, getattr(column, "compressed_size", None)),
        ):
            if claimed is not None and actual is not None:
                yield Claim(fact, bound.name, claimed, actual, "agree" if claimed == actual else "DIFFER")
        yield from _compare_bound("lower", bound.name, bound.lower, getattr(column, "min", None))
        yield from _compare_bound("upper", bound.name, bound.upper, getattr(column, "max", None))


def name_written(found: DataFile, bound: ColumnBounds) -> str | None:
    """Give the column's name in the schema that the file was written with, where the file knows it; else today's.

    None for a column that was added later: the file does not have it.
    """
    schema = getattr(found, "schema", None)
    if isinstance(schema, Schema) and bound.field_id is not None:
        for name, field in schema.walk():
            if field.id == bound.field_id:
                return name
        return None
    return bound.name


def find_column(columns: Sequence[Any], bound: ColumnBounds, name: str) -> Any:
    """Find the file's column of a field id; by its name where the file has no ids, or gives one id to several."""
    if all(getattr(column, "field_id", None) is None for column in columns):
        return next((column for column in columns if column.path == name), None)
    same = [column for column in columns if column.field_id is not None and column.field_id == bound.field_id]
    if len(same) > 1:  # the parts of a variant count from 0 again
        return next((column for column in same if column.path == name), None)
    return same[0] if same else None


def _compare_bound(fact: str, column: str, claimed: Any, actual: Any) -> Iterator[Claim]:
    """Nothing where either is missing, or where they are of kinds that do not compare."""
    if claimed is None or actual is None or type(claimed) is not type(actual):
        return
    try:
        if claimed == actual:
            yield Claim(fact, column, claimed, actual, "agree")
        elif claimed < actual or claimed > actual:
            is_wider = (claimed < actual) == (fact == "lower")
            yield Claim(fact, column, claimed, actual, "wider" if is_wider else "DIFFER")
    except TypeError:  # times with and without a zone, for one
        return
