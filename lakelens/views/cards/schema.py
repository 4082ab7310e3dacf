"""Cards of a schema with its evolution, and of a partitioning."""

from __future__ import annotations

from lakelens.model.schema import PartitionField, PartitionSpec, Schema
from lakelens.views.card import cells, wording
from lakelens.views.card.meanings import tell_about
from lakelens.views.card.model import Body, Card, Fold
from lakelens.views.cards.schema_grid import grid_schema, word_evolution
from lakelens.views.describe import describe, one


@describe.register
def describe_schema(schema: Schema, detail: int = 1) -> Card:
    """The columns with their ids, and what happened to them up to this schema."""
    columns = Fold(
        "Columns", word_evolution(schema) or _word_required(schema), lambda: one(grid_schema(schema)), True
    )
    folds = [columns]
    about = tell_about(schema, "schema")
    raw = schema.raw
    if isinstance(raw, dict):
        answer = f"{wording.plural(len(raw), 'key')}, as stored"
        folds.append(Fold("Document", answer, lambda: cells.fields(raw, how=".raw")))
    if raw is not None and detail >= 2:
        make = lambda: one(cells.document(raw, how=".raw"))  # noqa: E731 - made when it is opened
        folds.append(Fold("JSON", "as it was told, whole", make, level=3))
    noun = "Schema" if schema.id is None else f"Schema {schema.id}"
    return Card(noun, word_schema(schema), folds=tuple(folds), about=about)


def word_schema(schema: Schema) -> str:
    """How many columns, and which of them are the key."""
    names = schema.identifier_names
    key = f", key ({', '.join(wording.clean(name, 60) for name in names[:6])})" if names else ""
    return f"{wording.plural(len(schema), 'column')}{key}"


def _word_required(schema: Schema) -> str:
    required = [name for name, field in schema.walk() if not field.nullable]
    if not required:
        return "every one may be null"
    more = f" and {wording.count(len(required) - 5)} more" if len(required) > 5 else ""
    return f"required: {', '.join(wording.clean(name, 40) for name in required[:5])}{more}"


def word_spec(spec: PartitionSpec) -> str:
    """By what rows are divided."""
    if not len(spec):
        return "not partitioned"
    more = f" and {len(spec) - 6} more" if len(spec) > 6 else ""
    return f"by {', '.join(wording.clean(str(field), 60) for field in spec.fields[:6])}{more}"


@describe.register
def describe_spec(spec: PartitionSpec, detail: int = 1) -> Card:
    """How rows were divided."""
    rows = [
        (
            cells.code(field.field_id),
            cells.code(field.name),
            cells.code(field.transform),
            cells.code(field.source_name),
            cells.code(field.result_type),
        )
        for field in spec
    ]
    names = ("id#", "field", "transform", "column", "type")
    body: tuple[Body, ...] = (cells.prune(cells.grid(names, rows, how="spec.fields", noun="field")),)
    noun = "Partitioning" if spec.id is None else f"Partition spec {spec.id}"
    about = tell_about(spec, "partitioning", "partition_field")
    return Card(noun, word_spec(spec), body=body if rows else (), about=about)


@describe.register
def describe_partition_field(field: PartitionField, detail: int = 1) -> Card:
    """One part of a partitioning."""
    items = [
        ("field", cells.code(field.name)),
        ("transform", cells.code(field.transform)),
        ("column", cells.code(field.source_name)),
        ("type", cells.code(field.result_type)),
    ]
    about = tell_about(field, "partitioning", "partition_field")
    return Card("Partition field", wording.clean(str(field), 200), body=(cells.pairs(items),), about=about)
