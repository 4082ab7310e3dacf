"""Cards of snapshots. What a card says of files comes from the snapshot's own figures and its manifest lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakelens.model.manifest import Manifest
from lakelens.model.snapshot import History, Snapshot, Snapshots
from lakelens.views.card import cells, wording
from lakelens.views.card.meanings import tell_about
from lakelens.views.card.model import Body, Card, Fold
from lakelens.views.cards.delete import list_live_folds
from lakelens.views.cards.diff import grid_totals, word_counts
from lakelens.views.cards.fileset import grid_files
from lakelens.views.cards.index import grid_index_files, grid_statistics
from lakelens.views.cards.manifest import grid_lists, grid_manifests
from lakelens.views.cards.snapshot_facts import list_facts
from lakelens.views.cards.snapshot_grid import grid_snapshots, word_changes, word_snapshots
from lakelens.views.describe import describe, one


@describe.register
def describe_snapshots(snapshots: Snapshots, detail: int = 1) -> Card:
    """The history, newest first."""
    return _describe_newest(snapshots, len(snapshots))


@describe.register
def describe_history(history: History, detail: int = 1) -> Card:
    """The history in outline: the newest snapshots of all."""
    return _describe_newest(history.newest, history.count)


def _describe_newest(snapshots: Snapshots, total: int) -> Card:
    if not len(snapshots):
        return Card("Snapshots", "none")
    body = (
        grid_snapshots(snapshots, total=total, looks_closer=True),
        cells.hint("any two states", "table.diff(before, after)"),
    )
    about = tell_about(snapshots[-1], "snapshot")
    return Card("Snapshots", word_snapshots(snapshots, total=total), body=body, about=about)


@describe.register
def describe_snapshot(snapshot: Snapshot, detail: int = 1) -> Card:
    """One state of a table."""
    folds: list[Fold] = []
    if snapshot.id is not None:
        folds.append(_fold_changes(snapshot, detail))
    if snapshot.manifest_lists:
        folds += _fold_manifests(snapshot)
    if detail >= 2 or snapshot.id is None:
        folds.append(_fold_files(snapshot))
    folds += list_live_folds(snapshot, detail)
    folds += _fold_others(snapshot, detail)
    folds += _fold_documents(snapshot, detail)
    return Card(
        "Listing" if snapshot.id is None else f"Snapshot {snapshot.id}",
        _word_snapshot(snapshot),
        wording.clean(snapshot.path or ""),
        facts=list_facts(snapshot),
        folds=tuple(folds),
        about=tell_about(snapshot, "snapshot", "manifest_list"),
    )


def _word_snapshot(snapshot: Snapshot) -> str:
    if snapshot.id is None:
        return "of the visible files, taken when it was first asked for"
    parent = f"after {snapshot.parent_id}" if snapshot.parent_id is not None else "without a parent"
    refs = f"; named {wording.clean(', '.join(snapshot.refs))}" if snapshot.refs else ""
    return f"{wording.clean(snapshot.operation or 'operation not recorded')}, {parent}{refs}"


def _fold_changes(snapshot: Snapshot, detail: int) -> Fold:
    """What the commit did: as it records it itself; by its manifests where the card is opened."""
    if detail < 2:

        def make_row() -> list[Body]:
            return [grid_snapshots([snapshot], looks_closer=True), cells.hint("file by file", ".changes")]

        return Fold("Changes", word_changes(snapshot), make_row)
    diff = snapshot.changes

    def make() -> list[Body]:
        return [grid_totals(diff), cells.hint("by partition, column, manifest and key", ".changes")]

    return Fold("Changes", word_counts(diff), make)


def _fold_manifests(snapshot: Snapshot) -> list[Fold]:
    lists = snapshot.manifest_lists
    roles = ", ".join(
        f"{wording.clean(found.role, 40)} {wording.name(found.path) or 'inline'}" for found in lists
    )
    manifests = snapshot.manifests
    answer = f"{wording.plural(len(manifests), 'manifest')}{_word_entries(manifests)}"
    how = "snapshot.manifests"
    return [
        Fold("Lists", roles, lambda: one(grid_lists(lists))),
        Fold("Manifests", answer, lambda: one(grid_manifests(manifests, how=how)) if manifests else ()),
    ]


def _word_entries(manifests: Sequence[Manifest]) -> str:
    words = []
    for label in ("added", "existing", "deleted"):
        amounts = [getattr(manifest, f"{label}_files_count") for manifest in manifests]
        if any(amounts):
            words.append(f"{wording.count(sum(amount or 0 for amount in amounts))} {label}")
    return f" with {', '.join(words)} entries" if words else ""


def _fold_files(snapshot: Snapshot) -> Fold:
    files = snapshot.files
    answer = f"{wording.plural(len(files), 'file')}, {wording.size(files.size_bytes)}"
    return Fold(
        "Files", answer, lambda: one(grid_files(list(files), how=".files.to_pandas()")) if len(files) else ()
    )


def _fold_others(snapshot: Snapshot, detail: int) -> list[Fold]:
    """Index files and statistics; index files that only a walk through every manifest finds are left to detail 2."""
    folds = []
    is_cheap = all(found.role != "all" for found in snapshot.manifest_lists)
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
    """The snapshot's own document, key by key, with the summary that Iceberg keeps inside it."""
    folds = []
    raw: Mapping[str, Any] = snapshot.raw if isinstance(snapshot.raw, Mapping) else {}
    if isinstance(raw.get("summary"), Mapping) or not raw:
        summary = dict(snapshot.summary)
        about = tell_about(snapshot, "summary")
        if summary:
            make = lambda: cells.fields(summary, about, how=".summary")  # noqa: E731 - made when it is opened
            folds.append(Fold("Summary", _word_summary(summary), make))
    if raw:
        folds.append(
            Fold(
                "Document",
                f"{wording.plural(len(raw), 'key')}, as stored",
                lambda: cells.fields(raw, how=".raw"),
            )
        )
        if detail >= 2:
            make_json = lambda: one(cells.document(raw, how=".raw"))  # noqa: E731
            folds.append(Fold("JSON", "the same, whole", make_json, level=3))
    return folds


def _word_summary(summary: Mapping[str, str]) -> str:
    """The engine that committed where the summary tells it, and how many keys there are."""
    engine = " ".join(
        wording.clean(summary[key], 40) for key in ("engine-name", "engine-version") if key in summary
    )
    told = f"by {engine}; " if engine else ""
    return f"{told}{wording.plural(len(summary), 'key')} of the commit's own words"
