"""The card of every file's life: one table, a group of lines for each format."""

from __future__ import annotations

from itertools import groupby

from lakelens.model.life.lifetimes import Lifetime, Lifetimes
from lakelens.views.card import cells
from lakelens.views.card.model import Card, Cell, Column, Grid, Note
from lakelens.views.describe import describe

_COLUMNS = (
    Column("file", title="a file by its name, or what is kept elsewhere"),
    Column("who writes it"),
    Column("who names it", title="where a reader finds its name"),
    Column("may change", title="whether it is ever written again under its name"),
    Column("when it goes", title="which statement or procedure deletes it"),
)
_ORPHANS = (
    "Files that nothing names and no rule removes (a crashed write, a lost commit) are orphans: remove_orphan_files of "
    "Iceberg or of Paimon looks for them by age. Hive has none: everything in the directory is the table."
)


@describe.register
def card_of_lifetimes(lines: Lifetimes, detail: int = 1) -> Card:
    """Every file's life."""
    rows: list[tuple[Cell, ...]] = []
    groups: list[tuple[int, str]] = []
    for name, some in groupby(lines, key=lambda line: line.format):
        held = list(some)
        changing = sum(line.may_change for line in held)
        groups.append((len(rows), f"{name.title()}: {changing} of {len(held)} may change"))
        rows += [_describe(line) for line in held]
    grid = Grid(_COLUMNS, tuple(rows), groups=tuple(groups))
    sentence = "of each format: who writes it, who names it, may it change, when does it go"
    return Card("Every file", sentence, body=(grid, Note(_ORPHANS, "mute")))


@describe.register
def card_of_lifetime(line: Lifetime, detail: int = 1) -> Card:
    """One of them."""
    return Card("File", line.file, body=(Grid(_COLUMNS, (_describe(line),)),))


def _describe(line: Lifetime) -> tuple[Cell, ...]:
    name = cells.code(line.file) if line.is_file else cells.text(line.file)
    signs = (Cell("■ "), Cell("yes", "strong"), Cell(f" {line.change}", "small"))
    still = (Cell("□ "), Cell("no", "mute"), *((Cell(f" {line.note}", "small"),) if line.note else ()))
    return (
        cells.explain(name, line.what),
        cells.text(line.written_by),
        cells.text(line.named_by),
        cells.join(*(signs if line.may_change else still)),
        cells.text(line.goes),
    )
