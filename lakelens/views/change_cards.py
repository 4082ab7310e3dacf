"""Cards of diffs, of the storage tree, and of what was read."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lakelens.model.diff import Diff, JsonChange
from lakelens.model.fileset import FileSet
from lakelens.model.table import Reads
from lakelens.model.tree import StorageTree
from lakelens.options import display
from lakelens.views import cells, wording
from lakelens.views.card import Body, Card, Cell, Column, Fact, Fold, Grid
from lakelens.views.file_cards import grid_files
from lakelens.views.present import describe, one


@describe.register
def describe_diff(diff: Diff, detail: int = 1) -> Card:
    """What changed: files, rows and bytes; then partitions, columns, manifests, the document's places."""
    folds = [_fold_partitions(diff)]
    if diff.schema:
        folds.append(_fold_schema(diff))
    if diff.manifests.new or diff.manifests.dropped or diff.manifests.kept:
        folds.append(_fold_manifests(diff))
    if diff.metadata:
        answer = f"{wording.plural(len(diff.metadata), 'place')} of the document differ"
        folds.append(Fold("Document", answer, lambda: one(grid_json(diff.metadata, how="diff.metadata"))))
    for label, files, how in (
        ("Files added", diff.added, "diff.added.to_pandas()"),
        ("Files removed", diff.removed, "diff.removed.to_pandas()"),
    ):
        if len(files):
            grid = grid_files(list(files), how=how)
            folds.append(Fold(label, _word_contents(files), lambda grid=grid: one(grid)))  # type: ignore[misc]
    return Card("Diff", _word_diff(diff), body=(_grid_totals(diff),), folds=tuple(folds))


def _count_marked(files: FileSet) -> int:
    """Rows that delete files and vectors mark by their position."""
    return sum(f.record_count or 0 for f in files if f.content in ("position_deletes", "deletion_vector"))


def _word_diff(diff: Diff) -> str:
    before = "from nothing" if diff.before is None else f"from {_word_id(diff.before.id)}"
    rows = diff.added.record_count - diff.removed.record_count
    more = (
        "as many rows" if not rows else f"{wording.plural(abs(rows), 'row')} {'more' if rows > 0 else 'less'}"
    )
    marked = _count_marked(diff.added) - _count_marked(diff.removed)
    if marked:
        more += f", {wording.plural(abs(marked), 'row')} {'more' if marked > 0 else 'less'} marked deleted"
    counts = (
        f"{wording.plural(len(diff.added), 'file')} added, {wording.count(len(diff.removed))} removed, "
        f"{wording.count(len(diff.kept))} kept; {more}"
    )
    return f"{before} to {_word_id(diff.after.id)}: {counts}"


def _word_id(number: int | None) -> str:
    return "a listing" if number is None else f"snapshot {number}"


def _word_contents(files: FileSet) -> str:
    counts = Counter(f.content for f in files)
    return ", ".join(f"{wording.count(number)} {name.replace('_', ' ')}" for name, number in counts.items())


def _grid_totals(diff: Diff) -> Grid:
    rows = []
    for state, files, role in (
        ("ADDED", diff.added, "add"),
        ("REMOVED", diff.removed, "del"),
        ("KEPT", diff.kept, ""),
    ):
        counts: dict[str, list[int]] = {}
        for f in files:
            row = counts.setdefault(f.content, [0, 0, 0])
            row[0] += 1
            row[1] += f.record_count or 0
            row[2] += getattr(f, "content_size_in_bytes", None) or f.size_bytes or 0
        for content, (number, amount, size) in (counts or {"": [0, 0, 0]}).items():
            word, measure = {
                "add": (cells.added, cells.added_size),
                "del": (cells.removed, cells.removed_size),
                "": (cells.number, cells.size),
            }[role]
            rows.append(
                (
                    Cell(state),
                    cells.text(content.replace("_", " ")),
                    word(number),
                    word(amount),
                    measure(size),
                )
            )
    return cells.grid(("!", "content!", "files#", "rows#", "bytes#"), rows)


def _fold_partitions(diff: Diff) -> Fold:
    changes = diff.by_partition
    if len(changes) == 1 and not changes[0].partition:
        return Fold("Partitions", "the table is not partitioned")
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
    names = ("partition", "files −#", "files +#", "rows −#", "", "rows +#", "bytes#")
    grid = cells.grid(names, rows, how="diff.by_partition", noun="partition")
    answer = f"{wording.plural(len(rows), 'partition')} changed"
    return Fold("Partitions", answer, lambda: one(grid) if rows else (), opened=bool(rows))


def _fold_schema(diff: Diff) -> Fold:
    rows = [
        (
            cells.state(c.kind.upper()),
            cells.code(c.name),
            cells.code(c.field_id),
            cells.code(c.before),
            cells.code(c.after),
        )
        for c in diff.schema
    ]
    grid = cells.grid(("!", "column", "id#", "before", "after"), rows, how="diff.schema", noun="column")
    answer = ", ".join(f"{wording.clean(c.name, 40)} {c.kind}" for c in diff.schema[:4])
    more = f", {len(diff.schema) - 4:,} more" if len(diff.schema) > 4 else ""
    return Fold("Schema", answer + more, lambda: one(grid))


def _fold_manifests(diff: Diff) -> Fold:
    changes = diff.manifests
    answer = (
        f"{wording.count(len(changes.kept))} kept, {wording.count(len(changes.new))} new, "
        f"{wording.count(len(changes.dropped))} dropped"
    )

    def make() -> tuple[Body, ...]:
        rewrites = changes.rewrites if changes.dropped and changes.new else {}
        rows = []
        for state, manifests in (("NEW", changes.new), ("DROPPED", changes.dropped), ("KEPT", changes.kept)):
            for m in manifests:
                taken = ", ".join(wording.name(path) for path in rewrites.get(m.path, ()))
                rows.append(
                    (
                        cells.state(state),
                        cells.code(wording.name(m.path)),
                        cells.text(m.content),
                        cells.number(m.added_files_count),
                        cells.number(m.existing_files_count),
                        cells.number(m.deleted_files_count),
                        cells.size(m.size_bytes),
                        cells.text(f"REWRITES {taken}" if taken else None, "mute"),
                    )
                )
        names = ("!", "manifest", "content!", "added#", "existing#", "deleted#", "bytes#", "note")
        return (cells.prune(cells.grid(names, rows, how="diff.manifests", noun="manifest")),)

    return Fold("Manifests", answer, make)


def grid_json(changes: tuple[JsonChange, ...], how: str = "") -> Grid:
    """Places of a JSON document that differ, with the old and the new value."""
    rows = [
        (
            cells.code(c.path),
            Cell("absent", "mute") if c.kind == "added" else cells.json_value(c.before),
            Cell("absent", "mute") if c.kind == "removed" else cells.json_value(c.after),
        )
        for c in changes
    ]
    return cells.grid(("path", "before", "after"), rows, how=how, noun="place")


@describe.register
def describe_tree(tree: StorageTree, detail: int = 1) -> Card:
    """Every stored object with its role and who refers to it."""
    total = sum(f.size_bytes for f in tree.files)
    loose = [f for f in tree.files if not f.referenced_by]
    roles = Counter(f.role for f in tree.files)
    answer = ", ".join(
        f"{wording.count(number)} {wording.clean(role, 60)}" for role, number in roles.most_common(6)
    )
    more = f", {len(roles) - 6} more roles" if len(roles) > 6 else ""
    facts = (
        Fact("objects", cells.number(len(tree)), "the listing was cut" if tree.truncated else ""),
        Fact("bytes", cells.size(total)),
        Fact(
            "referred to by nothing found",
            cells.number(len(loose)),
            wording.size(sum(f.size_bytes for f in loose)),
        ),
    )
    return Card(
        "Storage tree",
        answer + more or "empty",
        wording.clean(tree.root),
        facts=facts,
        body=(_grid_tree(tree),),
    )


def _grid_tree(tree: StorageTree) -> Grid:
    """Directories as lines of their own, files indented below them."""
    most = display.max_rows * 3
    rows: list[tuple[Cell, ...]] = []
    above: tuple[str, ...] = ()
    shown = sorted(tree.files, key=lambda f: f.relative_path.split("/"))
    for f in shown[:most]:
        *folders, name = f.relative_path.split("/")
        same = 0
        while same < min(len(above), len(folders)) and above[same] == folders[same]:
            same += 1
        for depth in range(same, len(folders)):
            label = "  " * depth + wording.clean(folders[depth], 120) + "/"
            rows.append((Cell(label, "tree"), Cell(""), Cell(""), Cell("")))
        above = tuple(folders)
        size = cells.size(f.size_bytes)
        by = cells.text(", ".join(f.referenced_by) or "nothing found", "mute")
        rows.append(
            (Cell("  " * len(folders) + wording.clean(name, 120), "tree"), cells.text(f.role), size, by)
        )
    left = len(shown) - most
    note = f"… {wording.plural(left, 'more object')}: table.tree().files" if left > 0 else ""
    columns = (
        Column("object"),
        Column("role", is_short=True),
        Column("bytes", is_number=True),
        Column("referred to by"),
    )
    return Grid(columns, tuple(rows), note)


@describe.register
def describe_reads(reads: Reads, detail: int = 1) -> Card:
    """What was read so far; seconds are left out, so that the card is the same each time."""
    facts = (
        Fact("requests", cells.number(reads.requests)),
        Fact("files", cells.number(reads.files)),
        Fact("bytes", cells.size(reads.bytes)),
    )
    rows: list[Any] = [(cells.code(path),) for path in reads.paths]
    grid = cells.grid(("file",), rows, how=".paths", noun="file")
    fold = Fold("Files", wording.plural(len(rows), "file"), lambda: one(grid) if rows else ())
    return Card("Reads", "what lakelens asked the storage for so far", facts=facts, folds=(fold,))
