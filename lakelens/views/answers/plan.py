"""The card of a plan of maintenance: what goes, what can never be read again, what stays and why, then the call.

The order is that of caution: losses before what is written, assumptions before the statement to copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING

from lakelens.analysis.dry_run import Plan
from lakelens.options import display
from lakelens.views.card import cells, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Block, Body, Card, Cell, Fold, Grid, Note, Role
from lakelens.views.cards.finding import format_alert
from lakelens.views.cards.tree import format_role
from lakelens.views.describe import describe, one

if TYPE_CHECKING:
    from lakelens.analysis.dry_run import PlannedFiles, Tally
    from lakelens.model.maintenance import Fate, Output

_SHOWN_DANGERS = 5
_DRY = "dry run, nothing was written"
_SHORT_NOTE = 160
_STATES: dict[str, Role] = {"DELETED": "del", "WRITTEN": "add"}


@describe.register
def card_of_plan(plan: Plan, detail: int = 1) -> Card:
    """What a procedure would do, and the call that does it."""
    return Card(
        plan.procedure.title,
        f"{format_outcome(plan)} — {_DRY}",
        alert=format_alert(plan.findings),
        body=tuple(_list_body(plan)),
        folds=tuple(_list_folds(plan)),
        about=list_sections(plan, "plan"),
    )


def format_outcome(plan: Plan) -> str:
    """Say what the plan comes to, in words that follow its name.

    >>> import lakelens as ll
    >>> format_outcome(ll.sample("iceberg").dry_run("expire_snapshots", older_than="2020-01-01"))
    'would free nothing: none of 5 snapshots goes'
    """
    if plan.refusal is not None:
        return "would be refused by the engine"
    if plan.frees:
        return f"would free {_format_freed(plan)}"
    if len(plan.replaced) or len(plan.reads):
        return f"would {_format_rewriting(plan)}"
    if plan.becomes is not None and len(plan.writes):
        return f"would make snapshot {wording.clean(plan.becomes)} the current one"
    return "would change no file" if not len(plan.writes) else "would change metadata alone"


def _format_freed(plan: Plan) -> str:
    freed = wording.size(plan.freed_bytes) if len(plan.deletes) else "nothing"
    if plan.removes_orphans:
        many = wording.plural(len(plan.deletes), "file")
        return (
            f"{freed}: {many} that nothing refers to"
            if len(plan.deletes)
            else "nothing: there are no orphans that old"
        )
    lost, kept = len(plan.snapshots_lost), len(plan.kept)
    if not lost:
        return f"{freed}: none of {wording.plural(lost + kept, 'snapshot')} goes"
    return f"{freed} and {wording.count(lost)} of {wording.plural(lost + kept, 'snapshot')}"


def _format_rewriting(plan: Plan) -> str:
    out = " and ".join(format_role(line.role, line.files) for line in plan.outcome)
    if not len(plan.replaced):
        return f"add {wording.plural(len(plan.reads), 'file')} to the current state"
    rewritten = [
        tally for tally in plan.replaced_counts if tally.role in {line.role for line in plan.outcome}
    ]
    main = rewritten or plan.replaced_counts[:1]
    many = " and ".join(format_role(tally.role, tally.files) for tally in main)
    if not len(plan.reads):
        return f"take {many} out of the current state"
    if plan.is_exchange:
        return f"add {wording.plural(len(plan.reads), 'file')} to the current state, and take {many} out"
    return f"rewrite {many} into {'about ' if out else 'nothing'}{out}"


def _list_body(plan: Plan) -> Iterator[Body]:
    if plan.refusal is not None:
        yield Note(f"The engine refuses: {wording.clean(plan.refusal, 400)}.", "warn")
        return
    words = [wording.clean(plan.changes, 400)]
    if len(plan.snapshots_lost):
        words.append(_format_loss(plan))
    yield Note(" ".join(words))
    for danger in plan.proposal.dangers[:_SHOWN_DANGERS]:
        yield Note(wording.clean(danger, 400), "warn")
    rows = list(_list_rows(plan))
    if rows:
        names = ("", "what", "files#", "bytes#", "", "how known")
        totals = []
        if len(plan.deletes):
            freed = cells.removed(len(plan.deletes)), cells.removed_size(plan.freed_bytes)
            totals.append((Cell("frees"), Cell(""), *freed, Cell(""), Cell("exact", "mute")))
        yield cells.grid(names, rows, totals=totals)


def _format_loss(plan: Plan) -> str:
    """Say which times cannot be travelled to."""
    times = sorted(fate.at for fate in plan.snapshots_lost if fate.at is not None)
    if not times:
        return f"{wording.plural(len(plan.snapshots_lost), 'state')} can never be read again."
    span = wording.moment(times[0])
    if times[-1] != times[0]:
        span += f" to {wording.moment(times[-1])}"
    verb = "snapshot" if len(plan.snapshots_lost) == 1 else "snapshots"
    return f"{wording.count(len(plan.snapshots_lost))} {verb}, {span}, can never be read again."


_Line = tuple[str, Cell, Cell, Cell, tuple[int, int], str]


def _list_rows(plan: Plan) -> Iterator[tuple[Cell, ...]]:
    """List what goes, what leaves the state, what comes, what stays, each with a bar of what goes and comes."""
    lines = list(_list_lines(plan))
    bars = cells.bars([line[4] for line in lines])
    said = ""
    for (state, name, files, size, bytes_, note), bar in zip(lines, bars, strict=True):
        head = Cell("") if state == said else Cell(state, _STATES.get(state, ""))
        said = state
        yield (head, name, files, size, bar if any(bytes_) else Cell(""), Cell(note, "mute"))


def _list_lines(plan: Plan) -> Iterator[_Line]:
    for tally in plan.deleted:
        counts = cells.removed(tally.files), cells.removed_size(tally.size_bytes)
        yield "DELETED", _name(tally.role), *counts, (tally.size_bytes, 0), "sizes from the listing"
    for tally in plan.replaced_counts:
        counts = cells.number(tally.files), cells.size(tally.size_bytes)
        note = "leave the current state; older ones keep them"
        if tally.role == "deletion vectors":
            note += "; counted by their blobs, not by their Puffin files"
        yield "REPLACED", _name(tally.role), *counts, (0, 0), note
    for output in plan.writes:
        files, size = cells.added(output.files), Cell("unknown", "mute")
        if not output.least_files == output.most_files == output.files:
            files = Cell(f"≈ +{wording.count(output.files)}", "add")
        if output.size_bytes is not None:
            size = cells.added_size(output.size_bytes)
            if output.is_estimated:
                size = Cell(f"≈ {size.text}", size.role, size.title)
        bytes_ = 0, output.size_bytes or 0
        yield "WRITTEN", _name(output.role), files, size, bytes_, _explain_output(output)
    kept: list[tuple[str, Tally, str]] = []
    if plan.live is not None:
        kept.append(("data and deletes of the current state", plan.live, "not touched"))
    if plan.older is not None and plan.older.files:
        kept.append(("further ones of older states", plan.older, "other snapshots that stay need them"))
    if plan.young is not None and plan.young.files:
        kept.append(("young files that nothing refers to", plan.young, "a running commit may need them"))
    for name, tally, note in kept:
        yield "KEPT", Cell(name), cells.number(tally.files), cells.size(tally.size_bytes), (0, 0), note


def _name(role: str) -> Cell:
    return Cell(format_role(role, 2).partition(" ")[2])


def _explain_output(output: Output) -> str:
    words = ["estimated" if output.is_estimated else ""]
    if output.is_estimated and output.least is not None and output.most is not None:
        words.append(f"{wording.size(output.least)} to {wording.size(output.most)}")
    if output.least_files != output.most_files or output.files != output.most_files:
        most = "any number of" if output.most_files is None else wording.count(output.most_files)
        words.append(
            f"{wording.count(output.least_files)} to {most} files"
            if output.most_files is not None
            else f"at least {wording.plural(output.least_files or 0, 'file')}"
        )
    words.append(wording.clean(output.note, 200))
    return "; ".join(filter(None, words))


def _list_folds(plan: Plan) -> Iterator[Fold]:
    if len(plan.snapshots_lost):
        many = wording.plural(len(plan.snapshots_lost), "snapshot")
        yield Fold(
            "Lost", f"{many}: time travel to them fails afterwards", lambda: _show_lost(plan), opened=True
        )
    elif plan.frees and not plan.removes_orphans and plan.refusal is None:
        yield Fold("Lost", "nothing")
    if len(plan.kept):
        yield Fold("Stays", _format_stays(plan), lambda: one(_grid_kept(plan)), opened=True)
    if len(plan.groups):
        files = sum(group.files for group in plan.groups)
        answer = f"{wording.plural(len(plan.groups), 'group')} of {wording.plural(files, 'file')}"
        yield Fold("Rewritten together", answer, lambda: one(_grid_groups(plan)), opened=True)
    yield from _fold_files("Deleted", plan.deletes, "plan.deletes")
    yield from _fold_files("Replaced", plan.replaced, "plan.replaced")
    if len(plan.notes) == 1 and len(plan.notes[0]) <= _SHORT_NOTE:  # it is the answer itself
        yield Fold("Notes", wording.clean(plan.notes[0]))
    elif plan.notes:
        notes = [Note(f"• {wording.clean(note, 600)}") for note in plan.notes]
        yield Fold("Notes", wording.plural(len(notes), "thing"), lambda: notes, opened=True)
    yield _fold_assumptions(plan)
    call = "\n".join(wording.clean(line, 2_000) for line in plan.call.split("\n"))
    yield Fold("Call", plan.proposal.dialect, lambda: one(Block(call)), opened=True)


def _fold_files(label: str, files: PlannedFiles, how: str) -> Iterator[Fold]:
    if len(files):
        yield Fold(label, wording.plural(len(files), "file"), lambda: one(_grid_files(files, how)))


def _show_lost(plan: Plan) -> list[Body]:
    first = plan.snapshots_lost[0]
    fails: list[Body] = []
    if first.id is not None:
        fails = [cells.hint("this would fail", f"table.snapshot({first.id})")]
    return [*fails, _grid_fates(plan.snapshots_lost, "plan.snapshots_lost", "of these")]


def _grid_fates(fates: Sequence[Fate], how: str, last: str, totals: Sequence[Sequence[Cell]] = ()) -> Grid:
    """States in runs that share what keeps them and why: how many, from when to when."""
    rows: list[tuple[Cell, ...]] = []
    total = 0
    for (by, why), run in groupby(fates, key=lambda fate: (fate.by, fate.why)):
        total += 1
        if len(rows) >= display.max_rows:
            continue
        held = list(run)
        times = [fate.at for fate in held if fate.at is not None]
        start, end = (min(times), max(times)) if times else (None, None)
        rows.append(
            (
                Cell(wording.clean(by, 80)),
                cells.number(len(held)),
                cells.moment(start),
                cells.moment(end) if end != start else Cell(""),
                Cell(wording.clean(why, 200), "mute"),
            )
        )
    names = ("kept by", "snapshots#", "from, UTC!", "to, UTC!", last)
    return cells.prune(cells.grid(names, rows, how=how, noun="run", total=total, totals=totals))


def _format_stays(plan: Plan) -> str:
    by = Counter(fate.by for fate in plan.kept)
    words = [
        f"{wording.count(count)} by {wording.clean(name, 60)}"
        for name, count in islice(by.items(), 4)
        if name
    ]
    rest = f", and {wording.plural(len(by) - 4, 'more')}" if len(by) > 4 else ""
    return (
        f"{wording.plural(len(plan.kept), 'snapshot')}: {', '.join(words)}{rest}"
        if words
        else wording.plural(len(plan.kept), "snapshot")
    )


def _grid_kept(plan: Plan) -> Grid:
    ordered = sorted(plan.kept, key=lambda fate: (fate.by, fate.why))
    lost, kept = len(plan.snapshots_lost), len(plan.kept)
    goes = f"{wording.count(lost)} of {wording.count(lost + kept)} go" if lost else "none goes"
    total = (Cell("all"), cells.number(kept), Cell(""), Cell(""), Cell(goes, "mute"))
    return _grid_fates(ordered, "plan.kept", "why", (total,))


def _grid_groups(plan: Plan) -> Grid:
    rows = [
        (
            Cell(wording.clean(group.name, 120) or "the whole table", "" if group.name else "mute"),
            cells.number(group.files),
            cells.size(group.size_bytes),
            Cell("") if group.outputs is None else Cell(f"≈ {wording.count(group.outputs)}"),
            Cell(wording.clean(group.why, 200), "mute"),
        )
        for group in islice(plan.groups, display.max_rows)
    ]
    names = ("of", "files#", "bytes#", "become#", "why")
    return cells.prune(cells.grid(names, rows, how="plan.groups", noun="group", total=len(plan.groups)))


def _grid_files(files: PlannedFiles, how: str) -> Grid:
    rows = [
        (
            cells.code(file.relative_path),
            cells.text(file.role),
            cells.size(file.size_bytes if file.size_bytes >= 0 else None),
            cells.text(file.why or None, "mute"),
        )
        for file in islice(files, display.max_rows)
    ]
    total = len(files)
    return cells.prune(cells.grid(("file", "role", "bytes#", "why"), rows, how=how, noun="file", total=total))


def _fold_assumptions(plan: Plan) -> Fold:
    assumed = plan.assumptions
    unknown = sum(1 for assumption in assumed if not assumption.is_known)
    answer = wording.plural(len(assumed), "thing")
    if unknown:
        which = "one of them" if unknown == 1 else f"{wording.count(unknown)} of them"
        answer += f", {which} cannot be known from here"
    ordered = sorted(assumed, key=lambda one: one.is_known)
    return Fold(
        "Assumes",
        answer,
        lambda: [Note(f"• {wording.clean(assumption.text, 600)}") for assumption in ordered],
        opened=True,
    )
