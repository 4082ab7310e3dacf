"""Cards of listings of tables and of one table in them."""

from __future__ import annotations

from collections import Counter

from lakelens.model.catalog import Catalog, FoundTable, Sample, Samples
from lakelens.options import display
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Block, Card, Fold
from lakelens.views.describe import describe, one


@describe.register
def card_of_catalog(catalog: Catalog, detail: int = 1) -> Card:
    """The tables found below a directory."""
    rows = [(cells.code(t.name), cells.text(t.format), cells.code(t.path)) for t in catalog]
    tables = cells.grid(("name", "format", "path"), rows, how="iterate over it", noun="table")
    folds = []
    if catalog.problems:
        found = [(cells.text(type(p).__name__), cells.text(p)) for p in catalog.problems]
        grid = cells.grid(("error", "what"), found, how=".problems", noun="problem")
        answer = f"{wording.plural(len(found), 'directory', 'directories')} could not be looked into"
        folds.append(Fold("Problems", answer, lambda: one(grid)))
    counts = sorted(Counter(table.format for table in catalog).items())
    sentence = ", ".join(f"{number:,} {wording.clean(name)}" for name, number in counts) or "none found"
    return Card(
        "tables",
        sentence,
        wording.clean(catalog.root),
        body=(tables,) if rows else (),
        folds=tuple(folds),
        about=("common.catalog",),
    )


@describe.register
def card_of_found(found: FoundTable, detail: int = 1) -> Card:
    """One table that was found: where, and why it is one."""
    fold = Fold("Evidence", wording.clean("; ".join(found.evidence.reasons), 400))
    sentence = f"{wording.clean(found.format)} table, not opened yet: .open()"
    return Card(wording.clean(found.name), sentence, wording.clean(found.path), folds=(fold,))


@describe.register
def card_of_samples(samples: Samples, detail: int = 1) -> Card:
    """The tables that ship with the package, each with what it shows and its story: all of them, however many rows."""
    rows = [
        (
            cells.code(one.name),
            cells.text(one.format),
            cells.text(one.feature),
            cells.text(one.story),
            cells.size(one.size_bytes),
        )
        for one in samples
    ]
    with display.using(max_rows=max(display.max_rows, len(rows))):
        listed = cells.grid(("name", "format", "shows", "story", "size#"), rows, noun="sample")
    return Card(
        "samples",
        "small tables that engines wrote; ll.sample(name) opens a copy",
        body=(listed,),
        about=("common.catalog",),
    )


@describe.register
def card_of_sample(one: Sample, detail: int = 1) -> Card:
    """One table that ships with the package, with the script that made it."""
    folds = (
        Fold("Story", wording.clean(one.story)),
        Fold("Size", f"{wording.size(one.size_bytes)} in {wording.plural(one.files, 'file')}"),
        Fold("Script", "what made it", lambda: [Block(one.script)]),
    )
    sentence = f"{wording.clean(one.format)} table: {wording.clean(one.feature)}"
    return Card(wording.clean(one.name), sentence, folds=folds)
