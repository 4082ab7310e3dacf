"""The card of a layout that is foretold: a predicate, today over then; what it costs, by what it is known, the calls."""

from __future__ import annotations

from lakelens.analysis.layout.what_if import WhatIf
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Block, Body, Card, Cell, Fold, Grid, Note
from lakelens.views.describe import describe, one

_MOST_WORDS = 200


@describe.register
def card_of_what_if(answer: WhatIf, detail: int = 1) -> Card:
    """Say what would be read, then a predicate a group of two rows; who loses is in the head."""
    known = answer.snapshot is not None and answer.snapshot.id is not None
    state = f", on snapshot {answer.snapshot.id}" if known and answer.snapshot else ""
    part = ""
    if answer.rewritten_files < answer.files:
        part = f", of {wording.count(answer.rewritten_files)} of {wording.plural(answer.files, 'file')}"
    words = f"{wording.clean(str(answer.layout), 400)}{part}{state}. Foretold from {_name_source(answer)}"
    body: list[Body] = [Note(f"{words}; nothing was written.")]
    if answer.refusal:
        body.append(Note(wording.clean(answer.refusal, 400), "warn"))
    body.append(_grid_predicates(answer))
    out = "" if answer.made_files is None else f", about {wording.count(answer.made_files)} out"
    cost = (
        f"{wording.plural(answer.rewritten_files, 'file')} in{out}: {wording.size(answer.rewritten_bytes)} read, about as "
        "much written, and kept beside the old files until their snapshots expire"
    )
    if part:
        cost += f"; {wording.plural(answer.files - answer.rewritten_files, 'file')} more as today"
    calls = Block("\n".join(f"{call};" for call in answer.calls))
    folds = [
        Fold("Known", f"today exact; then from {_name_source(answer)}", lambda: one(_grid_known(answer))),
        Fold("Cost", cost),
        Fold("Calls", "Spark SQL, in this order", lambda: one(calls), opened=True),
        _fold_reads(answer),
    ]
    return Card(_format_title(answer), _format_outcome(answer), body=tuple(body), folds=tuple(folds))


def _format_title(answer: WhatIf) -> str:
    then, today = answer.then_bytes, answer.today_bytes
    if then is None:
        return "Cannot be foretold"
    if then == today or not today:
        return "Reads as much as today"
    if then < today:
        return f"Reads {(today - then) * 100 // today} % less"
    return f"Reads {then / today:.1f} times as much"


def _format_outcome(answer: WhatIf) -> str:
    asked = wording.plural(answer.asked, "query", "queries")
    if answer.then_bytes is None:
        return f"{wording.size(answer.today_bytes)} are read today by {asked}"
    words = f"{wording.size(answer.then_bytes)} instead of {wording.size(answer.today_bytes)} for {asked}"
    if answer.losers:
        verb = "reads" if answer.losers == 1 else "read"
        words += f"; {wording.count(answer.losers)} of {wording.plural(len(answer.predicates), 'predicate')} {verb} more"
    return words


def _name_source(answer: WhatIf) -> str:
    if answer.source == "bounds":
        return "bounds alone"
    files = wording.plural(answer.sampled_files, "file")
    if answer.is_whole:
        return f"all {wording.count(answer.sampled_rows)} rows"
    return f"a sample of {wording.plural(answer.sampled_rows, 'row')} of {files}"


def _grid_predicates(answer: WhatIf) -> Grid:
    largest = max(
        (size * row.asked for row in answer.predicates for size in (row.size_bytes, row.then_bytes or 0)),
        default=0,
    )
    rows: list[tuple[Cell, ...]] = []
    groups: list[tuple[int, str]] = []
    for row in answer.predicates:
        more = " · READS MORE" if row.reads_more else ""
        groups.append((len(rows), f"{wording.clean(row.predicate, _MOST_WORDS)}{more}"))
        then = None if row.then_bytes is None else row.then_bytes * row.asked
        today_bar, then_bar = cells.shares([row.size_bytes * row.asked, then], [largest] * 2)
        rows += [
            (
                Cell("today"),
                cells.number(row.files),
                cells.size(row.size_bytes),
                cells.number(row.asked),
                cells.size(row.size_bytes * row.asked),
                today_bar,
                *_count_groups(answer, row.row_groups, row.requests),
                Cell(wording.clean(row.by_today, _MOST_WORDS), "mute"),
            ),
            (
                Cell("then", "warn" if row.reads_more else ""),
                cells.optional_number(row.then_files),
                _size(row.then_bytes),
                Cell(""),
                _size(then),
                then_bar,
                *_count_groups(answer, row.then_row_groups, row.then_requests),
                Cell("" if row.then_bytes is None else wording.clean(row.known_by, _MOST_WORDS), "mute"),
            ),
        ]
    sums = [("today", answer.today_bytes, answer.asked), ("then", answer.then_bytes, None)]
    none, counted = Cell(""), ("row groups#", "requests#") if answer.with_row_groups else ()
    names = ("when!", "files#", "bytes#", "asked#", "in all#", "", *counted, "known by")
    totals = [
        (
            *(Cell(name), none, none, none if asked is None else cells.number(asked), _size(size)),
            *[none] * len(names[5:]),
        )
        for name, size, asked in sums
    ]
    return cells.grid(names, rows, how=".predicates", groups=groups, totals=totals, noun="row")


def _count_groups(answer: WhatIf, groups: int | None, requests: int | None) -> tuple[Cell, ...]:
    """Write row groups and requests, where they were asked for."""
    if not answer.with_row_groups:
        return ()
    if groups is None:
        return Cell("not known", "mute"), Cell("")
    return cells.number(groups), cells.optional_number(requests)


def _size(size: int | None) -> Cell:
    return Cell("not foretold", "mute") if size is None else cells.size(size)


def _grid_known(answer: WhatIf) -> Grid:
    rows = [
        (Cell("today"), Cell("explain, on this snapshot"), Cell("exact", "mute")),
        (Cell("then"), Cell(_name_source(answer)), Cell(_format_limits(answer), "mute")),
    ]
    rows += [
        (Cell("then"), cells.code(name), Cell(f"bounds of a file span {share:.0%} of the column", "mute"))
        for name, share in answer.wide.items()
    ]
    rows += [(Cell("assumed"), Cell(wording.clean(words, 400)), Cell("")) for words in answer.assumptions]
    return cells.grid(("figure!", "by", "limits"), rows, how=".assumptions")


def _format_limits(answer: WhatIf) -> str:
    if answer.source == "bounds":
        return "values are taken to be spread evenly between the bounds of a file, each column by itself"
    if answer.is_whole:
        return "every row is known: what is left open is where the engine ends a file"
    most = answer.most_bytes
    if most is None:
        return ""
    return (
        f"{wording.size(most)} if each file reaches three gaps between its known rows further on both sides"
    )


def _fold_reads(answer: WhatIf) -> Fold:
    reads = answer.reads
    if not reads.requests:
        return Fold("Read", "nothing more: all that it needed was read before")
    files, requests = wording.plural(reads.files, "file"), wording.plural(reads.requests, "request")
    return Fold("Read", f"{files}, {wording.size(reads.bytes)} in {requests}")
