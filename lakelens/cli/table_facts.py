"""What `--json` tells of tables, schemas, refs, snapshots and manifests: the facts, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lakelens.cli.json_values import word_time
from lakelens.model.catalog import Catalog
from lakelens.model.finding import Finding
from lakelens.model.manifest import FieldSummary, Manifest, ManifestList
from lakelens.model.schema import Field, PartitionSpec, Schema
from lakelens.model.snapshot import Ref, Snapshot
from lakelens.model.storage import StoredFile
from lakelens.model.table import Table

Facts = dict[str, Any]


def describe_table(table: Table) -> Facts:
    """Which table this is."""
    return {
        "name": table.name,
        "format": table.format,
        "format_version": table.format_version,
        "location": table.location,
        "uuid": table.uuid,
    }


def describe_findings(table: Table) -> Iterator[Facts]:
    """What was found so far, when it is asked for."""
    for finding in table.findings:
        yield describe_finding(finding)


def describe_finding(finding: Finding) -> Facts:
    """One thing found."""
    return {
        "severity": finding.severity,
        "code": finding.code,
        "path": finding.path,
        "message": finding.message,
        "snapshots": finding.snapshots,
    }


def describe_evidence(table: Table) -> Facts:
    """Why it is held to be a table of its format."""
    held = table.evidence
    return {
        "reasons": held.reasons,
        "files": held.files,
        "version_choice": held.version_choice,
        "candidates": held.candidates,
        "others": held.others,
    }


def describe_relocation(table: Table) -> Facts:
    """How recorded locations were mapped."""
    held = table.relocation
    return {
        "recorded_location": held.recorded_location,
        "mapping": [{"recorded": recorded, "now": now} for recorded, now in held.mapping],
        "unmapped": held.unmapped,
    }


def describe_schema(schema: Schema) -> Facts:
    """One version of the columns; nested fields stand below their parents by full name."""
    return {
        "id": schema.id,
        "key": schema.identifier_names,
        "fields": [_describe_field(name, field) for name, field in schema.walk()],
    }


def _describe_field(name: str, field: Field) -> Facts:
    return {
        "id": field.id,
        "name": name,
        "type": str(field.type),
        "nullable": field.nullable,
        "doc": field.doc,
        "initial_default": field.initial_default,
        "write_default": field.write_default,
    }


def describe_spec(spec: PartitionSpec) -> Facts:
    """How rows are divided."""
    return {
        "id": spec.id,
        "fields": [
            {
                "field_id": field.field_id,
                "name": field.name,
                "source_id": field.source_id,
                "source_name": field.source_name,
                "transform": field.transform,
                "result_type": None if field.result_type is None else str(field.result_type),
            }
            for field in spec
        ],
    }


def describe_ref(ref: Ref) -> Facts:
    """A branch or a tag."""
    return {
        "name": ref.name,
        "type": ref.type,
        "snapshot_id": ref.snapshot_id,
        "created_at": word_time(ref.created_at),
        "max_ref_age_ms": ref.max_ref_age_ms,
        "max_snapshot_age_ms": ref.max_snapshot_age_ms,
        "min_snapshots_to_keep": ref.min_snapshots_to_keep,
    }


def describe_snapshot(snapshot: Snapshot) -> Facts:
    """What a snapshot records of itself."""
    return {
        "id": snapshot.id,
        "parent_id": snapshot.parent_id,
        "sequence_number": snapshot.sequence_number,
        "committed_at": word_time(snapshot.committed_at),
        "operation": snapshot.operation,
        "record_count": snapshot.record_count,
        "refs": snapshot.refs,
        "path": snapshot.path,
        "summary": snapshot.summary,
    }


def describe_list(found: ManifestList, manifests: Iterator[Manifest] | list[Manifest]) -> Facts:
    """A manifest list with its manifests."""
    return {
        "role": found.role,
        "path": found.path,
        "recorded_path": found.recorded_path,
        "size_bytes": found.size_bytes,
        "manifests": [describe_manifest(manifest) for manifest in manifests],
    }


def describe_manifest(manifest: Manifest) -> Facts:
    """A manifest, as its list describes it."""
    names = (
        "path recorded_path size_bytes content spec_id schema_id sequence_number added_snapshot_id "
        "added_files_count existing_files_count deleted_files_count"
    )
    facts: Facts = {name: getattr(manifest, name) for name in names.split()}
    return facts | {"partition_summary": [_describe_summary(s) for s in manifest.partition_summary]}


def _describe_summary(summary: FieldSummary) -> Facts:
    names = ("name", "lower", "upper", "contains_null", "contains_nan", "null_count")
    return {name: getattr(summary, name) for name in names}


def describe_stored(file: StoredFile) -> Facts:
    """One stored object and who refers to it."""
    return {
        "path": file.path,
        "relative_path": file.relative_path,
        "size_bytes": file.size_bytes,
        "role": file.role,
        "referenced_by": file.referenced_by,
        "modified": word_time(file.modified),
    }


def describe_catalog(catalog: Catalog) -> Mapping[str, Any]:
    """The tables below a directory."""
    return {
        "root": catalog.root,
        "tables": (
            {"name": t.name, "format": t.format, "path": t.path, "reasons": t.evidence.reasons}
            for t in catalog
        ),
        "problems": [{"path": problem.path, "message": problem.reason} for problem in catalog.problems],
    }
