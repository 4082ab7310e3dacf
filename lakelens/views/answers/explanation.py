"""The card of an explanation: how many files a predicate reads, where the others went, and why these are left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from lakelens.analysis.explain.explanation import Explanation
from lakelens.analysis.explain.judgement import Share
from lakelens.errors import LakeError
from lakelens.model.datafile import DataFile
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Fold, Grid, Note
from lakelens.views.describe import describe, one

#: Reasons and answers as a sentence has them.
_WORDS = {
    "partition": "partition",
    "bucket": "bucket",
    "key": "key",
    "bounds": "bounds",
    "nulls": "counts of nulls",
    "file_index": "file index",
    "dictionary": "dictionary",
    "bloom": "bloom filter",
    "constant": "the predicate itself",
    "all_match": "all match",
    "overlaps": "overlaps",
    "no_statistics": "no statistics",
    "not_invertible": "not invertible",
    "unsupported_type": "unsupported type",
    "merged": "merged",
}
_MEANINGS = {
    "all_match": "what is recorded proves the term for every row.",
    "overlaps": "the values can be between the bounds.",
    "no_statistics": "nothing is recorded of the column.",
    "not_invertible": "the partition's transform says nothing of an order.",
    "unsupported_type": "no bounds are recorded for this type.",
    "merged": "the file alone has no such row, but its rows are merged with those of others.",
}
_MOST_DELETES = 200
_MOST_TASKS = 2_000
_MOST_PARTS = 3  # side by side


@describe.register
def card_of_explanation(explanation: Explanation, detail: int = 1) -> Card:
    """Show how many files are read of how many, what decided, and the proof for each."""
    if explanation.snapshot is None:
        return Card("Reads nothing", "the table has no snapshot yet")
    kept, count = len(explanation.kept), explanation.file_count
    noun = f"Reads {wording.count(kept)} of {wording.plural(count, 'file')}"
    size, whole = explanation.size_bytes, explanation.total_size
    bytes_read = "" if size is None else wording.size(size) + (f" of {wording.size(whole)}" if whole else "")
    question, state = _format_question(explanation), explanation.snapshot.id
    before, named_state, after = question.rpartition(f", on snapshot {state}")
    linked = named.sentence(f"{before}, on snapshot ", named.snapshot(state), after) if named_state else ()
    body: list[Body] = [Note(question, linked=linked), _grid_levels(explanation)]
    if explanation.planning is not None:
        body.append(
            Note(wording.clean(f"{explanation.planning}: {explanation.planning.call.statement}", 400))
        )
    return Card(
        noun,
        "; ".join(filter(None, (bytes_read, _name_decider(explanation)))),
        body=tuple(body),
        folds=tuple(_list_folds(explanation)),
        about=list_sections(explanation, "explanation"),
    )


def _format_question(explanation: Explanation) -> str:
    """Format the predicate, the snapshot, and what is left of the files that are read."""
    snapshot = explanation.snapshot
    state = "a listing" if snapshot is None or snapshot.id is None else f"snapshot {snapshot.id}"
    words = f"{wording.clean(explanation.predicate, 400)}, on {state}"
    last = explanation.levels[-1]
    if last.name != "files":
        return words
    groups = wording.plural(last.looked_at, "row group")
    verb = "is" if last.left == 1 else "are"
    return f"{words}. {wording.count(last.left)} of {groups} {verb} left: {wording.size(last.size_bytes)}"


def _name_decider(explanation: Explanation) -> str:
    """Name what skipped most files."""
    files: Counter[str] = Counter()
    for share in explanation.groups:
        files[f"{_WORDS[share.reason]} of {wording.clean(share.column, 60)}" if share.column else ""] += (
            share.files
        )
    if not files:
        last = explanation.levels[-1]
        if last.name == "files" and last.skipped:
            groups = wording.plural(last.looked_at, "row group")
            return f"no file is skipped, but {wording.count(last.skipped)} of {groups} in them"
        return "nothing is skipped"
    name, _ = files.most_common(1)[0]
    return f"most files are skipped by the {name}" if name else "the predicate itself decides"


def _grid_levels(explanation: Explanation) -> Grid:
    """Show the way from the snapshot to the files: what was looked at, skipped and left at each level."""
    levels = explanation.levels
    whole = explanation.total_size
    rows: list[tuple[Cell, ...]] = [
        (
            Cell(""),
            Cell("snapshot" if explanation.manifests else "listing"),
            Cell(""),
            Cell(wording.plural(explanation.file_count, "file")),
            cells.size(whole),
            Cell(""),
        )
    ]
    for level in levels:
        noun = (
            "manifest" if level.name == "manifest list" else "row group" if level.name == "files" else "file"
        )
        reasons = ", ".join(f"{wording.count(number)} by {_WORDS[name]}" for name, number in level.reasons)
        rows.append(
            (
                Cell(level.name),
                Cell(wording.plural(level.looked_at, noun)),
                Cell(wording.change(-level.skipped)) if level.skipped else Cell("0", "mute"),
                Cell(wording.plural(level.left, noun)),
                cells.size(level.size_bytes),
                Cell(reasons),
            )
        )
    sizes = [whole, *(level.size_bytes for level in levels)]
    largest = max((size or 0 for size in sizes), default=0)
    drawn = cells.shares(sizes, [largest] * len(sizes))
    names = ("level!", "looked at!", "skipped#", "left#", "bytes left#", "", "by what")
    listed = [(*row[:5], bar, row[5]) for row, bar in zip(rows, drawn, strict=True)]
    return cells.grid(names, listed, about=("common.explanation",))


def _list_folds(explanation: Explanation) -> Iterator[Fold]:
    groups, answers = explanation.groups, explanation.answers
    skipped = sum(share.files for share in groups)
    if groups:
        reasons: Counter[str] = Counter()
        for share in groups:
            reasons[share.reason] += share.files
        by = ", ".join(f"{wording.count(number)} by {_WORDS[name]}" for name, number in reasons.most_common())
        yield Fold(
            "Skipped",
            f"{wording.plural(skipped, 'file')}: {by}",
            lambda: one(_grid_skipped(explanation, groups)),
            opened=True,
        )
    else:
        yield Fold("Skipped", "none: nothing that is recorded rules a file out")
    if answers:
        counted: Counter[str] = Counter()
        for share in answers:
            counted[share.reason] += share.files
        said = ", ".join(f"{wording.count(n)} {_WORDS[name]}" for name, n in counted.most_common())
        kept = wording.plural(sum(counted.values()), "file")
        yield Fold("Kept", f"{kept}: {said}", lambda: _show_kept(explanation, answers), opened=True)
    else:
        yield Fold("Kept", "none: no row can fit")
    if len(explanation.kept):
        yield _fold_deletes(explanation)
        yield _fold_tasks(explanation)
    reads = explanation.reads
    if not reads.requests:
        yield Fold("Read", "nothing more: all that it needed was read before")
        return
    yield Fold(
        "Read",
        f"{wording.plural(reads.files, 'file')}, {wording.size(reads.bytes)} in {wording.plural(reads.requests, 'request')}"
        + ("; no row" if explanation.manifests else ""),
    )


def _grid_skipped(explanation: Explanation, groups: Sequence[Share]) -> Grid:
    """Say what skipped how much, with the sums: skipped and kept are the snapshot."""
    sizes = [share.size_bytes for share in groups]
    largest = max((size or 0 for size in sizes), default=0)
    rows = [
        (
            cells.code(share.part),
            cells.code(share.column) if share.column else Cell(""),
            Cell(_WORDS[share.reason]),
            Cell(_format_decision(share)),
            cells.number(share.files),
            cells.number(share.record_count),
            cells.size(share.size_bytes),
            bar,
        )
        for share, bar in zip(groups, cells.shares(sizes, [largest] * len(sizes)), strict=True)
    ]
    names = ("part of the predicate", "column!", "reason!", "what decided", "files#", "rows#", "bytes#", "")
    none = Cell("")
    totals = [
        (Cell(name), none, none, none, *map(cells.number, figures[:2]), cells.size(figures[2]), none)
        for name, figures in explanation.sums
    ]
    how = "explanation.to_pandas()"
    return cells.prune(
        cells.grid(names, rows, how=how, noun="reason", about=("common.explanation",), totals=totals)
    )


def _format_decision(share: Share) -> str:
    """Say where it is recorded, and what: `file: id is 43 … 99`."""
    if not share.detail:
        return share.level
    detail = wording.clean(share.detail, 80)
    has_name = share.reason == "nulls" or "," in share.column
    return (
        f"{share.level}: {detail}"
        if has_name
        else f"{share.level}: {wording.clean(share.column, 40)} is {detail}"
    )


def _show_kept(explanation: Explanation, answers: Sequence[Share]) -> list[Body]:
    """Show each kept file with what it says to each part of the predicate."""
    parts = explanation.parts
    shown = parts[:_MOST_PARTS]
    codes = [explanation.answer(number) for number in range(len(shown))]
    groups = "yes" if explanation.levels[-1].name == "files" else None
    rows = [
        (
            named.file(found),
            cells.code(str(found.partition) or None),
            *(
                Cell(_format_answer(explanation, found, number, codes[number][place]))
                for number in range(len(shown))
            ),
            cells.number(found.record_count),
            cells.size(found.size_bytes),
        )
        for place, found in enumerate(islice(explanation.kept, display.max_rows))
    ]
    texts = [part.text if len(part.text) <= 28 else f"{part.text[:27]}…" for part in shown]
    names = ["file", "partition", *map(wording.clean, texts), "rows#", "bytes#"]
    grid = cells.grid(
        names,
        rows,
        how="explanation.kept",
        noun="file",
        total=len(explanation.kept),
        about=("common.explanation",),
        target=named.page("explain", where=explanation.predicate, row_groups=groups, part="kept"),
    )
    found = {share.reason for share in answers}
    bodies: list[Body] = [cells.prune(grid)]
    words = [f"{_WORDS[name]}: {meaning}" for name, meaning in _MEANINGS.items() if name in found]
    rules = dict.fromkeys(
        f"{wording.clean(share.column, 60)} has none: {wording.clean(share.detail, 160)}."
        for share in answers
        if share.reason == "no_statistics" and share.detail
    )
    bodies.append(Note(" ".join([*words, *rules]), "mute"))
    return bodies


def _format_answer(explanation: Explanation, found: DataFile, part: int, answer: str) -> str:
    """Say what a file says to a part: its values where they overlap."""
    words = _WORDS[answer]
    if answer != "overlaps":
        return words
    column = explanation.column_of(part)
    bounds = found.bounds.get(column) if column else None
    if bounds is None or bounds.lower is None:
        return words
    return f"{words}: {wording.value(bounds.lower)} … {wording.value(bounds.upper)}"


def _fold_deletes(explanation: Explanation) -> Fold:
    """Fold which deletes reach the files that are read."""
    kept = explanation.kept
    if len(kept) > _MOST_DELETES:
        return Fold("Deletes", f"not looked up for {wording.count(len(kept))} files: .deletes of each")
    reached, deletes = 0, set[tuple[str, int | None]]()
    try:
        for file in kept:
            matches = file.deletes
            reached += bool(len(matches))
            deletes.update((match.file.path, match.offset) for match in matches)
    except LakeError as error:
        return Fold("Deletes", "", alert=f"cannot be read: {wording.clean(error, 200)}")
    if not deletes:
        return Fold("Deletes", "none reach these files")
    many = wording.plural(len(deletes), "delete file or vector reaches", "delete files and vectors reach")
    return Fold("Deletes", f"{many} {wording.count(reached)} of the {wording.plural(len(kept), 'file')}")


def _fold_tasks(explanation: Explanation) -> Fold:
    """Fold how an engine would divide what is read."""
    if len(explanation.kept) > _MOST_TASKS:
        return Fold("Tasks", f"not worked out for {wording.count(len(explanation.kept))} files: .tasks()")
    try:
        tasks = explanation.tasks()
    except LakeError as error:
        return Fold("Tasks", wording.clean(error, 200))
    target = wording.size(tasks.target_size)
    answer = f"{wording.plural(len(tasks), 'task')} in {wording.clean(tasks.engine)}, of up to {target}"

    def show() -> list[Body]:
        rows = [
            (
                Cell(figure.name),
                cells.size(figure.value) if figure.value > 1_000 else cells.number(figure.value),
                cells.code(figure.property),
                Cell("default" if figure.is_default else "set by the table"),
            )
            for figure in tasks.figures
        ]
        grid = cells.grid(("figure", "value#", "property", ""), rows, about=("common.explanation",))
        return [grid, *(Note(wording.clean(assumption, 400), "mute") for assumption in tasks.assumptions)]

    return Fold("Tasks", answer, show)
