"""What the metadata claims of a file beside what the file says of itself.

A bound agrees when it is the same, is wider when it lets more values in (texts are cut short), and differs when it leaves
out a value that the file has: then readers that go by it lose rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lakelens.model.datafile import DataFile
from lakelens.model.schema import Schema
from lakelens.model.stats import ColumnBounds
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Cell, Grid

Verdict = Literal["agree", "wider", "DIFFER"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One fact that both tell: of the whole file, or of one column."""

    fact: str
    column: str
    claimed: Any
    told: Any
    verdict: Verdict


def compare_claims(found: DataFile, footer: Any) -> list[Claim]:
    """Every fact that the metadata and the footer both tell; none of a file that no manifest describes."""
    if found.manifest is None:
        return []
    return [*_compare_file(found, footer), *_compare_columns(found, footer)]


def _compare_file(found: DataFile, footer: Any) -> Iterator[Claim]:
    for fact, claimed, told in (
        ("rows", found.record_count, getattr(footer, "num_rows", None)),
        ("length", found.size_bytes, getattr(footer, "file_length", None)),
    ):
        if isinstance(claimed, int) and isinstance(told, int):
            yield Claim(fact, "", claimed, told, "agree" if claimed == told else "DIFFER")


def _compare_columns(found: DataFile, footer: Any) -> Iterator[Claim]:
    columns = getattr(footer, "columns", None) or ()
    for bound in found.bounds.values():
        name = _name_written(found, bound)
        told = None if name is None else _find_column(columns, bound, name)
        if told is None:
            continue
        for fact, claimed, seen in (
            ("nulls", bound.nulls, getattr(told, "null_count", None)),
            ("bytes", bound.size, getattr(told, "compressed_size", None)),
        ):
            if claimed is not None and seen is not None:
                yield Claim(fact, bound.name, claimed, seen, "agree" if claimed == seen else "DIFFER")
        yield from _compare_bound("lower", bound.name, bound.lower, getattr(told, "min", None))
        yield from _compare_bound("upper", bound.name, bound.upper, getattr(told, "max", None))


def _name_written(found: DataFile, bound: ColumnBounds) -> str | None:
    """The column's name in the schema that the file was written with, where the file knows it; else today's.

    None for a column that was added later: the file cannot tell of it.
    """
    schema = getattr(found, "schema", None)
    if isinstance(schema, Schema) and bound.field_id is not None:
        for name, field in schema.walk():
            if field.id == bound.field_id:
                return name
        return None
    return bound.name


def _find_column(columns: Sequence[Any], bound: ColumnBounds, name: str) -> Any:
    """The file's column of a field id; by its name where the file has no ids, or gives one id to several."""
    if all(getattr(column, "field_id", None) is None for column in columns):
        return next((column for column in columns if column.path == name), None)
    same = [column for column in columns if column.field_id is not None and column.field_id == bound.field_id]
    if len(same) > 1:  # the parts of a variant count from 0 again
        return next((column for column in same if column.path == name), None)
    return same[0] if same else None


def _compare_bound(fact: str, column: str, claimed: Any, told: Any) -> Iterator[Claim]:
    """Nothing where either is missing, or where they are of kinds that do not compare."""
    if claimed is None or told is None or type(claimed) is not type(told):
        return
    try:
        if claimed == told:
            yield Claim(fact, column, claimed, told, "agree")
        elif claimed < told:
            yield Claim(fact, column, claimed, told, "wider" if fact == "lower" else "DIFFER")
        elif claimed > told:
            yield Claim(fact, column, claimed, told, "wider" if fact == "upper" else "DIFFER")
    except TypeError:  # times with and without a zone, for one
        return


def word_claims(claims: Sequence[Claim]) -> tuple[str, str]:
    """The alert and the answer: how many facts agree, and what differs."""
    counts = Counter(claim.verdict for claim in claims)
    if not claims:
        return "", "tells nothing that the metadata tells too"
    wider = f", {counts['wider']} wider" if counts["wider"] else ""
    told = f"{wording.count(counts['agree'])} of {wording.plural(len(claims), 'fact')} agree{wider}"
    if not counts["DIFFER"]:
        return "", f"{told} with what the metadata claims"
    first = next(claim for claim in claims if claim.verdict == "DIFFER")
    place = f" of {wording.clean(first.column, 60)}" if first.column else ""
    return f"{wording.count(counts['DIFFER'])} DIFFER", f"{first.fact}{place}; {told}"


def grid_claims(claims: Sequence[Claim]) -> Grid:
    """The facts of the file, those of columns taken together; each column whose fact differs stands by itself."""
    rows = []
    grouped: dict[str, list[Claim]] = {}
    for claim in claims:
        grouped.setdefault(claim.fact, []).append(claim)
    for fact, members in grouped.items():
        alone = [claim for claim in members if not claim.column or claim.verdict == "DIFFER"]
        rows += [_row(claim) for claim in alone]
        together = [claim for claim in members if claim.column and claim.verdict != "DIFFER"]
        if together:
            rows.append(_row_together(fact, together))
    names = ("fact", "metadata", "footer", "verdict!")
    return cells.grid(names, rows, how=".footer", noun="fact", about=("common.data_file",))


def _row(claim: Claim) -> tuple[Cell, ...]:
    fact = f"{claim.fact} of {wording.clean(claim.column, 60)}" if claim.column else claim.fact
    verdict = Cell(claim.verdict, "warn" if claim.verdict == "DIFFER" else "")
    return cells.text(fact), cells.value(claim.claimed), cells.value(claim.told), verdict


def _row_together(fact: str, claims: Sequence[Claim]) -> tuple[Cell, ...]:
    counts = Counter(claim.verdict for claim in claims)
    told = (
        ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
        if len(counts) > 1
        else claims[0].verdict
    )
    columns = wording.plural(len(claims), "column")
    if fact in ("nulls", "bytes"):
        sums = [sum(amounts) for amounts in zip(*((c.claimed, c.told) for c in claims), strict=True)]
        shown = [f"{wording.count(amount)} in {columns}" for amount in sums]
    else:
        shown = [columns, columns]
    return cells.text(f"{fact} of columns"), Cell(shown[0]), Cell(shown[1]), Cell(told)
