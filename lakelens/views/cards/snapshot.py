"""Cards of snapshots. What a card says of files comes from the snapshot's own figures and its manifest lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.analysis.figures import count_by_lists, read_changes
from lakelens.model.facts.traits import Figures
from lakelens.model.manifest import Manifest
from lakelens.model.snapshot import History, Snapshot, Snapshots
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Fact, Fold, Grid, Note, Target, TargetKind
from lakelens.views.describe import describe, fold_document, one

if TYPE_CHECKING:
    from lakelens.analysis.diff.diff import Raised

#: What compares any two states of a table.
HINT_DIFF = cells.hint("any two states", "table.diff(before, after)", named.page("diff"), "Compare any two")


@describe.register
def card_of_snapshots(snapshots: Snapshots, detail: int = 1) -> Card:
    """The history, newest first."""
    shown = min(display.max_rows, len(snapshots))
    return _card_of_newest(snapshots, len(snapshots), f"table.snapshots[:-{shown}]")


@describe.register
def card_of_history(history: History, detail: int = 1) -> Card:
    """The history in outline: the newest snapshots of all."""
    return _card_of_newest(history.newest, history.count)


def _card_of_newest(snapshots: Snapshots, total: int, how: str = "table.snapshots") -> Card:
    if not len(snapshots):
        return Card("Snapshots", "none")
    body = (grid_snapshots(snapshots, how, total, looks_closer=True), HINT_DIFF)
    about = list_sections(snapshots[-1], "snapshot")
    answer = format_snapshots(snapshots, display.max_rows, total)
    return Card("Snapshots", answer, body=body, about=about)


@describe.register
def card_of_snapshot(snapshot: Snapshot, detail: int = 1) -> Card:
    """One state of a table."""
    from lakelens.views.cards.delete import list_live_folds
    from lakelens.views.cards.fileset import grid_files

    folds: list[Fold] = []
    if snapshot.id is not None:
        folds.append(_fold_changes(snapshot, detail))
    if snapshot.manifest_lists:
        folds += _fold_manifests(snapshot)
    if detail >= 2 or snapshot.id is None:
        files = snapshot.files
        how = ".files.to_pandas(), .files.widget()"
        answer = f"{wording.plural(len(files), 'file')}, {wording.size(files.size_bytes)}"
        folds.append(
            Fold(
                "Files",
                answer,
                lambda: one(grid_files(files, how, target=named.page("files"))) if len(files) else (),
            )
        )
    folds += [*list_live_folds(snapshot, detail), *_fold_others(snapshot, detail)]
    folds += _fold_documents(snapshot, detail)
    is_list = any(snapshot.path == manifest_list.path for manifest_list in snapshot.manifest_lists)
    kind: TargetKind = "manifest_list" if is_list else "metadata"
    return Card(
        "Listing" if snapshot.id is None else f"Snapshot {snapshot.id}",
        _format_snapshot(snapshot),
        wording.clean(snapshot.path or ""),
        facts=list_facts(snapshot),
        folds=tuple(folds),
        about=list_sections(snapshot, "snapshot", "manifest_list"),
        linked=_link_snapshot(snapshot),
        target=None if snapshot.id is None or not snapshot.path else Target(kind, snapshot.path),
    )


def _format_snapshot(snapshot: Snapshot) -> str:
    if snapshot.id is None:
        return "the visible files, listed when first needed"
    parent = f"after {snapshot.parent_id}" if snapshot.parent_id is not None else "without a parent"
    refs = f"; named {wording.clean(', '.join(snapshot.refs))}" if snapshot.refs else ""
    return f"{wording.clean(snapshot.operation or 'operation not recorded')}, {parent}{refs}"


def _link_snapshot(snapshot: Snapshot) -> tuple[Cell, ...]:
    parent = snapshot.parent_id
    if snapshot.id is None or parent is None:
        return ()
    before, _, after = _format_snapshot(snapshot).partition(f"after {parent}")
    return named.sentence(f"{before}after ", named.snapshot(parent), after)


def _hint_changes(snapshot: Snapshot, how: str) -> Note:
    """Say what the commit changed: the diff from its parent."""
    target = named.page("diff", before=snapshot.parent_id, after=snapshot.id)
    return cells.hint(how, ".changes", target, f"What it changed, {how}")


def _fold_changes(snapshot: Snapshot, detail: int) -> Fold:
    """Fold what the commit did: as it records it itself; by its manifests where the card is opened."""
    from lakelens.views.cards.diff import format_counts, grid_totals

    if detail < 2:

        def make_row() -> list[Body]:
            return [grid_snapshots([snapshot], looks_closer=True), _hint_changes(snapshot, "file by file")]

        return Fold("Changes", format_changes(snapshot), make_row)
    diff = snapshot.changes

    def make() -> list[Body]:
        parts = "by partition, column, manifest and key"
        return [grid_totals(diff), _hint_changes(snapshot, parts)]

    return Fold("Changes", format_counts(diff), make)


def _fold_manifests(snapshot: Snapshot) -> list[Fold]:
    from lakelens.views.cards.manifest import grid_lists, grid_manifests

    lists = snapshot.manifest_lists
    roles = ", ".join(
        f"{wording.clean(manifest_list.role, 40)} {wording.name(manifest_list.path) or 'inline'}"
        for manifest_list in lists
    )
    manifests = snapshot.manifests
    answer = f"{wording.plural(len(manifests), 'manifest')}{_format_entries(manifests)}"
    how = "snapshot.manifests, snapshot.manifests.widget()"
    counted, recorded = count_by_lists(snapshot), snapshot.figures.files
    alert = ""
    if counted is not None and recorded is not None and counted != recorded:
        answer += f", of {wording.plural(counted, 'data file')}; the summary says {wording.count(recorded)}"
        alert = "the summary DIFFERS"
    make = lambda: one(grid_manifests(manifests, how, named.page("manifests"))) if manifests else ()  # noqa: E731
    return [
        Fold("Lists", roles, lambda: one(grid_lists(lists))),
        Fold("Manifests", answer, make, alert=alert),
    ]


def _format_entries(manifests: Sequence[Manifest]) -> str:
    words = []
    for label in ("added", "existing", "deleted"):
        amounts = [getattr(manifest, f"{label}_files_count") for manifest in manifests]
        if any(amounts):
            words.append(f"{wording.count(sum(amount or 0 for amount in amounts))} {label}")
    return f" with {', '.join(words)} entries" if words else ""


def _fold_others(snapshot: Snapshot, detail: int) -> list[Fold]:
    """Index files and statistics; index files that only a walk through every manifest finds are left to detail 2."""
    from lakelens.views.cards.delete import grid_index_files, grid_statistics

    folds = []
    is_cheap = all(manifest_list.role != "all" for manifest_list in snapshot.manifest_lists)
    if (detail >= 2 or is_cheap) and snapshot.index_files:
        found = snapshot.index_files
        kinds = ", ".join(dict.fromkeys(wording.clean(f.index_type, 40) for f in found))
        folds.append(Fold("Index files", f"{len(found):,}: {kinds}", lambda: one(grid_index_files(found))))
    if snapshot.statistics:
        statistics = snapshot.statistics
        answer = wording.plural(len(statistics), "file")
        folds.append(Fold("Statistics", answer, lambda: one(grid_statistics(statistics))))
    return folds


def _fold_documents(snapshot: Snapshot, detail: int) -> list[Fold]:
    """Fold the snapshot's own document, key by key, with the summary that Iceberg keeps inside it."""
    folds = []
    raw: Mapping[str, Any] = snapshot.raw if isinstance(snapshot.raw, Mapping) else {}
    if isinstance(raw.get("summary"), Mapping) or not raw:
        summary = dict(snapshot.summary)
        about = list_sections(snapshot, "summary")
        if summary:
            make = lambda: cells.fields(summary, about, how=".summary")  # noqa: E731 - made when it is opened
            # the engine that committed where the summary names it, and how many keys there are
            engine = " ".join(
                wording.clean(summary[key], 40) for key in ("engine-name", "engine-version") if key in summary
            )
            maker = f"by {engine}; " if engine else ""
            folds.append(
                Fold("Summary", f"{maker}{wording.plural(len(summary), 'key')} of the commit's summary", make)
            )
    if raw:
        folds += fold_document(raw, detail)
    return folds


def summarise(table: Table, history: History) -> tuple[Fact, ...]:
    """Summarise the row of facts of a table: those of its current snapshot, within its history."""
    current = table.current
    if current is None:
        return (Fact("snapshot", Cell("none", "mute"), "nothing has been committed yet"),)
    count_by_lists(current)  # what the lists count is compared with what the snapshot records
    return list_facts(current, history)


def list_facts(snapshot: Snapshot, history: History | None = None) -> tuple[Fact, ...]:
    """List the facts of a snapshot: which, when, rows, files, bytes."""
    figures = snapshot.known_figures
    facts = []
    if snapshot.id is not None:
        small = wording.clean(snapshot.operation or "operation not recorded")
        if snapshot.sequence_number is not None:
            small += f", sequence {snapshot.sequence_number}"
        facts.append(Fact("snapshot", named.snapshot(snapshot.id), small))
    if snapshot.committed_at is not None:
        label = "committed, UTC" if snapshot.id is not None else "newest file, UTC"
        facts.append(Fact(label, cells.moment(snapshot.committed_at), _format_history(history)))
    rows = snapshot.known_live_rows
    if rows.recorded is not None:
        is_whole = rows.count == rows.recorded
        label = "rows" if is_whole else "live rows"
        facts.append(
            Fact(label, Cell(wording.live(rows)), _format_differing(snapshot, "rows") or wording.stored(rows))
        )
    files = count_by_lists(snapshot) if figures.files is None else figures.files
    if files is not None:
        small = f"{figures.partitions} partitions" if figures.partitions else ""
        if figures.delete_files:
            small = wording.plural(figures.delete_files, "delete file")
        elif snapshot.known_vector_count:
            small = wording.plural(snapshot.known_vector_count, "deletion vector")
        small = "; ".join(filter(None, (small, _format_differing(snapshot, "files"))))
        facts.append(Fact("files", Cell(f"{wording.count(files)} data"), small))
    if figures.size_bytes is not None:
        every = files + (figures.delete_files or 0) if files else 0
        small = f"{wording.size(figures.size_bytes // every)} a file" if every else ""
        facts.append(Fact("bytes", cells.size(figures.size_bytes), small))
    return tuple(facts)


def _format_differing(snapshot: Snapshot, name: str) -> str:
    """That the snapshot records another figure than its manifests add up to; nothing where it does not."""
    recorded, known = getattr(snapshot.figures, name), getattr(snapshot.known_figures, name)
    if recorded is None or recorded == known:
        return ""
    return f"the summary DIFFERS: {wording.count(recorded)}"


def _format_history(history: History | None) -> str:
    if history is None or not history.count:
        return ""
    first = history.first.committed_at if history.first is not None and history.count > 1 else None
    since = f" since {wording.moment(first)}" if first is not None else ""
    return f"{wording.plural(history.count, 'snapshot')}{since}"


# label, figure, how to word it; the bar stands before the rows that came
_CHANGES: tuple[tuple[str, Callable[[Figures], int | None], Callable[[int], Cell]], ...] = (
    ("files −#", lambda f: f.removed_files, cells.removed),
    ("files +#", lambda f: f.added_files, cells.added),
    ("rows −#", lambda f: f.removed_rows, cells.removed),
    ("deleted#", lambda f: _count_deleted(f) or None, cells.removed),
    ("rows +!", lambda f: f.added_rows, cells.added),
    ("rows ±!", lambda f: f.net_rows, cells.changed),
    ("bytes ±#", lambda f: f.net_bytes, cells.changed_size),
)
_BEHIND_BARS = ("rows +!", "rows ±!")
_MOST_RUNS = 6  # of operations in a line


def grid_snapshots(
    snapshots: Sequence[Snapshot],
    how: str = "table.snapshots, table.snapshots.widget()",
    total: int | None = None,
    *,
    looks_closer: bool = False,
) -> Grid:
    """The newest snapshots first; a column that no snapshot records is left out, a figure that one leaves out is 0.

    `total` counts them also where only the newest ones are given. Looking closer, the manifests of small commits are read
    that may only have raised files to another level.
    """
    grid = _grid(list(islice(reversed(snapshots), display.max_rows)), how, looks_closer)
    left = (len(snapshots) if total is None else total) - len(grid.rows)
    older = f"… {wording.count(left)} older" if left else ""
    return replace(grid, more=older, how=how if left else "", target=named.page("snapshots"))


def _grid(shown: Sequence[Snapshot], how: str, looks_closer: bool) -> Grid:
    raised: list[Raised | None] = [None] * len(shown)
    if looks_closer:
        from lakelens.analysis.diff.diff import find_raised_by

        raised = [find_raised_by(snapshot) for snapshot in shown]
    figures = [_read_figures(snapshot, found) for snapshot, found in zip(shown, raised, strict=True)]
    exact = wording.share_a_second(snapshot.committed_at for snapshot in shown)
    # its id, and below it the refs that name it
    parts = [
        [
            (
                "snapshot",
                [
                    replace(
                        cells.explain(named.snapshot(snapshot.id), ", ".join(snapshot.refs)), key=snapshot.id
                    )
                    for snapshot in shown
                ],
            ),
            ("operation!", [cells.text(snapshot.operation) for snapshot in shown]),
            # where there is no room for both, the day stands above the time
            ("committed, UTC", [cells.moment(snapshot.committed_at, exact=exact) for snapshot in shown]),
        ],
        _list_changes(figures),
        _list_totals(shown),
        [("note", [cells.text(_format_raised(up) if up is not None else "", "mute") for up in raised])],
    ]
    columns = [column for part in parts for column in part]
    names, rows = [name for name, _ in columns], zip(*(made for _, made in columns), strict=True)
    return cells.prune(cells.grid(names, rows, how=how, noun="snapshot", about=("common.anywhere",)))


def _list_changes(figures: Sequence[Figures]) -> list[tuple[str, list[Cell]]]:
    """List what commits changed, a column for each figure that one of them records, with bars before the rows that came."""
    columns: list[tuple[str, list[Cell]]] = []
    for label, find, word in _CHANGES:
        if all(find(change) is None for change in figures):
            continue
        if label in _BEHIND_BARS and all(name for name, _ in columns):
            columns.append(("", cells.bars([_measure_rows(change) for change in figures])))
        if label == "deleted#":
            columns.append((label, [cells.deleted(f.deleted, f.added_equality_deletes) for f in figures]))
        else:
            columns.append((label, [word(find(change) or 0) for change in figures]))
    return columns


def _measure_rows(figures: Figures) -> tuple[int, int]:
    """Measure the rows that went, with their files or deleted in them, and those that came."""
    net = figures.net_rows or 0
    gone = (figures.removed_rows or 0) + max(-net, 0) + _count_deleted(figures)
    return gone, (figures.added_rows or 0) + max(net, 0)


def _count_deleted(figures: Figures) -> int:
    """As many rows as may have been deleted in files that stay; of deleted values as many as these are."""
    found = figures.deleted
    if found is None:
        return 0
    return found.least + (figures.added_equality_deletes or 1) if found.most is None else found.most


def _list_totals(shown: Sequence[Snapshot]) -> list[tuple[str, list[Cell]]]:
    """List the rows after each commit: the live ones where these are others than those that are stored."""
    # of the newest one its card says what was read of it too; a list of all says the same whatever was read before
    rows = [
        snapshot.stated_live_rows if number else snapshot.known_live_rows
        for number, snapshot in enumerate(shown)
    ]
    if all(count.recorded is None for count in rows):
        return []
    if all(count.count == count.recorded for count in rows):
        return [("rows after#", [cells.number(count.recorded) for count in rows])]
    live = [Cell(wording.live(count), "" if count.at_most else "mute", key=count.at_most) for count in rows]
    return [("live after#", live)]


def _read_figures(snapshot: Snapshot, raised: Raised | None) -> Figures:
    figures = read_changes(snapshot)
    return figures if raised is None else replace(figures, added_files=0, removed_files=0)


def _format_raised(raised: Raised) -> str:
    return f"{wording.plural(len(raised.files), 'file')} {raised.words}"


def format_snapshots(snapshots: Sequence[Snapshot], most: int = 5, total: int | None = None) -> str:
    """Format the newest operations in a line, the newest first; the same ones in a row are counted, of many all.

    `most` are as many as are shown beside it.
    """
    count = len(snapshots) if total is None else total
    most = min(most, len(snapshots), count)
    runs: list[list[str | int]] = []
    for snapshot in reversed(snapshots[-most:]):
        word = wording.clean(snapshot.operation or "not recorded", 40)
        if runs and runs[-1][0] == word:
            runs[-1][1] = int(runs[-1][1]) + 1
        else:
            runs.append([word, 1])
    if len(runs) > _MOST_RUNS:
        counts = Counter(snapshot.operation or "not recorded" for snapshot in snapshots[-most:])
        runs = [[wording.clean(word, 40), times] for word, times in counts.most_common(_MOST_RUNS)]
    operations = ", ".join(str(word) if times == 1 else f"{times} {word}" for word, times in runs)
    if count <= most:
        return f"{wording.plural(count, 'snapshot')}: {operations}"
    return f"last {most} of {wording.plural(count, 'snapshot')}: {operations}"


def format_changes(snapshot: Snapshot) -> str:
    """Say what a commit changed, as it records it, in a line."""
    from lakelens.analysis.diff.diff import find_raised_by

    raised = find_raised_by(snapshot)
    figures = _read_figures(snapshot, raised)
    words = [] if raised is None else [f"{_format_raised(raised)}, none rewritten"]
    if figures.net_rows:
        words.append(f"rows {wording.change(figures.net_rows)}")
    words += wording.list_changes(figures)
    if figures.added_bytes or figures.removed_bytes:
        net = (figures.added_bytes or 0) - (figures.removed_bytes or 0)
        words.append(f"bytes {'+' if net > 0 else ''}{wording.size(net)}")
    return ", ".join(words) or "no files, according to the snapshot"
