"""Cards of a table, its schema, partitioning, refs, properties, evidence, findings, and of a listing of tables.

The card of a table reads no manifest: what it says of files comes from the snapshot's own figures.
"""

from __future__ import annotations

from typing import Any

from lakelens.errors import LakeError
from lakelens.model.finding import Finding, Findings
from lakelens.model.schema import PartitionSpec, Schema
from lakelens.model.snapshot import Ref, Refs
from lakelens.model.table import Evidence, Relocation, Table
from lakelens.views import cells, wording
from lakelens.views.card import Card, Cell, Fold
from lakelens.views.present import describe, one
from lakelens.views.schema_grid import grid_columns, grid_fields
from lakelens.views.snapshot_cards import grid_snapshots, summarise, word_snapshots

_FORMAT_NAMES = {"hive": "Apache Hive", "iceberg": "Apache Iceberg", "paimon": "Apache Paimon"}


@describe.register
def describe_table(table: Table, detail: int = 1) -> Card:
    """What it is, where, why lakelens thinks so, and its state."""
    folds = [
        Fold(f"Why {table.format.title()}", _word_evidence(table.evidence), lambda: _list_evidence(table)),
        _fold_schema(table),
        Fold("Partitioning", _word_spec(table.partitioning), lambda: _list_specs(table)),
    ]
    if len(table.snapshots):
        folds.append(
            Fold("Changes", word_snapshots(table.snapshots), lambda: one(grid_snapshots(table.snapshots, 5)))
        )
    if len(table.refs):
        folds.append(Fold("Refs", _word_refs(table.refs), lambda: one(_list_refs(table.refs))))
    if table.properties:
        answer = wording.some(table.properties)
        make = lambda: one(cells.mapping(table.properties, how="table.properties"))  # noqa: E731
        folds.append(Fold("Properties", answer, make))
    if table.catalog:
        folds.append(
            Fold("Catalog", "what the catalog or metastore says", lambda: one(cells.document(table.catalog)))
        )
    if _is_moved(table.relocation):
        folds.append(
            Fold("Moved", _word_relocation(table.relocation), lambda: _list_relocation(table.relocation))
        )
    folds.append(Fold("Findings", _word_findings(table.findings), lambda: _list_findings(table.findings)))
    return Card(
        wording.clean(table.name),
        _word_table(table),
        wording.clean(table.location),
        _word_alert(table.findings),
        summarise(table),
        folds=tuple(folds),
    )


def _word_table(table: Table) -> str:
    name = _FORMAT_NAMES.get(table.format, wording.clean(table.format))
    if table.format == "paimon":
        return (
            f"{name} table {'with primary key' if table.schema.identifier_names else 'without primary key'}"
        )
    version = f", format version {table.format_version}" if table.format_version is not None else ""
    return f"{name} table{version}"


def _fold_schema(table: Table) -> Fold:
    try:
        schema = table.schema
        rows = grid_columns(table)
    except LakeError as error:
        return Fold("Schema", wording.clean(str(error)))
    return Fold("Schema", _word_schema(schema), lambda: one(rows), opened=True)


def _word_schema(schema: Schema) -> str:
    number = f", schema {schema.id}" if schema.id is not None else ""
    key = (
        f", key ({', '.join(wording.clean(n) for n in schema.identifier_names)})"
        if schema.identifier_names
        else ""
    )
    return f"{wording.plural(len(schema), 'column')}{number}{key}"


@describe.register
def describe_schema(schema: Schema, detail: int = 1) -> Card:
    """The columns with their ids."""
    fold = Fold("Columns", _word_schema(schema), lambda: one(grid_fields(schema)), opened=True)
    raw = Fold("Document", "as stored", lambda: one(cells.document(schema.raw)))
    noun = "schema" if schema.id is None else f"schema {schema.id}"
    return Card(noun, _word_schema(schema), folds=(fold, raw) if schema.raw is not None else (fold,))


def _word_spec(spec: PartitionSpec) -> str:
    return f"by {', '.join(wording.clean(str(field)) for field in spec)}" if len(spec) else "not partitioned"


def _list_specs(table: Table) -> list[Any]:
    rows = [
        (
            cells.code(spec.id),
            cells.code(field.name),
            cells.code(field.transform),
            cells.code(field.source_name),
            cells.code(field.result_type),
        )
        for spec in table.specs
        for field in spec
    ]
    columns = ("spec#", "field", "transform", "column", "type")
    return [cells.grid(columns, rows, how="table.specs", noun="field")] if rows else []


@describe.register
def describe_spec(spec: PartitionSpec, detail: int = 1) -> Card:
    """How rows were divided."""
    rows = [(cells.code(f.name), cells.code(f.transform), cells.code(f.source_name)) for f in spec]
    fold = Fold(
        "Fields",
        wording.plural(len(rows), "field"),
        lambda: one(cells.grid(("field", "transform", "column"), rows, how="spec.fields")),
        opened=True,
    )
    return Card(
        "partitioning" if spec.id is None else f"partition spec {spec.id}", _word_spec(spec), folds=(fold,)
    )


def _word_refs(refs: Refs) -> str:
    words = [f"{wording.clean(ref.name, 40)} at {ref.snapshot_id}" for ref in refs[:4]]
    more = f", {len(refs) - 4} more" if len(refs) > 4 else ""
    return ", ".join(words) + more


def _list_refs(refs: Refs) -> Any:
    rows = [
        (cells.code(r.name), cells.text(r.type), cells.code(r.snapshot_id), _word_age(r.max_ref_age_ms))
        for r in refs
    ]
    return cells.grid(("name", "type", "snapshot", "kept for"), rows, how="table.refs", noun="ref")


def _word_age(milliseconds: int | None) -> Cell:
    if milliseconds is None:
        return Cell("no limit", "mute")
    return Cell(f"{milliseconds / 86_400_000:g} days", title=f"{milliseconds:,} ms")


@describe.register
def describe_refs(refs: Refs, detail: int = 1) -> Card:
    """Branches and tags."""
    fold = Fold("Refs", _word_refs(refs), lambda: one(_list_refs(refs)), opened=True)
    branches, tags = len(refs.branches), len(refs.tags)
    sentence = f"{wording.plural(branches, 'branch', 'branches')}, {wording.plural(tags, 'tag')}"
    return Card("refs", sentence, folds=(fold,) if len(refs) else ())


@describe.register
def describe_ref(ref: Ref, detail: int = 1) -> Card:
    """One name for a snapshot."""
    return Card(wording.clean(ref.name), f"{ref.type} at snapshot {ref.snapshot_id}")


def _word_evidence(evidence: Evidence) -> str:
    choice = f"; {wording.clean(evidence.version_choice)}" if evidence.version_choice else ""
    return "; ".join(wording.clean(reason) for reason in evidence.reasons) + choice


def _list_evidence(table: Table) -> list[Any]:
    evidence = table.evidence
    items = [("seen", cells.code(path)) for path in evidence.files[:5]]
    items += [("candidate", cells.code(path)) for path in evidence.candidates[:5]]
    items += [("beside it", cells.text(other)) for other in evidence.others]
    return [cells.pairs(items)] if items else []


@describe.register
def describe_evidence(evidence: Evidence, detail: int = 1) -> Card:
    """Why a directory is held to be a table."""
    items = [("reason", cells.text(reason)) for reason in evidence.reasons]
    items += [("file", cells.code(path)) for path in evidence.files]
    items += [("candidate", cells.code(path)) for path in evidence.candidates]
    items += [("beside it", cells.text(other)) for other in evidence.others]
    fold = Fold("Because", _word_evidence(evidence), lambda: one(cells.pairs(items)), opened=True)
    return Card("evidence", f"this is a table of format {evidence.format}", folds=(fold,))


def _is_moved(relocation: Relocation) -> bool:
    """By what is recorded, not by what was mapped so far: a card says the same before and after more is read."""
    recorded = relocation.recorded_location
    return recorded is not None and _trim(recorded) != _trim(relocation.location)


def _trim(place: str) -> str:
    return place.removeprefix("file:").strip("/")


def _word_relocation(relocation: Relocation) -> str:
    if not _is_moved(relocation):
        return "it lies where it was recorded"
    return f"it was recorded at {wording.clean(relocation.recorded_location)}"


def _list_relocation(relocation: Relocation) -> list[Any]:
    pairs = dict.fromkeys(relocation.mapping)
    if _is_moved(relocation) and not pairs:
        pairs = {(relocation.recorded_location or "", relocation.location): None}
    rows = [(cells.code(recorded), cells.code(now)) for recorded, now in pairs]
    rows += [(cells.code(recorded), Cell("not mapped", "mute")) for recorded in relocation.unmapped]
    return [cells.grid(("recorded", "now"), rows, how="table.relocation")] if rows else []


@describe.register
def describe_relocation(relocation: Relocation, detail: int = 1) -> Card:
    """How recorded locations were mapped."""
    fold = Fold("Mapping", _word_relocation(relocation), lambda: _list_relocation(relocation), opened=True)
    sentence = "the table was moved" if _is_moved(relocation) else "the table lies where it was recorded"
    return Card("relocation", sentence, wording.clean(relocation.location), folds=(fold,))


def _count_severities(findings: Findings) -> dict[str, int]:
    counts = {
        severity: sum(1 for f in findings if f.severity == severity)
        for severity in ("error", "warning", "note")
    }
    return {severity: number for severity, number in counts.items() if number}


def _word_findings(findings: Findings) -> str:
    words = [wording.plural(number, severity) for severity, number in _count_severities(findings).items()]
    return ", ".join(words) if words else "nothing wrong was met so far"


def _word_alert(findings: Findings) -> str:
    counts = _count_severities(findings)
    words = [wording.plural(counts[s], s.upper()) for s in ("error", "warning") if s in counts]
    return ", ".join(words)


def _list_findings(findings: Findings) -> list[Any]:
    rows = [
        (
            Cell(f.severity.upper(), "warn" if f.severity != "note" else "mute"),
            cells.code(f.code),
            cells.text(f.message),
            cells.code(wording.name(f.path)),
        )
        for f in findings
    ]
    columns = ("severity", "code", "what", "where")
    return [cells.grid(columns, rows, how="table.findings", noun="finding")] if rows else []


@describe.register
def describe_findings(findings: Findings, detail: int = 1) -> Card:
    """What was found so far."""
    fold = Fold("Findings", _word_findings(findings), lambda: _list_findings(findings), opened=True)
    sentence = _word_findings(findings)
    return Card("findings", sentence, alert=_word_alert(findings), folds=(fold,) if len(findings) else ())


@describe.register
def describe_finding(finding: Finding, detail: int = 1) -> Card:
    """One thing found."""
    items = [("place", cells.code(finding.path))]
    if finding.snapshots:
        items.append(("snapshots", cells.code(", ".join(str(s) for s in finding.snapshots))))
    fold = Fold("Where", wording.name(finding.path), lambda: one(cells.pairs(items)))
    return Card(finding.code, wording.clean(finding.message), alert=finding.severity.upper(), folds=(fold,))
