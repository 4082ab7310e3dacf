"""Cards of a schema with its evolution, and of a partitioning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Context
from itertools import islice
from typing import Any

from lakelens.errors import LakeError
from lakelens.model.schema import Field, PartitionField, PartitionSpec, Schema
from lakelens.model.snapshot import Ref, Refs
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Fact, Fold, Grid, Target
from lakelens.views.describe import describe, fold_document, fold_json, one


@describe.register
def card_of_schema(schema: Schema, detail: int = 1) -> Card:
    """The columns with their ids, and what happened to them up to this schema."""
    columns = Fold(
        "Columns",
        format_evolution(schema) or _format_required(schema),
        lambda: one(grid_schema(schema)),
        True,
    )
    folds = [columns]
    about = list_sections(schema, "schema")
    raw = schema.raw
    if isinstance(raw, dict):
        folds += fold_document(raw, detail)
    elif raw is not None and detail >= 2:
        folds.append(fold_json(raw))
    noun = "Schema" if schema.id is None else f"Schema {schema.id}"
    return Card(noun, format_schema(schema), folds=tuple(folds), about=about)


def format_schema(schema: Schema) -> str:
    """Say how many columns, and which of them are the key."""
    names = schema.identifier_names
    key = f", key ({', '.join(wording.clean(name, 60) for name in names[:6])})" if names else ""
    return f"{wording.plural(len(schema), 'column')}{key}"


@describe.register
def card_of_field(field: Field, detail: int = 1) -> Card:
    """One column with the fields inside it."""
    grid = _grid_parts(list(_walk_field(field)), how=".type.children", noun="field")
    required = "" if field.nullable else ", not null"
    sentence = f"{wording.clean(field.type, 200)}{required}, id {field.id}"
    return Card(wording.clean(field.name, 120), sentence, body=(grid,), about=list_sections(field, "schema"))


def grid_fields(fields: Sequence[Field], how: str = "") -> Grid:
    """Columns, one a row, without the fields inside of them, which are in their cards."""
    shown = [(field.name, field) for field in islice(fields, display.max_rows)]
    return _grid_parts(shown, how=how, noun="column", total=len(fields))


def _grid_parts(parts: Sequence[tuple[str, Field]], *, how: str, noun: str, total: int | None = None) -> Grid:
    rows = [
        (
            cells.code(found.id),
            cells.code(name),
            cells.code(found.type),
            cells.text("may be null" if found.nullable else "not null"),
            cells.text(found.doc or ""),
            cells.value(found.initial_default),
            cells.value(found.write_default),
        )
        for name, found in parts
    ]
    names = ("id#", "column", "type", "null!", "doc", "initial default", "write default")
    return cells.prune(cells.grid(names, rows, how=how, noun=noun, total=total, about=("common.field",)))


def _walk_field(field: Field, prefix: str = "") -> Iterator[tuple[str, Field]]:
    yield f"{prefix}{field.name}", field
    for child in field.type.children:
        yield from _walk_field(child, f"{prefix}{field.name}.")


def _format_required(schema: Schema) -> str:
    required = [name for name, field in schema.walk() if not field.nullable]
    if not required:
        return "every one may be null"
    more = f" and {wording.count(len(required) - 5)} more" if len(required) > 5 else ""
    return f"required: {', '.join(wording.clean(name, 40) for name in required[:5])}{more}"


def format_spec(spec: PartitionSpec) -> str:
    """By what rows are divided."""
    if not len(spec):
        return "not partitioned"
    more = f" and {len(spec) - 6} more" if len(spec) > 6 else ""
    return f"by {', '.join(wording.clean(str(field), 60) for field in spec.fields[:6])}{more}"


@describe.register
def card_of_spec(spec: PartitionSpec, detail: int = 1) -> Card:
    """How rows were divided."""
    rows = [
        cells.codes(field.field_id, field.name, field.transform, field.source_name, field.result_type)
        for field in spec
    ]
    names = ("id#", "field", "transform", "column", "type")
    body: tuple[Body, ...] = (cells.prune(cells.grid(names, rows, how="spec.fields", noun="field")),)
    noun = "Partitioning" if spec.id is None else f"Partition spec {spec.id}"
    about = list_sections(spec, "partitioning", "partition_field")
    return Card(noun, format_spec(spec), body=body if rows else (), about=about)


@describe.register
def card_of_partition_field(field: PartitionField, detail: int = 1) -> Card:
    """One part of a partitioning."""
    items = [
        ("field", cells.code(field.name)),
        ("transform", cells.code(field.transform)),
        ("column", cells.code(field.source_name)),
        ("type", cells.code(field.result_type)),
    ]
    about = list_sections(field, "partitioning", "partition_field")
    return Card("Partition field", wording.clean(str(field), 200), body=(cells.pairs(items),), about=about)


# more schemas than this are not read for a card's history
_MOST_SCHEMAS = 50


# id, name, type, what happened
Dropped = tuple[int, str, str, str]


def grid_schema(schema: Schema) -> Grid:
    """The columns of one schema with their history up to it; those that were dropped before come last, muted."""
    history, dropped = trace_columns(schema, _list_versions(schema))
    more = named.page("schema", id=schema.id, part="columns")
    return _make_grid(schema, {}, history, dropped, "schema.fields", more)


def grid_columns(table: Table) -> Grid:
    """The columns of a table with what partitioning makes of them and their history; dropped ones come last, muted."""
    schema = table.schema
    history, dropped = trace_columns(schema, _list_versions(schema))
    more = named.page("schema", id=schema.id, part="columns")
    # what partitioning makes of each source column, in the specification's words
    uses: dict[str, list[str]] = {}
    for field in table.partitioning:
        word = "partition" if field.transform == "identity" else wording.clean(field.transform, 40)
        uses.setdefault(field.source_name, []).append(word)
    return _make_grid(
        schema,
        {name: ", ".join(words) for name, words in uses.items()},
        history,
        dropped,
        "table.schema.fields",
        more,
    )


def format_evolution(schema: Schema) -> str:
    """Say what happened to the columns, in a line; empty when nothing did."""
    history, dropped = trace_columns(schema, _list_versions(schema))
    names = {field.id: name for name, field in schema.walk()}
    words = [f"{wording.clean(names[key], 40)} {change}" for key, change in history.items() if key in names]
    words += [f"{wording.clean(name, 40)} {change}" for _, name, _, change in dropped]
    more = f"; {wording.count(len(words) - 3)} more" if len(words) > 3 else ""
    return "; ".join(words[:3]) + more


def _list_versions(schema: Schema) -> Sequence[Schema]:
    """List the schemas up to this one; this one alone where there are too many to read, or they cannot be read."""
    number = schema.id
    if number is None or number >= _MOST_SCHEMAS:
        return (schema,)
    try:
        return [
            version for version in schema.versions if version.id is not None and version.id <= number
        ] or (schema,)
    except LakeError:
        return (schema,)


def _make_grid(
    schema: Schema,
    uses: Mapping[str, str],
    history: Mapping[int, str],
    dropped: Sequence[Dropped],
    how: str,
    target: Target,
) -> Grid:
    rows: list[tuple[Cell, ...]] = []
    for name, field in schema.walk():
        roles = [
            *(["key"] if name in schema.identifier_names else []),
            *([] if field.nullable else ["required"]),
            *([uses[name]] if name in uses else []),
        ]
        default = field.write_default if field.write_default is not None else field.initial_default
        rows.append(
            (
                *cells.codes(field.id, name, field.type),
                cells.text(", ".join(roles)),
                cells.text(history.get(field.id, ""), "mute"),
                cells.value(default),
                cells.text(field.doc or ""),
            )
        )
    for number, name, kind, words in dropped:
        shown = (number, name, kind, "", words, "", "")
        rows.append(tuple(cells.text(text, "mute") for text in shown))
    names = ("id#", "column", "type", "role", "history", "default", "comment")
    about = ("common.schema",)
    return cells.prune(cells.grid(names, rows, how=how, noun="column", about=about, target=target))


def trace_columns(today: Schema, schemas: Sequence[Schema]) -> tuple[dict[int, str], list[Dropped]]:
    """Trace what happened to each column by field id, and the columns dropped since (id, name, type, words)."""
    ordered = sorted((s for s in schemas if s.id is not None), key=lambda s: s.id or 0)
    words: dict[int, list[str]] = {}
    last: dict[int, tuple[str, str, int]] = {}
    present = {field.id for _, field in today.walk()}
    for position, schema in enumerate(ordered):
        for name, field in schema.walk():
            number = schema.id or 0
            kind = wording.clean(str(field.type), 40)
            if field.id not in last:
                if position:
                    words.setdefault(field.id, []).append(f"added in schema {number}")
            else:
                old_name, old_kind, _ = last[field.id]
                if old_name.rsplit(".", 1)[-1] != field.name:
                    change = f"was {wording.clean(old_name, 40)} until schema {number}"
                    words.setdefault(field.id, []).append(change)
                if old_kind != kind and not field.type.is_nested:
                    words.setdefault(field.id, []).append(f"{old_kind} until schema {number}")
            last[field.id] = (name, kind, number)
    numbers = [schema.id or 0 for schema in ordered]
    dropped = []
    for key, (name, kind, number) in last.items():
        if key not in present:
            later = next((n for n in numbers if n > number), number)
            dropped.append((key, name, kind, f"dropped in schema {later}"))
    return {key: ", ".join(change) for key, change in words.items()}, dropped


# Cards of branches and tags.

_DAY = 86_400_000
_WIDE = Context(prec=28)  # not the context of the thread, which is the reader's


def format_refs(refs: Refs) -> str:
    """Say which branches and tags there are; where they point when there is only one."""
    if len(refs) == 1:
        return f"{refs[0].type} {wording.clean(refs[0].name, 60)} at {refs[0].snapshot_id}"
    return "; ".join(filter(None, (_list_names("branch", refs.branches), _list_names("tag", refs.tags))))


def _list_names(kind: str, refs: Sequence[Ref]) -> str:
    if not refs:
        return ""
    names = ", ".join(wording.clean(ref.name, 60) for ref in refs[:4])
    more = f" and {wording.count(len(refs) - 4)} more" if len(refs) > 4 else ""
    several = "branches" if kind == "branch" else "tags"
    return f"{kind if len(refs) == 1 else several} {names}{more}"


def grid_refs(refs: Refs, table: Table | None = None) -> Grid:
    """Branches and tags, with the snapshot of each where the table is at hand."""
    rows = [
        (
            cells.code(ref.name) if ref.snapshot_id is None else named.ref(ref.name),
            cells.text(ref.type),
            _name_snapshot(ref),
            *_target_row(ref, table),
            cells.moment(ref.created_at) if ref.created_at else cells.ABSENT,
            _format_age(ref.max_ref_age_ms),
            _format_keeping(ref),
        )
        for ref in islice(refs, display.max_rows)
    ]
    names = ("ref", "kind!", "snapshot", "rows#", "committed, UTC!", "made!", "kept for", "snapshots kept")
    about = ("common.ref",)
    return cells.prune(
        cells.grid(
            names,
            rows,
            how="table.refs.to_pandas()",
            noun="ref",
            total=len(refs),
            about=about,
            target=named.page("refs"),
        )
    )


def _name_snapshot(ref: Ref) -> Cell:
    """Its snapshot; where each branch is a directory of its own, the same id is another snapshot in another branch."""
    cell = cells.code(ref.snapshot_id)
    if ref.snapshot_id is None:
        return cell
    is_apart = ref.type == "branch" and ref.path is not None
    return named.lead(cell, Target("ref", ref.name)) if is_apart else named.snapshot(ref.snapshot_id)


def _target_row(ref: Ref, table: Table | None) -> tuple[Cell, Cell]:
    if table is None:
        return cells.ABSENT, cells.ABSENT
    try:
        found = table.snapshot(ref.name)
    except LakeError:
        return cells.ABSENT, Cell("not there", "warn")
    return cells.optional_number(found.record_count), cells.moment(found.committed_at)


def _format_age(milliseconds: int | None) -> Cell:
    if milliseconds is None:
        return cells.ABSENT
    return Cell(_format_days(milliseconds), title=wording.clean(f"{milliseconds:,} ms"))


def _format_days(milliseconds: int) -> str:
    """Days with four digits; a tag may say any number."""
    return f"{_WIDE.divide(milliseconds, _DAY):,.4g} days"


def _format_keeping(ref: Ref) -> Cell:
    words = []
    if ref.min_snapshots_to_keep is not None:
        words.append(f"at least {wording.count(ref.min_snapshots_to_keep)}")
    if ref.max_snapshot_age_ms is not None:
        words.append(_format_days(ref.max_snapshot_age_ms))
    return Cell(", ".join(words)) if words else cells.ABSENT


@describe.register
def card_of_refs(refs: Refs, detail: int = 1) -> Card:
    """Branches and tags."""
    branches, tags = len(refs.branches), len(refs.tags)
    sentence = f"{wording.plural(branches, 'branch', 'branches')}, {wording.plural(tags, 'tag')}"
    body = (grid_refs(refs),) if len(refs) else ()
    return Card("Refs", sentence if len(refs) else "none", body=body, about=list_sections(refs, "ref"))


@describe.register
def card_of_ref(ref: Ref, detail: int = 1) -> Card:
    """One name for a snapshot."""
    facts = [Fact("kind", Cell(ref.type)), Fact("snapshot", _name_snapshot(ref))]
    for label, cell in (
        ("kept for", _format_age(ref.max_ref_age_ms)),
        ("snapshots kept", _format_keeping(ref)),
    ):
        if cell is not cells.ABSENT:
            facts.append(Fact(label, cell))
    if ref.created_at is not None:
        facts.append(Fact("made", cells.moment(ref.created_at)))
    raw: Any = ref.raw
    about = list_sections(ref, "ref", "snapshot")
    folds = []
    if isinstance(raw, dict) and raw:
        folds.append(Fold("Document", "as stored, key by key", lambda: cells.fields(raw, how=".raw")))
    place = wording.clean(ref.path or "")
    sentence = f"{ref.type} at snapshot {ref.snapshot_id}"
    return Card(
        wording.clean(ref.name),
        sentence,
        place,
        facts=tuple(facts),
        folds=tuple(folds),
        about=about,
        linked=named.sentence(f"{ref.type} at snapshot ", _name_snapshot(ref))
        if ref.snapshot_id is not None
        else (),
        target=Target("bytes", ref.path) if ref.path else None,
    )
