"""What `--json` tells of diffs, histories and traces: the facts, as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lakelens.analysis.diff.diff import Diff
from lakelens.analysis.diff.documents import JsonChange
from lakelens.analysis.diff.fields import PartitioningChange, SchemaChange
from lakelens.analysis.timeline.timeline import Mark, Timeline
from lakelens.analysis.trace.trace import TableTrace, Trace, TracedFile
from lakelens.cli.json_values import word_time
from lakelens.cli.table_facts import Facts, describe_snapshot, describe_stored
from lakelens.model.datafile import DataFile, IndexFile
from lakelens.model.fileset import FileSet
from lakelens.model.manifest import Manifest


def describe_diff(diff: Diff) -> Facts:
    """What changed between two snapshots; files are told one by one."""
    return {
        "before": None if diff.before is None else describe_snapshot(diff.before),
        "after": describe_snapshot(diff.after),
        "action": diff.action,
        "sentence": diff.sentence,
        "summary": diff.summary,
        "schema": [describe_change(change) for change in diff.schema],
        "partitioning": [describe_change(change) for change in diff.partitioning],
        "by_partition": diff.by_partition,
        "manifests": {
            "new": [_name(manifest) for manifest in diff.manifests.new],
            "dropped": [_name(manifest) for manifest in diff.manifests.dropped],
            "kept": [_name(manifest) for manifest in diff.manifests.kept],
        },
        "index_files": {
            "added": [_describe_index(found) for found in diff.index_files.added],
            "removed": [_describe_index(found) for found in diff.index_files.removed],
        },
        "metadata": [describe_place(change) for change in diff.metadata],
        "added": _describe_files(diff.added),
        "removed": _describe_files(diff.removed),
    }


def describe_change(change: SchemaChange | PartitioningChange) -> Facts:
    """A column, or a part of the partitioning, that changed."""
    names = ("kind", "field_id", "name", "before", "after")
    return {name: getattr(change, name) for name in names}


def describe_place(change: JsonChange) -> Facts:
    """A place of a document that changed. What was added has no `before`, what was removed no `after`."""
    facts: Facts = {"path": change.path, "kind": change.kind}
    if change.kind != "added":
        facts["before"] = change.before
    if change.kind != "removed":
        facts["after"] = change.after
    return facts


def _name(manifest: Manifest) -> str:
    return manifest.path


def _describe_files(files: FileSet) -> Iterator[Facts]:
    return (_describe_file(file) for file in files)


def _describe_file(file: DataFile) -> Facts:
    names = (
        "content",
        "path",
        "recorded_path",
        "file_format",
        "bucket",
        "level",
        "record_count",
        "size_bytes",
    )
    facts: Facts = {name: getattr(file, name) for name in names}
    return facts | {"partition": str(file.partition)}


def _describe_index(found: IndexFile) -> Facts:
    return {
        "index_type": found.index_type,
        "path": found.path,
        "size_bytes": found.size_bytes,
        "row_count": found.row_count,
    }


def describe_history(history: Timeline) -> Facts:
    """How a table came to be what it is."""
    return {
        "lanes": [{"name": lane.name, "is_branch": lane.is_branch} for lane in history.lanes],
        "flags": [{"name": flag.name, "type": flag.type, "key": flag.key} for flag in history.flags],
        "gaps": [{"before": gap.before, "count": gap.count} for gap in history.gaps],
        "rollbacks": [
            {"at": word_time(r.at), "start": r.start, "end": r.end, "undone": r.undone}
            for r in history.rollbacks
        ],
        "marks": (_describe_mark(mark) for mark in history.marks),
        "written": _describe_listing(history),
    }


def _describe_mark(mark: Mark) -> Facts:
    return {
        "key": mark.key,
        "snapshot_id": mark.snapshot.id,
        "parent": mark.parent,
        "lane": mark.lane,
        "operation": mark.operation,
        "kind": mark.kind,
        "committed_at": word_time(mark.snapshot.committed_at),
        "amounts": mark.amounts,
        "notes": mark.notes,
    }


def _describe_listing(history: Timeline) -> Iterator[Facts]:
    """Of a table without snapshots: when each of its files was written."""
    for file in () if history.listing is None else history.listing.files:
        yield {"path": file.path, "modified": word_time(getattr(file, "modified", None))}


def describe_trace(trace: Trace) -> Facts:
    """What a command did to storage."""
    return {
        "root": trace.root,
        "untouched_files": trace.untouched_files,
        "notes": trace.notes,
        "tables": [_describe_table_trace(table) for table in trace.tables],
        "files": (_describe_traced(file) for file in trace.files),
    }


def _describe_table_trace(table: TableTrace) -> Facts:
    return {
        "name": table.name,
        "format": table.format,
        "location": table.location,
        "kind": table.kind,
        "snapshots": [describe_snapshot(commit.snapshot) for commit in table.snapshots],
        "gone": table.gone,
        "schema": [describe_change(change) for change in table.schema],
        "document": [describe_place(change) for change in table.document],
    }


def _describe_traced(file: TracedFile) -> dict[str, Any]:
    return describe_stored(file) | {
        "state": file.state,
        "reason": file.reason,
        "previous_size_bytes": file.previous_size_bytes,
    }
