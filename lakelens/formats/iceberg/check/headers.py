"""The heads of manifests and manifest lists, compared with the lines that name them and with the snapshots.

Follows "Manifests" and "Manifest Lists" of the Iceberg table specification: the key/values `content`, `partition-spec-id`,
`format-version` and `schema` of a manifest, `snapshot-id` and `sequence-number` of a list. A reader that trusts one of the
two places and not the other decodes partitions by another spec, or takes deletes for data.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from lakelens.errors import LakeError
from lakelens.formats.iceberg.check.head_copies import TableCopies
from lakelens.formats.iceberg.manifests.containers import Header, read_head
from lakelens.formats.iceberg.manifests.header import read_number, read_text
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
from lakelens.formats.iceberg.snapshot import IcebergSnapshot
from lakelens.model.check.ledger import Line
from lakelens.model.check.survey import Survey
from lakelens.progress import track

if TYPE_CHECKING:
    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.table import IcebergTable

#: Heads that are read; of more a part is.
MOST_HEADS = 5_000


def compare_headers(table: IcebergTable, context: TableContext, survey: Survey) -> None:
    """Compare the heads of manifests with their lines, and those of lists with their snapshots."""
    line = survey.ledger.line("manifests and their lists", "their headers", "lists and snapshots")
    chosen, copies = survey.manifests[:MOST_HEADS], TableCopies(context)
    for number, manifest in track(list(enumerate(chosen)), "headers of manifests", len(chosen)):
        header = _read(context, manifest.path)
        if header is not None:
            for known in survey.lines[number]:
                if isinstance(known, IcebergManifest):
                    _compare_manifest(table, survey, line, known, header, number)
            copies.compare(line, header, manifest.path, partial(survey.list_snapshots, (number,)))
    left = len(survey.manifests) - len(chosen)
    if left > 0:
        survey.ledger.leave(f"the headers of {left:,} manifests", f"the first {MOST_HEADS:,} were read")
    for state in survey.states[:MOST_HEADS]:
        snapshot = state.snapshot
        if not isinstance(snapshot, IcebergSnapshot):
            continue
        for listed in snapshot.manifest_lists:
            header = None if listed.path is None else _read(context, listed.path)
            if header is not None and listed.path is not None:
                _compare_list(line, snapshot, header, listed.path, table.format_version or 1)


def _read(context: TableContext, path: str) -> Header | None:
    """The head of a file; None where it cannot be read: that is found when all of it is read."""
    try:
        return read_head(context.access.store, path)
    except LakeError:
        return None


def _compare_manifest(
    table: IcebergTable,
    survey: Survey,
    line: Line,
    manifest: IcebergManifest,
    header: Header,
    number: int,
) -> None:
    path, snapshots = manifest.path, partial(survey.list_snapshots, (number,))
    content = read_text(header, "content")
    what = "content by the list and by the head"
    line.compare(manifest.content, content, "manifest-content", path, what, snapshots, "error")
    what = "partition-spec-id by the list and by the head"
    spec = read_number(header, "partition-spec-id")
    recorded = manifest.raw.get("partition_spec_id")
    line.compare(recorded, spec, "manifest-spec", path, what, snapshots, "error")
    known = {one.id for one in table.specs}
    if recorded is not None:
        message = f"partition spec {recorded} is not among those of the table"
        line.require(recorded in known, "unknown-spec", path, message, snapshots)
    version = read_number(header, "format-version")
    if version is not None:
        newest = table.format_version or 1
        message = f"format-version of the head is {version}, the table's is {newest}"
        line.require(version <= newest, "version-rule", path, message, snapshots)
    schema = _find_schema(header)
    if schema is not None:
        message = f"schema {schema} of the head is not among those of the table"
        is_kept = any(one.id == schema for one in table.schemas)
        line.require(is_kept, "unknown-schema", path, message, snapshots, "note")


def _find_schema(header: Header) -> int | None:
    text = read_text(header, "schema")
    try:
        schema: Any = msgspec.json.decode(text or "null")
    except (msgspec.DecodeError, RecursionError):
        return None
    found = schema.get("schema-id") if isinstance(schema, dict) else None
    return found if isinstance(found, int) else None


def _compare_list(line: Line, snapshot: IcebergSnapshot, header: Header, path: str, newest: int) -> None:
    own = (snapshot.id,)
    version = read_number(header, "format-version")
    if version is not None:
        message = f"format-version of the head is {version}, the table's is {newest}"
        line.require(version <= newest, "version-rule", path, message, own)
    for key, recorded in (
        ("snapshot-id", snapshot.id),
        ("sequence-number", snapshot.sequence_number or None),
    ):
        found = read_number(header, key)
        line.compare(found, recorded, "list-of-snapshot", path, f"{key} of the head", own, "warning")
