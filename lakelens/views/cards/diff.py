"""The card of a diff: what happened in one sentence, then files, partitions, columns, manifests and the document's keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from lakelens.analysis.diff.diff import (
    DeleteChanges,
    Diff,
    ManifestChanges,
    PartitionChange,
    PartitionChanges,
    Raised,
)
from lakelens.analysis.diff.diff_summary import format_rows
from lakelens.analysis.diff.documents import (
    FieldChange,
    FieldChanges,
    JsonChange,
    JsonChanges,
    Neighbours,
    join_neighbours,
)
from lakelens.model.comparison import FileCounts, count_by_content
from lakelens.model.manifest import Manifest
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Bar, Card, Cell, Fold, Grid, Note, Target
from lakelens.views.cards.fileset import format_contents, grid_files
from lakelens.views.describe import describe, one

_MOST_REWRITTEN = (
    20_000  # entries of new and dropped manifests that are read to find which one took over which
)
_ABOUT = ("common.diff",)
# what each row of is a delete: it takes a row away
_DELETE_ROWS = ("position_deletes", "deletion_vector")
_STATES = {"ADDED": "add", "REMOVED": "del", "RAISED": "", "KEPT": ""}


@describe.register
def card_of_diff(diff: Diff, detail: int = 1) -> Card:
    """What changed: files, rows and bytes; then partitions, columns, manifests, the document's places."""
    raised = diff.raised
    folds = [_fold_partitions(diff, raised)]
    if diff.schema or diff.partitioning:
        folds.append(_fold_schema(diff))
    if diff.manifests.new or diff.manifests.dropped or diff.manifests.kept:
        more = _lead_to_part(diff, "manifests")
        grid_of_lists = lambda: one(_grid_manifests(diff.manifests, target=more))  # noqa: E731 - made when the fold is opened
        folds.append(Fold("Manifests", _count_manifests(diff.manifests), grid_of_lists))
    if diff.metadata:
        before, after = diff.documents
        which = "of the snapshots' own documents differ"
        if before is not None and after is not None:
            which = f"differ between {wording.name(before)} and {wording.name(after)}"
        answer = f"{wording.plural(len(join_neighbours(diff.metadata)), 'place')} {which}"
        place = _lead_to_part(diff, "metadata")
        folds.append(Fold("Document", answer, lambda: one(grid_json(diff.metadata, "diff.metadata", place))))
    if raised.files:
        folds.append(_fold_raised(raised, _lead_to_part(diff, "added")))
    for label, files, how in (
        ("Files added", diff.added, "diff.added.to_pandas(), diff.widget()"),
        ("Files removed", diff.removed, "diff.removed.to_pandas(), diff.widget()"),
    ):
        left = raised.leave_out_of(files)
        if len(left):
            part = label.removeprefix("Files ")
            grid = grid_files(left, how=how, target=_lead_to_part(diff, part))
            answer = format_contents(files) if len(left) == len(files) else wording.plural(len(left), "file")
            folds.append(Fold(label, answer, lambda grid=grid: one(grid)))  # type: ignore[misc]
    said = [wording.clean(diff.action, 300), format_counts(diff)]
    body = (Note(f"{'. '.join(part for part in said if part)}."), grid_totals(diff))
    about = list_sections(diff.after, "diff", "snapshot")
    # the sentence with both states, which lead to their pages
    sides: list[Cell | str] = []
    for side in (diff.before, diff.after):
        shown = Cell("nothing" if side is None else _format_id(side.id))
        sides.append(named.snapshot(None if side is None else side.id, shown))
    return Card(
        "Diff",
        format_range(diff),
        body=body,
        folds=tuple(folds),
        about=about,
        linked=named.sentence("from ", sides[0], " to ", sides[1], _format_time(diff)),
    )


def _lead_to_part(diff: Diff, part: str) -> Target:
    """A part of the diff in full."""
    before = None if diff.before is None else diff.before.id
    return named.page("diff", before=before, after=diff.after.id, part=part)


def format_range(diff: Diff) -> str:
    """From which snapshot to which, and how much later."""
    before = "from nothing" if diff.before is None else f"from {_format_id(diff.before.id)}"
    return f"{before} to {_format_id(diff.after.id)}{_format_time(diff)}"


def _format_id(number: int | None) -> str:
    return "a listing" if number is None else f"snapshot {number}"


def _format_time(diff: Diff) -> str:
    """Say how long after the other the second was committed."""
    if diff.before is None or diff.before.committed_at is None or diff.after.committed_at is None:
        return ""
    seconds = (diff.after.committed_at - diff.before.committed_at).total_seconds()
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if abs(seconds) >= 2 * length:
            return f", {seconds / length:,.3g} {unit} later"
    return f", {seconds:.3g} s later" if seconds >= 0 else ""


def format_counts(diff: Diff) -> str:
    """Files added, removed, raised and kept, and how the rows changed."""
    raised = diff.raised
    added, removed = len(diff.added) - len(raised.files), len(diff.removed) - len(raised.files)
    words = [f"{wording.plural(added, 'file')} added", f"{wording.count(removed)} removed"]
    if raised.files:
        moved = f"{wording.plural(len(raised.files), 'file')} {raised.words}"
        words = [moved, *words] if added or removed else [f"{moved}, none rewritten"]
    kept = diff.kept_counts.files
    if kept is not None:
        words.append(f"{wording.count(kept)} kept")
    return f"{', '.join(words)}; {format_rows(diff)}"


def grid_totals(diff: Diff) -> Grid:
    """Files, rows and bytes by what happened to them and by content, with a bar for the bytes."""
    raised = diff.raised
    sets: list[tuple[str, Mapping[str, FileCounts]]] = [
        ("ADDED", count_by_content(raised.leave_out_of(diff.added))),
        ("REMOVED", count_by_content(raised.leave_out_of(diff.removed))),
        ("RAISED", count_by_content(raised.files)),
        ("KEPT", diff.kept_by_content),
    ]
    sums = [
        (state, content, counts.files, counts.rows, counts.bytes)
        for state, contents in sets
        for content, counts in contents.items()
    ]
    longest = max((size or 0 for *_, size in sums), default=0) or 1
    rows, last = [], ""
    for state, content, number, amount, size in sums:
        length = round(40 * (size or 0) / longest) or (1 if size else 0)
        rows.append(
            (
                Cell(state if state != last else ""),
                cells.text(content.replace("_", " ")),
                *_format_change(state, content, number, amount, size),
                Cell(
                    "",
                    bar=Bar(length, 0)
                    if _STATES[state] == "del"
                    else Bar(0, length, is_kept=_STATES[state] != "add"),
                ),
            )
        )
        last = state
    names = ("!", "content!", "files#", "rows#", "bytes#", "")
    return cells.grid(names, rows, about=("common.diff",))


def _format_change(
    state: str, content: str, number: int | None, amount: int | None, size: int | None
) -> tuple[Cell, Cell, Cell]:
    """Files, rows and bytes; a delete that was added takes rows away, one that was removed gives them back."""
    rows = amount or 0
    if content == "equality_deletes" and _STATES[state]:
        signed = Cell(wording.plural(rows, "value"), "del" if _STATES[state] == "add" else "mute")
    elif (_STATES[state] == "add") != (content in _DELETE_ROWS):
        signed = cells.added(rows)
    else:
        signed = cells.removed(rows)
    if _STATES[state] == "add":
        return cells.added(number or 0), signed, cells.added_size(size or 0)
    if _STATES[state] == "del":
        return cells.removed(number or 0), signed, cells.removed_size(size or 0)
    return cells.number(number), cells.number(amount), cells.size(size)


def _fold_partitions(diff: Diff, raised: Raised) -> Fold:
    changes = [left for change in diff.by_partition if (left := raised.leave_out(change)) is not None]
    if len(changes) == 1 and not changes[0].partition:
        return Fold("Partitions", "the table is not partitioned")
    if not changes:
        return Fold("Partitions", "no file was added or removed")
    answer = f"{wording.plural(len(changes), 'partition')} changed"
    more = _lead_to_part(diff, "partitions")
    return Fold("Partitions", answer, lambda: one(_grid_partitions(changes, target=more)), opened=True)


def _grid_partitions(
    changes: Sequence[PartitionChange],
    how: str = "diff.by_partition.to_pandas()",
    target: Target | None = None,
) -> Grid:
    rows = [
        (
            cells.code(c.partition),
            cells.removed(c.removed_files),
            cells.added(c.added_files),
            cells.removed(c.removed_rows),
            bar,
            cells.added(c.added_rows),
            cells.changed_size(c.added_bytes - c.removed_bytes),
        )
        for c, bar in zip(changes, cells.bars([(c.removed_rows, c.added_rows) for c in changes]), strict=True)
    ]
    names = ("partition", "files −#", "files +#", "rows −#", "", "rows +!", "bytes ±#")
    return cells.grid(names, rows, how=how, noun="partition", total=len(changes), target=target)


def _fold_raised(raised: Raised, target: Target) -> Fold:
    rows = [
        (
            named.file(f),
            cells.code(f.partition or None),
            cells.optional(f.bucket),
            cells.optional(raised.levels[f.path]),
            cells.optional(f.level),
            cells.number(f.record_count),
            cells.size(f.size_bytes),
        )
        for f in raised.files
    ]
    names = ("file", "partition", "bucket#", "level before#", "level after#", "rows#", "bytes#")
    how = "diff.added.to_pandas()"
    grid = cells.prune(cells.grid(names, rows, how=how, noun="file", target=target))
    return Fold("Files raised", f"{wording.plural(len(rows), 'file')} {raised.words}", lambda: one(grid))


def _fold_schema(diff: Diff) -> Fold:
    how = "diff.schema, diff.partitioning" if diff.partitioning else "diff.schema"
    grid = _grid_fields((*diff.schema, *diff.partitioning), how)
    answer = ", ".join(f"{wording.clean(c.name, 40)} {c.kind}" for c in diff.schema[:4])
    more = f", {len(diff.schema) - 4:,} more" if len(diff.schema) > 4 else ""
    partitioned = "the partitioning changed" if diff.partitioning else ""
    return Fold("Schema", "; ".join(part for part in (answer + more, partitioned) if part), lambda: one(grid))


def _grid_fields(changes: Sequence[FieldChange], how: str) -> Grid:
    rows = [
        (
            cells.state(change.kind.upper()),
            *cells.codes(change.name, change.field_id, change.before, change.after),
        )
        for change in changes
    ]
    return cells.grid(("!", "column", "id#", "before", "after"), rows, how=how, noun="column")


def _count_manifests(changes: ManifestChanges) -> str:
    return (
        f"{wording.count(len(changes.kept))} kept, {wording.count(len(changes.new))} new, "
        f"{wording.count(len(changes.dropped))} dropped"
    )


def _grid_manifests(
    changes: ManifestChanges, how: str = "diff.manifests", target: Target | None = None
) -> Grid:
    is_readable = changes.dropped and changes.new and changes.entry_count <= _MOST_REWRITTEN
    taken = changes.taken if is_readable else {}
    notes = _note_manifests(changes, taken)
    states = (("NEW", changes.new), ("DROPPED", changes.dropped), ("KEPT", changes.kept))
    rows = [
        (
            cells.state(s),
            named.place("manifest", m.path),
            cells.text(m.content),
            cells.number(m.added_files_count),
            cells.number(m.existing_files_count),
            cells.number(m.deleted_files_count),
            cells.size(m.size_bytes),
            cells.text(notes.get(m.path), "mute"),
        )
        for s, manifests in states
        for m in manifests
    ]
    names = ("!", "manifest", "content!", "added#", "existing#", "deleted#", "bytes#", "note")
    grid = cells.grid(names, rows, how=how, noun="manifest", about=_ABOUT, target=target)
    return cells.prune(grid)


@describe.register
def card_of_manifest_changes(changes: ManifestChanges, detail: int = 1) -> Card:
    """Manifests that are new, dropped and kept."""
    grid = _grid_manifests(changes, ".new, .dropped, .kept")
    return Card("Manifests", _count_manifests(changes), body=(grid,) if grid.rows else (), about=_ABOUT)


@describe.register
def card_of_partition_changes(changes: PartitionChanges, detail: int = 1) -> Card:
    """Files, rows and bytes by partition."""
    body = (_grid_partitions(changes, ".to_pandas()"),) if changes else ()
    answer = f"{wording.plural(len(changes), 'partition')} changed" if changes else "none changed"
    return Card("Partitions", answer, body=body, about=_ABOUT)


@describe.register
def card_of_partition_change(change: PartitionChange, detail: int = 1) -> Card:
    """What changed in one partition."""
    name = wording.clean(change.partition, 200) or "the table is not partitioned"
    return Card("Partition", name, body=(_grid_partitions((change,)),), about=_ABOUT)


@describe.register
def card_of_field_changes(changes: FieldChanges, detail: int = 1) -> Card:  # type: ignore[type-arg]
    """What changed in columns, or in a partitioning."""
    body = (_grid_fields(changes, ".to_pandas()"),) if changes else ()
    answer = wording.plural(len(changes), "field") + " changed" if changes else "none"
    return Card("Changes", answer, body=body, about=_ABOUT)


@describe.register
def card_of_field_change(change: FieldChange, detail: int = 1) -> Card:
    """What changed in one column, or in one field of a partitioning."""
    sentence = f"{change.kind}: {wording.clean(change.words, 300)}"
    return Card(wording.clean(change.name, 120), sentence, body=(_grid_fields((change,), ""),), about=_ABOUT)


@describe.register
def card_of_delete_changes(changes: DeleteChanges, detail: int = 1) -> Card:
    """Delete files and vectors that came and went."""
    folds = []
    for label, files, how in (("Added", changes.added, ".added"), ("Removed", changes.removed, ".removed")):
        if len(files):
            grid = grid_files(files, how=f"{how}.to_pandas(), {how}.widget()")
            folds.append(Fold(label, format_contents(files), lambda grid=grid: one(grid), True))  # type: ignore[misc]
    sentence = f"{wording.count(len(changes.added))} added, {wording.count(len(changes.removed))} removed"
    return Card("Deletes", sentence, folds=tuple(folds), about=_ABOUT)


def _note_manifests(changes: ManifestChanges, taken: Mapping[str, Mapping[str, int]]) -> dict[str, str]:
    """Note which dropped manifests each new one rewrites and how much of them; where the files of each dropped one went."""
    live = {manifest.path: _count_live(manifest) for manifest in changes.dropped}
    notes, went = {}, Counter[str]()
    for path, sources in taken.items():
        went.update(sources)
        taken_from = [
            wording.name(source)
            + (
                ""
                if live[source] is None
                else f": {wording.count(count)} of its {wording.count(live[source])} files"
            )
            for source, count in list(sources.items())[:3]
        ]
        more = f" and {len(sources) - 3} more" if len(sources) > 3 else ""
        notes[path] = f"REWRITES {', '.join(taken_from)}{more}"
    for path, count in live.items() if taken else ():
        if count is not None:
            left = count - went[path]
            notes[path] = (
                f"{wording.plural(went[path], 'file')} went on, {wording.count(left)} left the table"
            )
    return notes


def _count_live(manifest: Manifest) -> int | None:
    """Count the live files of a manifest by the counts of its list; None where the list does not say."""
    added, existing = manifest.added_files_count, manifest.existing_files_count
    return None if added is None or existing is None else added + existing


def grid_json(changes: Sequence[JsonChange], how: str = "", target: Target | None = None) -> Grid:
    """Places of a JSON document that differ, with the old and the new value; what came to a list is one line."""
    rows = [
        (
            cells.code(line.path),
            cells.ABSENT if line.kind == "added" else _show_side(line, line.changes[0].before),
            cells.ABSENT if line.kind == "removed" else _show_side(line, line.changes[0].after),
        )
        for line in join_neighbours(changes)
    ]
    return cells.grid(("path", "before", "after"), rows, how=how, noun="place", target=target)


def _show_side(line: Neighbours, held: object) -> Cell:
    """Show what was there, or what is there now, in the format's words where it has any."""
    if line.words:
        return cells.text(line.words)
    return cells.stored(held, line.place, line.changes[0].vocabulary)


@describe.register
def card_of_changes(changes: JsonChanges, detail: int = 1) -> Card:
    """The places where two documents differ."""
    lines = wording.plural(len(join_neighbours(changes)), "place")
    body = (grid_json(changes, how=".to_pandas()"),) if changes else ()
    return Card("Changes", f"{lines} of the documents differ" if changes else "none", body=body, about=_ABOUT)


@describe.register
def card_of_change(change: JsonChange, detail: int = 1) -> Card:
    """One place of a document that changed."""
    (line,) = join_neighbours((change,))
    items = [
        (side, _show_side(line, getattr(change, side)))
        for side, missing in (("before", "added"), ("after", "removed"))
        if change.kind != missing
    ]
    return Card("Change", f"{wording.clean(change.path)} {change.kind}", body=(cells.pairs(items, _ABOUT),))
