"""Cards of listings of tables and of one table in them."""

from __future__ import annotations

from collections import Counter

from lakelens.model.catalog import Catalog, FoundTable, Sample, Samples
from lakelens.views import cells, wording
from lakelens.views.card import Card, Fold
from lakelens.views.present import describe, one


@describe.register
def describe_catalog(catalog: Catalog, detail: int = 1) -> Card:
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
def describe_found(found: FoundTable, detail: int = 1) -> Card:
    """One table that was met: where, and why it is one."""
    fold = Fold("Evidence", wording.clean("; ".join(found.evidence.reasons), 400))
    sentence = f"{wording.clean(found.format)} table, not opened yet: .open()"
    return Card(wording.clean(found.name), sentence, wording.clean(found.path), folds=(fold,))


@describe.register
def describe_samples(samples: Samples, detail: int = 1) -> Card:
    """The tables that ship with the package, each with its story."""
    rows = [(cells.code(one.name), cells.text(one.format), cells.text(one.story)) for one in samples]
    listed = cells.grid(("name", "format", "story"), rows, how="iterate over it", noun="sample")
    return Card(
        "samples",
        "small tables that engines wrote; ll.sample(name) opens a copy",
        body=(listed,),
        about=("common.catalog",),
    )


@describe.register
def describe_sample(one: Sample, detail: int = 1) -> Card:
    """One table that ships with the package."""
    return Card(wording.clean(one.name), f"{wording.clean(one.format)} table: {wording.clean(one.story)}")
