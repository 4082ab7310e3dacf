"""The card of an advice: the layout that pays or none, every layout that was tried beside leaving it, and the calls."""

from __future__ import annotations

from dataclasses import replace

from lakelens.analysis.layout.advice import Advice, TriedLayout
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Block, Body, Card, Cell, Fold, Grid, Note
from lakelens.views.describe import describe, one

_MOST_WORDS = 200
_MOST_WORST = 60


@describe.register
def card_of_advice(advice: Advice, detail: int = 1) -> Card:
    """Say which layout pays, then a layout a row, the best first."""
    asked = wording.plural(advice.asked, "query", "queries")
    if advice.best is None:
        title, outcome = "Leave it", wording.clean(advice.reason, 400)
    else:
        per_byte = advice.layouts[0].saved_per_byte or 0.0
        said = wording.clean(replace(advice.best, target_file_size=None), _MOST_WORDS)
        title = said[:1].upper() + said[1:]
        outcome = f"saves {per_byte:,.2f} bytes of reading for each byte rewritten"
    source = "bounds alone"
    if advice.source == "sample":
        rows, files = (
            wording.plural(advice.sampled_rows, "row"),
            wording.plural(advice.sampled_files, "file"),
        )
        source = f"{rows} of {files}"
    tried = f"{wording.plural(advice.tried, 'layout')} tried"
    if advice.not_foretold:
        tried += f" ({wording.count(advice.not_foretold)} more cannot be foretold)"
    words = (
        f"{wording.size(advice.then_bytes)} instead of {wording.size(advice.today_bytes)} to read for {asked}, for "
        f"{wording.size(advice.size_bytes)} rewritten. {tried}, foretold from {source}; nothing was written."
    )
    if advice.best is None:
        verb = "reads" if advice.asked == 1 else "read"
        words = (
            f"{asked} {verb} {wording.size(advice.today_bytes)} today. {tried}, foretold from {source}; "
            "nothing was written."
        )
    note = (
        "Ranked by bytes saved for each byte rewritten, at the given frequencies; of equal ones the simpler is first. "
        "To leave it is a layout like the others: what is below it does not pay."
    )
    if advice.weighed_by == "row groups":
        note += " Bytes are those of the row groups that are read, and of what files have beside them."
    body: tuple[Body, ...] = (Note(words), _grid_layouts(advice), Note(note, "mute"))
    known = [
        (Cell("today"), Cell("explain, on this snapshot")),
        (Cell("then"), Cell(source)),
        *((Cell("assumed"), Cell(wording.clean(words, 400))) for words in advice.assumptions),
    ]
    grid = cells.grid(("figure!", "by"), known, how=".assumptions")
    reads = advice.reads
    looked = wording.plural(reads.files, "file")
    folds = [
        Fold("Known", f"today exact; then from {source}", lambda: one(grid)),
        Fold("Read", f"{looked}, {wording.size(reads.bytes)} in {wording.plural(reads.requests, 'request')}"),
    ]
    if advice.calls:
        calls = Block("\n".join(f"{call};" for call in advice.calls))
        folds.insert(1, Fold("Calls", "Spark SQL, in this order", lambda: one(calls), opened=True))
    return Card(title, outcome, body=body, folds=tuple(folds))


def _grid_layouts(advice: Advice) -> Grid:
    saves = [row.saved_bytes for row in advice.layouts]
    largest = max(size or 0 for size in saves)
    bars = cells.shares([None if size is None else max(size, 0) for size in saves], [largest] * len(saves))
    rows = []
    for row, bar in zip(advice.layouts, bars, strict=True):
        saved = row.saved_bytes
        per_byte = "" if row.saved_per_byte is None else f"{row.saved_per_byte:,.2f}"
        worst = wording.clean(row.refusal or row.worst)
        said = row.layout
        if row.wanted is not None:  # all have files of the same size
            said = str(replace(row.wanted, target_file_size=None))
        rows.append(
            (
                Cell("") if row.wanted is None or saved is None else cells.number(row.rank),
                Cell(wording.clean(said, _MOST_WORDS)),
                _format_saved(row),
                bar,
                Cell("") if row.wanted is None else cells.size(row.rewritten_bytes),
                Cell(per_byte.replace("-", "\N{MINUS SIGN}")),
                Cell(worst if len(worst) <= _MOST_WORST else f"{worst[: _MOST_WORST - 1]}…", "mute"),
            )
        )
    names = ("#", "layout!", "saves#", "", "rewrites#", "saved a byte#", "reads more for")
    return cells.grid(names, rows, how=".layouts", noun="layout")


def _format_saved(row: TriedLayout) -> Cell:
    """Write what a layout saves; below zero with its sign."""
    if row.saved_bytes is None:
        return Cell("not foretold", "mute")
    if row.saved_bytes < 0:
        return Cell(f"\N{MINUS SIGN}{wording.size(-row.saved_bytes)}", "warn", key=row.saved_bytes)
    return cells.size(row.saved_bytes)
