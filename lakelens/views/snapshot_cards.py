"""Cards of snapshots. What a card says of files comes from the snapshot's own figures and its manifest lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lakelens.model.snapshot import Snapshot, Snapshots
from lakelens.model.table import Table
from lakelens.views import cells, wording
from lakelens.views.card import Card, Cell, Fact, Fold, Grid
from lakelens.views.figures import Figures, count_by_lists, read_figures
from lakelens.views.file_cards import grid_files
from lakelens.views.manifest_cards import grid_manifests
from lakelens.views.present import describe, one


def list_facts(snapshot: Snapshot, history: Snapshots | None = None) -> tuple[Fact, ...]:
    """The row of facts of a snapshot: which, when, rows, files, bytes."""
    figures = read_figures(snapshot)
    facts = []
    if snapshot.id is not None:
        small = wording.clean(snapshot.operation or "operation not recorded")
        if snapshot.sequence_number is not None:
            small += f", sequence {snapshot.sequence_number}"
        facts.append(Fact("snapshot", cells.code(snapshot.id), small))
    if snapshot.committed_at is not None:
        label = "committed, UTC" if snapshot.id is not None else "newest file, UTC"
        facts.append(Fact(label, cells.moment(snapshot.committed_at), _word_history(history)))
    if figures.rows is not None:
        facts.append(Fact("rows", Cell(wording.count(figures.rows)), _word_deletes(figures)))
    files = count_by_lists(snapshot) if figures.files is None else figures.files
    if files is not None:
        facts.append(
            Fact("files", Cell(f"{wording.count(files)} data"), _word_delete_files(snapshot, figures))
        )
    if figures.size is not None:
        every = files + (figures.delete_files or 0) if files else 0
        small = f"{wording.size(figures.size // every)} a file" if every else ""
        facts.append(Fact("bytes", cells.size(figures.size), small))
    return tuple(facts)


def _word_history(history: Snapshots | None) -> str:
    if not history:
        return ""
    first = history[0].committed_at
    since = f" since {wording.moment(first)}" if first is not None and len(history) > 1 else ""
    return f"{wording.plural(len(history), 'snapshot')}{since}"


def _word_deletes(figures: Figures) -> str:
    words = [
        f"{wording.count(number)} deleted by {how}"
        for number, how in ((figures.position_deletes, "position"), (figures.equality_deletes, "equality"))
        if number
    ]
    return ", ".join(words)


def _word_delete_files(snapshot: Snapshot, figures: Figures) -> str:
    if figures.delete_files:
        return wording.plural(figures.delete_files, "delete file")
    partitions = snapshot.summary.get("total-partitions")
    return f"{partitions} partitions" if partitions not in (None, "0") and snapshot.id is None else ""


# label, figure, how to word it
_CHANGES: tuple[tuple[str, Callable[[Figures], int | None], Callable[[int], Cell]], ...] = (
    ("files −#", lambda f: f.removed_files, cells.removed),
    ("files +#", lambda f: f.added_files, cells.added),
    ("rows −#", lambda f: f.removed_rows, cells.removed),
    ("rows +#", lambda f: f.added_rows, cells.added),
    ("rows ±#", lambda f: f.net_rows, cells.changed),
    ("bytes −#", lambda f: f.removed_bytes, cells.removed_size),
    ("bytes +#", lambda f: f.added_bytes, cells.added_size),
    ("rows then#", lambda f: f.rows, cells.number),
)


def grid_snapshots(
    snapshots: Sequence[Snapshot], most: int | None = None, how: str = "table.snapshots"
) -> Grid:
    """The newest snapshots first; a column that no snapshot records is left out, a figure that one leaves out is 0."""
    shown = list(reversed(snapshots))[:most]
    figures = [read_figures(snapshot) for snapshot in shown]
    columns = [change for change in _CHANGES if any(change[1](f) is not None for f in figures)]
    exact = _share_seconds(shown)
    rows = [
        (
            cells.code(snapshot.id),
            cells.text(snapshot.operation),
            cells.moment(snapshot.committed_at, exact=exact),
            *(word(find(found) or 0) for _, find, word in columns),
            cells.text(", ".join(snapshot.refs), "mute"),
        )
        for snapshot, found in zip(shown, figures, strict=True)
    ]
    names = ["snapshot", "operation!", "committed, UTC!", *(label for label, _, _ in columns), "refs"]
    if "rows −#" in names and "rows +#" in names:
        place = names.index("rows +#")
        names.insert(place, "")
        drawn = cells.bars([(f.removed_rows or 0, f.added_rows or 0) for f in figures])
        rows = [(*row[:place], bar, *row[place:]) for row, bar in zip(rows, drawn, strict=True)]
    older = len(snapshots) - len(shown)
    grid = cells.grid(names, rows, how=how, noun="snapshot")
    if not older:
        return grid
    return Grid(grid.columns, grid.rows, f"… {wording.count(older)} older: {how}; any two: table.diff(a, b)")


def _share_seconds(snapshots: Sequence[Snapshot]) -> bool:
    """Whether two of them were committed within one second, so that seconds alone do not tell them apart."""
    seconds = [s.committed_at.replace(microsecond=0) for s in snapshots if s.committed_at is not None]
    return len(set(seconds)) < len(seconds)


def word_snapshots(snapshots: Sequence[Snapshot], most: int = 5) -> str:
    """The newest operations in a line."""
    recent = [wording.clean(s.operation or "unknown", 40) for s in reversed(snapshots[-most:])]
    if len(snapshots) <= most:
        return f"{wording.plural(len(snapshots), 'snapshot')}: {', '.join(recent)}"
    return f"last {most} of {wording.plural(len(snapshots), 'snapshot')}: {', '.join(recent)}"


@describe.register
def describe_snapshots(snapshots: Snapshots, detail: int = 1) -> Card:
    """The history, newest first."""
    if not len(snapshots):
        return Card("Snapshots", "none")
    return Card("Snapshots", word_snapshots(snapshots), body=(grid_snapshots(snapshots),))


@describe.register
def describe_snapshot(snapshot: Snapshot, detail: int = 1) -> Card:
    """One state of a table."""
    folds: list[Fold] = []
    if snapshot.manifest_lists:
        folds += _fold_manifests(snapshot, detail)
    if detail >= 2 or snapshot.id is None:
        folds.append(_fold_files(snapshot))
    folds += _fold_others(snapshot)
    if snapshot.summary:
        answer = wording.some(snapshot.summary)
        folds.append(Fold("Summary", answer, lambda: one(cells.mapping(snapshot.summary, how=".summary"))))
    if snapshot.raw:
        folds.append(Fold("Document", "as it is stored", lambda: one(cells.document(snapshot.raw))))
    return Card(
        "Listing" if snapshot.id is None else f"Snapshot {snapshot.id}",
        _word_snapshot(snapshot),
        wording.clean(snapshot.path or ""),
        facts=list_facts(snapshot),
        folds=tuple(folds),
    )


def _word_snapshot(snapshot: Snapshot) -> str:
    if snapshot.id is None:
        return "of the visible files, taken when it was first asked for"
    parent = f"after {snapshot.parent_id}" if snapshot.parent_id is not None else "without a parent"
    refs = f"; named {wording.clean(', '.join(snapshot.refs))}" if snapshot.refs else ""
    return f"{wording.clean(snapshot.operation or 'operation not recorded')}, {parent}{refs}"


def _fold_manifests(snapshot: Snapshot, detail: int) -> list[Fold]:
    lists = snapshot.manifest_lists
    roles = ", ".join(f"{one_list.role} {wording.name(one_list.path) or 'inline'}" for one_list in lists)
    rows = [
        (
            cells.text(found.role),
            cells.code(wording.name(found.path) or "inline"),
            cells.size(found.size_bytes),
        )
        for found in lists
    ]
    grid = cells.grid(("role!", "manifest list", "bytes#"), rows)
    manifests = snapshot.manifests
    answer = f"{wording.plural(len(manifests), 'manifest')}{_word_counts(manifests)}"
    return [
        Fold("Lists", roles, lambda: one(grid)),
        Fold(
            "Manifests", answer, lambda: one(grid_manifests(manifests, how="snapshot.manifests")), detail >= 2
        ),
    ]


def _word_counts(manifests: Sequence[Any]) -> str:
    words = []
    for name, label in (("added", "added"), ("existing", "existing"), ("deleted", "deleted")):
        amounts = [getattr(manifest, f"{name}_files_count") for manifest in manifests]
        if any(amounts):
            words.append(f"{wording.count(sum(amount or 0 for amount in amounts))} {label}")
    return f" with {', '.join(words)} entries" if words else ""


def _fold_files(snapshot: Snapshot) -> Fold:
    files = snapshot.files
    answer = f"{wording.plural(len(files), 'file')}, {wording.size(files.size_bytes)}"
    return Fold("Files", answer, lambda: one(grid_files(list(files), how=".files.to_pandas()")))


def _fold_others(snapshot: Snapshot) -> list[Fold]:
    folds = []
    if snapshot.index_files:
        rows = [
            (
                cells.text(f.index_type),
                cells.code(wording.name(f.path)),
                cells.number(f.row_count),
                cells.size(f.size_bytes),
            )
            for f in snapshot.index_files
        ]
        kinds = ", ".join(dict.fromkeys(wording.clean(f.index_type, 40) for f in snapshot.index_files))
        grid = cells.grid(("type!", "file", "entries#", "bytes#"), rows, how=".index_files", noun="file")
        folds.append(Fold("Index files", f"{len(rows):,}: {kinds}", lambda: one(grid)))
    if snapshot.statistics:
        found = [
            (cells.text(s.kind), cells.code(wording.name(s.path)), cells.size(s.size_bytes))
            for s in snapshot.statistics
        ]
        table = cells.grid(("kind!", "file", "bytes#"), found, how=".statistics", noun="file")
        folds.append(Fold("Statistics", wording.plural(len(found), "file"), lambda: one(table)))
    return folds


def summarise(table: Table) -> tuple[Fact, ...]:
    """The row of facts of a table: those of its current snapshot, within its history."""
    current = table.current
    if current is None:
        return (Fact("snapshot", Cell("none", "mute"), "nothing was committed yet"),)
    return list_facts(current, table.snapshots)
