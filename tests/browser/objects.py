"""The objects whose cards are looked at in a browser, from the samples of all three formats."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

import lakelens as ll


@cache
def list_objects() -> dict[str, Any]:
    """Name to object."""
    return dict([*_walk(), *_walk_diffs(), ("find", _find())])


_DIFF = ("added", "removed", "kept", "manifests", "metadata", "by_partition", "schema", "summary", "deletes")


def _walk_diffs() -> Iterator[tuple[str, Any]]:
    """The parts of a diff, each a card of its own, and the bounds of a file."""
    for name in ("iceberg", "iceberg-evolution", "paimon"):
        table = ll.sample(name)
        diff = table.diff(table.snapshots[0], table.snapshots[-1])
        yield f"{name} whole diff", diff
        for part in _DIFF:
            yield f"{name} diff.{part}", getattr(diff, part)
        bounds = next(iter(table.files)).bounds
        yield f"{name} bounds", bounds
        yield f"{name} bound", bounds[next(iter(bounds))]
    documents = [{"schema": {"fields": [1, 2], "name": None}}, {"schema": {"fields": [2]}, "id": 2**60}]
    yield "JSON diff", ll.diff_json(*documents)


def _find() -> Any:
    """Tables of all formats in one folder, beside one whose metadata is cut short and one that is no table."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ("iceberg", "paimon", "hive"):
            shutil.copytree(ll.sample(name).location, root / "warehouse" / "shop.db" / name)
        (root / "notes").mkdir()
        (root / "notes" / "todo.txt").write_text("nothing of a table")
        (root / "cut" / "metadata").mkdir(parents=True)
        (root / "cut" / "metadata" / "v1.metadata.json").write_text('{"format-version": 2')
        found = ll.find(root)
        assert len(found) == 4
        found._repr_html_()  # what it knows of each table it reads now, while they are there
        return found


def _walk() -> Iterator[tuple[str, Any]]:
    for name in ("iceberg", "iceberg-evolution", "paimon", "paimon-branches", "hive"):
        table = ll.sample(name)
        yield name, table
        yield f"{name} schema", table.schema
        yield f"{name} files", table.files
        yield f"{name} file", next(iter(table.files))
        yield f"{name} tree", table.tree()
        yield f"{name} findings", table.findings
        asked = ll.sample(name)  # of its own: what answers read, other cards would show
        yield f"{name} check", asked.check()
        yield f"{name} space", asked.space()
        yield f"{name} health", asked.health()
        column = next(leaf for leaf, _ in asked.schema.leaves())
        yield f"{name} explain", asked.explain(f"{column} IS NOT NULL", row_groups=True)
        yield f"{name} row", asked.row(f"{column} IS NOT NULL")
        yield f"{name} biography", asked.biography(next(iter(asked.files)))
        yield from _walk_values(name, ll.sample(name))
        if name in ("iceberg", "paimon"):
            yield f"{name} plot", table.plot()
            yield f"{name} plot of files", table.files.plot()
        if name.startswith("iceberg"):
            yield f"{name} expire", asked.dry_run("expire_snapshots", older_than="2100-01-01", retain_last=2)
            yield f"{name} rewrite", asked.dry_run("rewrite_data_files", rewrite_all=True)
        if name.startswith("paimon"):
            yield f"{name} expire", asked.dry_run("expire_snapshots", older_than="2100-01-01")
            yield f"{name} compact", asked.dry_run("compact")
            yield (
                f"{name} rollback",
                asked.dry_run("rollback", version=str(asked.snapshots[0].id), engine="0.9"),
            )
        if not len(table.snapshots):
            continue
        snapshot = table.current
        assert snapshot is not None
        yield f"{name} snapshots", table.snapshots
        yield f"{name} snapshot", snapshot
        yield f"{name} refs", table.refs
        yield f"{name} diff", snapshot.changes
        manifest_list = snapshot.manifest_lists[-1]
        yield f"{name} manifest list", manifest_list
        manifest = manifest_list.manifests[0]
        yield f"{name} manifest", manifest
        yield f"{name} entry", manifest.entries[0]
        yield from ((f"{name} index", index) for index in snapshot.index_files[:1])


def _walk_values(name: str, table: Any) -> Iterator[tuple[str, Any]]:
    """What the attributes of a table's files are, and the columns of its schema."""
    files = [file for file in table.files if file.content == "data"]
    file = next((one for one in files if one.deletes), files[0])
    yield f"{name} columns", table.schema.fields
    if len(table.schema.fields) < 8:  # rows of more columns scroll inside of their card
        yield f"{name} preview", file.preview()
    yield f"{name} positions", file.deleted_positions
    if name.startswith("iceberg"):
        yield f"{name} sizes", file.column_sizes
        yield f"{name} nulls", file.null_value_counts
    if name.startswith("paimon"):
        yield f"{name} key", file.min_key


def make_cells(objects: dict[str, Any]) -> list[Any]:
    """A cell for each object, whose output is its card as a kernel would send it."""
    return [
        nbformat.v4.new_code_cell(
            f"# {name}",
            outputs=[
                nbformat.v4.new_output(
                    "display_data", {"text/html": thing._repr_html_(), "text/plain": repr(thing)}
                )
            ],
        )
        for name, thing in objects.items()
    ]
