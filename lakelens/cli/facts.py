"""What `--json` writes about tables, snapshots, changes and traces: facts as plain data, which `json_values` makes JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lakelens.analysis.diff.diff import Diff
from lakelens.analysis.diff.documents import JsonChange
from lakelens.analysis.timeline.timeline import Timeline
from lakelens.analysis.trace import Trace
from lakelens.model.facts.facts import FINDING, MANIFEST, MANIFEST_LIST, REF, SNAPSHOT, TABLE, list_facts
from lakelens.model.fileset import FileSet
from lakelens.model.manifest import Manifest, ManifestList
from lakelens.model.schema import PartitionSpec, Schema
from lakelens.model.snapshot import Ref, Snapshot
from lakelens.model.storage import StoredFile
from lakelens.model.table import Table
from lakelens.model.view import View
from lakelens.model.warehouse.catalog import Catalog

Facts = dict[str, Any]

_CHANGE = ("kind", "field_id", "name", "before", "after")
_STORED = ("path", "relative_path", "size_bytes", "role", "referenced_by", "modified")
_FILE = ("content", "path", "recorded_path", "file_format", "bucket", "level", "record_count", "size_bytes")


def answer(table: Table, **parts: Any) -> Facts:
    """A verb's whole answer: which table it is, the parts, and what was found while they were read, or by the answer."""
    parts.setdefault("findings", (list_facts(FINDING, finding) for finding in table.findings))
    return {"table": list_facts(TABLE, table), **parts}


def pick(thing: Any, *names: str) -> Facts:
    """Pick some attributes of a thing by name."""
    return {name: getattr(thing, name) for name in names}


def describe_evidence(table: Table) -> Facts:
    """Describe why it is recognised as a table of its format."""
    return pick(table.evidence, "reasons", "files", "version_choice", "candidates", "others")


def describe_relocation(table: Table) -> Facts:
    """Describe how recorded locations were mapped."""
    found = table.relocation
    mapping = [{"recorded": recorded, "now": now} for recorded, now in found.mapping]
    return {**pick(found, "recorded_location", "unmapped"), "mapping": mapping}


def describe_schema(schema: Schema) -> Facts:
    """Describe one version of the columns; nested fields follow their parents by full name."""
    names = ("id", "type", "nullable", "doc", "initial_default", "write_default")
    fields = [{**pick(field, *names), "name": name} for name, field in schema.walk()]
    return {"id": schema.id, "key": schema.identifier_names, "fields": fields}


def describe_spec(spec: PartitionSpec) -> Facts:
    """Describe how rows are divided."""
    names = ("field_id", "name", "source_id", "source_name", "transform", "result_type")
    return {"id": spec.id, "fields": [pick(field, *names) for field in spec]}


def describe_ref(ref: Ref) -> Facts:
    """Describe a branch or a tag."""
    return list_facts(REF, ref)


def describe_snapshot(snapshot: Snapshot) -> Facts:
    """Describe what a snapshot records of itself."""
    return list_facts(SNAPSHOT, snapshot)


def describe_list(found: ManifestList, manifests: Iterable[Manifest] | None = None) -> Facts:
    """Describe a manifest list, and the manifests that it names."""
    facts = list_facts(MANIFEST_LIST, found)
    if manifests is None:
        return facts
    # the manifests are opened for the schema's id, where no list records it
    rows = [
        list_facts(MANIFEST, manifest, role=found.role, schema_id=manifest.schema_id)
        for manifest in manifests
    ]
    return {**facts, "manifests": rows}


def describe_stored(file: StoredFile) -> Facts:
    """Describe one stored object and what refers to it."""
    return pick(file, *_STORED)


def describe_catalog(catalog: Catalog) -> Facts:
    """Describe the tables below a directory."""
    catalog.read_outlines()
    tables = ({**list_facts(Catalog.facts, table), "reasons": table.evidence.reasons} for table in catalog)
    problems = [{"path": problem.path, "message": problem.reason} for problem in catalog.problems]
    views = [list_facts(type(catalog.views).facts, view) for view in catalog.views]
    return {"root": catalog.root, "tables": tables, "views": views, "problems": problems}


def describe_view(view: View) -> Facts:
    """Describe a view: its versions with their queries, its columns, and which version was the current one when."""
    names = ("name", "format", "format_version", "location", "uuid", "path", "version_id")
    version = (
        "id",
        "created_at",
        "schema_id",
        "sql",
        "default_catalog",
        "default_namespace",
        "storage_table",
        "summary",
    )
    return {
        "view": pick(view, *names),
        "properties": view.properties,
        "versions": [pick(kept, *version) for kept in view.versions],
        "schemas": [describe_schema(schema) for schema in view.schemas],
        "log": [pick(line, "version_id", "at") for line in view.log],
        "findings": [list_facts(FINDING, finding) for finding in view.findings],
    }


def describe_diff(diff: Diff) -> Facts:
    """Describe what changed between two snapshots, file by file."""
    index_files = {
        side: [pick(file, "index_type", "path", "size_bytes", "row_count") for file in files]
        for side, files in (("added", diff.index_files.added), ("removed", diff.index_files.removed))
    }
    return {
        "before": None if diff.before is None else describe_snapshot(diff.before),
        "after": describe_snapshot(diff.after),
        **pick(diff, "action", "sentence", "summary", "by_partition"),
        "schema": [pick(change, *_CHANGE) for change in diff.schema],
        "partitioning": [pick(change, *_CHANGE) for change in diff.partitioning],
        "manifests": {
            "new": [manifest.path for manifest in diff.manifests.new],
            "dropped": [manifest.path for manifest in diff.manifests.dropped],
            "kept": [manifest.path for manifest in diff.manifests.kept],
        },
        "index_files": index_files,
        "metadata": [_describe_place(change) for change in diff.metadata],
        "added": _describe_files(diff.added),
        "removed": _describe_files(diff.removed),
    }


def _describe_place(change: JsonChange) -> Facts:
    """Describe a place of a document that changed. What was added has no `before`, what was removed no `after`."""
    missing = {"added": "before", "removed": "after"}.get(change.kind)
    return pick(change, *(name for name in ("path", "kind", "before", "after") if name != missing))


def _describe_files(files: FileSet) -> Iterator[Facts]:
    return ({**pick(file, *_FILE), "partition": str(file.partition)} for file in files)


def describe_history(history: Timeline) -> Facts:
    """Describe how a table came to be what it is."""
    listed = () if history.listing is None else history.listing.files
    flows = [f"{sign}_{unit}" for unit in ("rows", "files", "bytes") for sign in ("added", "removed")]
    marks = (
        {
            **pick(mark, "key", "parent", "lane", "operation", "kind"),
            "amounts": pick(mark.amounts, *flows, "rows", "files", "size_bytes", "deleted"),
            **pick(mark, "notes"),
            "snapshot_id": mark.snapshot.id,
            "committed_at": mark.snapshot.committed_at,
        }
        for mark in history.marks
    )
    return {
        "lanes": [pick(lane, "name", "is_branch") for lane in history.lanes],
        "flags": [pick(flag, "name", "type", "key") for flag in history.flags],
        "gaps": [pick(gap, "before", "count") for gap in history.gaps],
        "rollbacks": [pick(rollback, "at", "start", "end", "undone") for rollback in history.rollbacks],
        "marks": marks,
        "written": ({"path": file.path, "modified": getattr(file, "modified", None)} for file in listed),
    }


def describe_trace(trace: Trace) -> Facts:
    """Describe what a command did to storage."""
    names = (*_STORED, "state", "reason", "previous_size_bytes")
    tables = [
        {
            **pick(table, "name", "format", "location", "kind", "gone"),
            "snapshots": [describe_snapshot(commit.snapshot) for commit in table.snapshots],
            "schema": [pick(change, *_CHANGE) for change in table.schema],
            "document": [_describe_place(change) for change in table.document],
        }
        for table in trace.tables
    ]
    return {
        **pick(trace, "root", "untouched_files", "notes"),
        "tables": tables,
        "files": (pick(file, *names) for file in trace.files),
    }
