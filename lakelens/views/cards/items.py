"""Cards of what a table is made of: its lists, its documents and records, the rows of a query or of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from lakelens.errors import LakeError
from lakelens.model.collections import Document, Items, Preview, QueryResult, Rows
from lakelens.model.datafile import IndexFiles, StatisticsFiles
from lakelens.model.deletes import DanglingDeletes, DeleteMatches
from lakelens.model.facts.facts import Fact
from lakelens.model.finding import Finding
from lakelens.model.manifest import Entries, FieldSummaries, FieldSummary, ManifestLists, Manifests
from lakelens.model.schema import Fields, PartitionSpecs, Schema, Schemas, SortOrder, SortOrders
from lakelens.model.snapshot import LogEntry, Ref, Refs, SnapshotLog, Snapshots
from lakelens.model.storage import EncryptionKeys, MetadataLog, MetadataLogEntry, StoredFile
from lakelens.model.view import ViewLog, ViewVersions
from lakelens.model.warehouse.catalog import FoundViews
from lakelens.options import display
from lakelens.showing import ShownRows
from lakelens.views.card import cells, named, wording
from lakelens.views.card.glossary import find_meaning
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import About, Body, Card, Cell, Column, Grid, Note, Target
from lakelens.views.cards.delete import grid_dangling, grid_index_files, grid_matches, grid_statistics
from lakelens.views.cards.finding import name_place
from lakelens.views.cards.manifest import grid_entries, grid_lists, grid_manifests
from lakelens.views.cards.schema import grid_fields, grid_refs
from lakelens.views.cards.snapshot import grid_snapshots
from lakelens.views.describe import describe, fold_json

_ABOUT = ("common.items",)
_LISTED = ("file_set", "manifest", "index_file", "snapshot", "ref", "schema")
_HOW = ".to_pandas()"
_HOW_ALL = f"{_HOW}, .widget()"
_MOST_COLUMNS = 60
_MOST_TYPE = 48  # characters of a type above its column
# what a list is called, what one of it is called, and its grid where it has one of its own
_KINDS: dict[type[Items[Any]], tuple[str, tuple[str, str], Callable[..., Grid] | None]] = {
    Items: ("Items", ("item", "items"), None),
    Schemas: ("Schemas", ("schema", "schemas"), None),
    Fields: ("Columns", ("column", "columns"), grid_fields),
    PartitionSpecs: ("Partition specs", ("partition spec", "partition specs"), None),
    SortOrders: ("Sort orders", ("sort order", "sort orders"), None),
    ManifestLists: ("Manifest lists", ("manifest list", "manifest lists"), grid_lists),
    Manifests: ("Manifests", ("manifest", "manifests"), grid_manifests),
    Entries: ("Entries", ("entry", "entries"), grid_entries),
    FieldSummaries: ("Partition summary", ("partition field", "partition fields"), None),
    IndexFiles: ("Index files", ("index file", "index files"), grid_index_files),
    StatisticsFiles: ("Statistics", ("statistics file", "statistics files"), grid_statistics),
    DeleteMatches: ("Deletes", ("delete", "deletes"), grid_matches),
    DanglingDeletes: ("Dangling deletes", ("dangling delete", "dangling deletes"), grid_dangling),
    EncryptionKeys: ("Encryption keys", ("key", "keys"), None),
    FoundViews: ("Views", ("view", "views"), None),
    ViewVersions: ("Versions", ("version", "versions"), None),
    ViewLog: ("Version log", ("change", "changes"), None),
    MetadataLog: (
        "Metadata log",
        ("earlier version", "earlier versions"),
        lambda some, how="": _grid_metadata_log(some, how),
    ),
    SnapshotLog: ("Snapshot log", ("entry", "entries"), None),
    Snapshots: ("Snapshots", ("snapshot", "snapshots"), lambda some, how="": grid_snapshots(some[::-1], how)),
    Refs: ("Refs", ("ref", "refs"), lambda some, how="": grid_refs(some)),
}
# where the keys of a document are explained; the keys of the others are a lake's own
_SECTIONS = {
    "data file": ("data_file",),
    "entry": ("entry", "data_file"),
    "header": ("manifest_header", "manifest_list"),
    "index file": ("index_file", "statistics"),
    "manifest list": ("manifest_list",),
    "metadata": ("table_metadata",),
    "partitioning": ("partitioning", "partition_field"),
    "ref": ("ref", "snapshot"),
    "schema": ("schema",),
    "snapshot": ("snapshot",),
    "statistics": ("statistics", "puffin"),
    "summary": ("summary", "snapshot", "listing"),
}


@describe.register
def card_of_items(items: Items, detail: int = 1) -> Card:  # type: ignore[type-arg]
    """A list: how many there are, and the first of them."""
    title, (noun, nouns), grid = _find_kind(items)
    if not len(items):
        return Card(title, "none")
    shown = _grid_facts(items, (noun, nouns)) if grid is None else grid(items, how=_HOW_ALL)
    return Card(title, wording.plural(len(items), noun, nouns), body=(shown,), about=about_items(items))


def _find_kind(items: Items[Any]) -> tuple[str, tuple[str, str], Callable[..., Grid] | None]:
    return next(_KINDS[kind] for kind in type(items).__mro__ if kind in _KINDS)


def name_items(items: Items[Any]) -> tuple[str, str, str]:
    """Name what a list is called, what one of it is called, and several.

    >>> name_items(Schemas()), name_items(type("TriedRules", (Items,), {})())
    (('Schemas', 'schema', 'schemas'), ('Tried rules', 'item', 'items'))
    """
    title, nouns, _ = _find_kind(items)
    if title == "Items":
        title = re.sub(r"(?<!^)([A-Z])", lambda found: f" {found[1].lower()}", type(items).__name__)
    return title, *nouns


def grid_some(items: Items[Any], some: Sequence[Any]) -> Grid:
    """Some of a list's items, in their order, as its card shows them."""
    _, nouns, grid = _find_kind(items)
    return _grid_facts(items, nouns, some) if grid is None else grid(some, how="")


def about_items(items: Items[Any]) -> About:
    """Say where the labels of a list are explained: first in the section of the lists of its answer, where there is one."""
    home = type(items).__module__.split(".")
    own = (f"common.{home[2]}_items",) if home[:2] == ["lakelens", "analysis"] else ()
    return (*own, *list_sections(items[0], *_LISTED), *_ABOUT) if len(items) else _ABOUT


def _grid_facts(items: Items[Any], nouns: tuple[str, str], some: Sequence[Any] | None = None) -> Grid:
    """One line for each item, or for some of them, one column for each of its facts."""
    shown = items if some is None else some
    rows = [[_show_fact(item, fact) for fact in items.facts] for item in islice(shown, display.max_rows)]
    names = [fact.name.replace("_", " ") + ("#" if fact.kind == "int64" else "") for fact in items.facts]
    return cells.prune(cells.grid(names, rows, how=_HOW_ALL, noun=nouns, total=len(shown), about=_ABOUT))


def _grid_metadata_log(entries: Sequence[MetadataLogEntry], how: str) -> Grid:
    """One line for each earlier version: when it was replaced, and its file; the recorded path where its name differs."""
    shown = list(islice(entries, display.max_rows))
    rows = [
        (
            cells.moment(entry.timestamp),
            named.place("metadata", entry.path),
            Cell("", "mute")
            if entry.recorded_path.rpartition("/")[2] == entry.path.rpartition("/")[2]
            else cells.code(entry.recorded_path),
        )
        for entry in shown
    ]
    columns = ("timestamp", "path", "recorded path")
    return cells.prune(cells.grid(columns, rows, how=how, noun="version", total=len(entries), about=_ABOUT))


def _show_fact(item: Any, fact: Fact) -> Cell:
    held = fact.read(item)
    if fact.kind == "time":
        return cells.moment(held)
    if fact.kind == "bool":
        return cells.optional(None if held is None else "yes" if held else "no")
    if fact.kind == "strings":
        if not held:
            return Cell("none", "mute")
        more = f", … {wording.count(len(held) - 20)} more" if len(held) > 20 else ""
        return cells.code(", ".join(wording.clean(text, 60) for text in held[:20]) + more)
    cell = cells.value(held) if fact.kind == "text" else cells.code(held)
    return cell if held is None else named.lead(cell, _find_target(item, fact.name, str(held)))


def _find_target(item: Any, name: str, held: str) -> Target | None:
    """Find what a fact of a list names: a snapshot, a schema, a document."""
    if name in ("snapshot_id", "parent_id") and not isinstance(item, Ref):
        return Target("snapshot", held)
    if isinstance(item, Schema) and name == "id":
        return Target("schema", held)
    if name != "path":
        return None
    if isinstance(item, StoredFile):
        return named.target_of_stored(item)
    if isinstance(item, Finding):
        return name_place(item, held).target
    return Target("metadata", item.path) if isinstance(item, MetadataLogEntry) else None


@describe.register
def card_of_item(item: SortOrder | MetadataLogEntry | LogEntry | FieldSummary, detail: int = 1) -> Card:
    """One item of a list that has no card of its own: its facts, one a line."""
    kinds: dict[type, type[Items[Any]]] = {
        SortOrder: SortOrders,
        MetadataLogEntry: MetadataLog,
        LogEntry: SnapshotLog,
    }
    facts = kinds.get(type(item), FieldSummaries).facts
    pairs = [(fact.name.replace("_", " "), _show_fact(item, fact)) for fact in facts]
    return Card(type(item).__name__, wording.clean(repr(item)), body=(cells.pairs(pairs, _ABOUT),))


@describe.register
def card_of_document(document: Document, detail: int = 1) -> Card:
    """A stored document or record key by key under its specified names; whole where it is opened."""
    sections = _SECTIONS.get(document.noun)
    about = list_sections(document, *sections) if sections else ()
    body: list[Body] = []
    if document:
        known = sections is not None
        body += cells.fields(document, about, how=_HOW) if known else [cells.mapping(document, how=_HOW)]
    folds = []
    if document and detail >= 2:
        folds.append(fold_json(document, ".raw or .metadata"))
    sentence = f"{wording.plural(len(document), 'key')}, as stored"
    return Card(document.noun.capitalize(), sentence, body=tuple(body), folds=tuple(folds), about=about)


@describe.register
def card_of_result(result: QueryResult, detail: int = 1) -> Card:
    """The first rows of a query."""
    sentence = _format_shape(result)
    if result.is_cut:
        sentence = f"the first {sentence}"
    elif not result.statement:
        sentence += f" from {', '.join(result.views) or 'no view'}"
    title = wording.name_statement(result.statement) or "Query"
    return Card(title, sentence, body=(grid_rows(result), *_hint_columns(result)) if len(result) else ())


@describe.register
def card_of_preview(preview: Preview, detail: int = 1) -> Card:
    """The first rows of a file under its columns and their types; those that are deleted are marked."""
    sentence, notes = _format_shape(preview), _hint_columns(preview)
    try:
        deleted = preview.deleted_positions
    except LakeError as error:
        deleted = ()
        notes.append(Note(f"which rows are deleted cannot be read: {wording.clean(error)}", "warn"))
    if deleted is None:
        notes.append(cells.hint("which of them are deleted, is read by", "file.deleted_positions"))
    if deleted:
        sentence += f"; {wording.count(len(deleted))} of them deleted"
    grid = grid_rows(preview)
    types = preview.to_arrow().schema.types
    columns = [
        replace(column, kind=_format_type(kind)) for column, kind in zip(grid.columns, types, strict=False)
    ]
    rows = grid.rows
    if deleted:
        title = find_meaning("pos", _ABOUT)
        columns = [Column("pos", is_number=True, title=title), Column("state", is_short=True), *columns]
        mark = {row: Cell("deleted", "del") for row in deleted}
        rows = tuple(
            (cells.optional(place), mark.get(place, Cell("")), *row) for place, row in enumerate(rows)
        )
    shown = replace(grid, columns=tuple(columns), rows=rows)
    return Card("Preview", sentence, body=(shown, *notes) if columns else tuple(notes))


def grid_rows(rows: Rows) -> Grid:
    """Show the first rows under their columns, whose names are a lake's own or the query's."""
    from pyarrow import types

    shown = [tuple(map(_show_value, row[:_MOST_COLUMNS])) for row in rows.rows(display.max_rows)]
    columns = []
    for field in list(rows.to_arrow().schema)[:_MOST_COLUMNS]:
        kind = field.type
        is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
        columns.append(Column(wording.clean(field.name, 80), is_number=is_number))
    return cells.grid(columns, shown, how=_HOW_ALL, total=len(rows), is_open=True)


def _format_shape(rows: Rows) -> str:
    return f"{wording.plural(len(rows), 'row')}, {wording.plural(rows.to_arrow().num_columns, 'column')}"


def _hint_columns(rows: Rows) -> list[Body]:
    left = rows.to_arrow().num_columns - _MOST_COLUMNS
    words = f"… {wording.count(left)} more columns"
    return [cells.hint(words, _HOW, words=words)] if left > 0 else []


def _format_type(kind: Any) -> str:
    """The type of a column as Arrow words it; of one with fields inside, whose names are a lake's own, the outer word."""
    outer, inside, _ = str(kind).partition("<")
    return wording.clean(f"{outer}<…>" if inside else outer, _MOST_TYPE)


def _show_value(held: object) -> Cell:
    """Show a value of a row, as SQL calls it where there is none."""
    return cells.NULL if held is None else cells.value(held, "NULL")


@describe.register
def card_of_shown_rows(shown: ShownRows, detail: int = 1) -> Card:
    """Show the rows, texts as they are."""
    names = shown.columns[:_MOST_COLUMNS]
    columns = []
    for name in names:
        values = [row[name] for row in shown.rows if row.get(name) is not None]
        are_numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        columns.append(Column(wording.clean(name, 80), is_number=bool(values) and are_numbers))
    rows = [[_show_brought(row.get(name, "")) for name in names] for row in shown.rows]
    grid = cells.grid(columns, rows, is_open=True, noun="row")
    left = len(shown.columns) - len(names)
    sentence = wording.count(len(shown)) + (f"; {wording.count(left)} more columns" if left else "")
    return Card("Rows", sentence, body=(grid,) if rows else ())


def _show_brought(held: Any) -> Cell:
    """Show a value: a text as it is, bytes in hexadecimal, anything else as it is formatted elsewhere."""
    if held is None:
        return cells.NULL
    if isinstance(held, str):
        return cells.text(held)
    if isinstance(held, bytes | bytearray | memoryview):
        return Cell(wording.clean(bytes(held).hex(" ")), "exact")
    if isinstance(held, bool):
        return cells.text(held)
    return cells.value(held) if isinstance(held, int | float | dict | list | tuple) else cells.text(held)
