"""The heads of manifests and manifest lists, compared with the lines that name them and with the snapshots.

Follows "Manifests" and "Manifest Lists" of the Iceberg table specification: the key/values `content`, `partition-spec-id`,
`format-version` and `schema` of a manifest, `snapshot-id` and `sequence-number` of a list. A reader that trusts one of the
two places and not the other decodes partitions by another spec, or takes deletes for data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from lakelens.errors import LakeError
from lakelens.formats.iceberg.manifests.containers import Header, read_head
from lakelens.formats.iceberg.manifests.header import read_number, read_text
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
from lakelens.formats.iceberg.snapshot import IcebergSnapshot
from lakelens.model.check.ledger import LedgerLine
from lakelens.model.check.survey import Survey
from lakelens.progress import track

if TYPE_CHECKING:
    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.table import IcebergTable


# The copies of schema and partition spec in the heads of manifests, compared with the table's metadata.
#
# Follows "Manifests" of the Iceberg table specification: `schema` is the JSON of the table schema when the manifest was
# written, `partition-spec` the fields of the spec of its tuples. A schema and a spec never change under their id, so a
# copy has to equal the table's of that id. A writer keeps the schema of its time: one with another id is no difference,
# nor is one that the table no longer keeps. Names of partition fields, docs and defaults are not compared.

_DEEPEST = 100  # levels of nested types that are looked into
_FIRST_FIELD = 1_000  # the ids of partition fields that version 1 does not store count from here


class TableCopies:
    """What the current metadata document says of each schema and spec, by id, in the form in which copies are compared."""

    def __init__(self, context: TableContext) -> None:
        raw = context.document.raw
        self._schemas = {
            one["schema-id"]: dict(_list_fields(one))
            for one in _list_objects(raw.get("schemas"))
            if isinstance(one.get("schema-id"), int)
        }
        self._specs = {
            one["spec-id"]: list(_list_spec(one.get("fields")))
            for one in _list_objects(raw.get("partition-specs"))
            if isinstance(one.get("spec-id"), int)
        }

    def compare(
        self, line: LedgerLine, header: Header, path: str, snapshots: Callable[[], tuple[int, ...]]
    ) -> None:
        """Compare the copies of one head."""
        schema, number = _read_json(header, "schema"), read_number(header, "schema-id")
        if isinstance(schema, dict):
            own = schema.get("schema-id")
            what = "schema-id by the head and by its schema"
            line.compare(number, own if isinstance(own, int) else None, "head-schema", path, what, snapshots)
            self._compare_schema(line, schema, own if isinstance(own, int) else number, path, snapshots)
        spec = _read_json(header, "partition-spec")
        known = self._specs.get(read_number(header, "partition-spec-id") or 0)
        if isinstance(spec, list) and known is not None:
            found = list(_list_spec(spec))
            message = f"partition-spec of the head is {_format(found)}, the table's is {_format(known)}"
            line.require(found == known, "head-spec", path, message, snapshots)

    def _compare_schema(
        self,
        line: LedgerLine,
        schema: Mapping[str, Any],
        number: int | None,
        path: str,
        snapshots: Callable[[], tuple[int, ...]],
    ) -> None:
        known = None if number is None else self._schemas.get(number)
        if known is None:
            return
        found = dict(_list_fields(schema))
        differing = sorted(one for one in {*known, *found} if known.get(one) != found.get(one))
        if not differing:
            line.agree()
            return
        first = differing[0]
        said = f"field {first} is {found.get(first, 'not there')}, the table's is {known.get(first, 'not there')}"
        more = f", and {len(differing) - 1:,} more" if len(differing) > 1 else ""
        line.differ("warning", "head-schema", path, f"schema {number} of the head: {said}{more}", snapshots)


def _read_json(header: Header, key: str) -> Any:
    try:
        return msgspec.json.decode(read_text(header, key) or "null")
    except (msgspec.DecodeError, RecursionError):
        return None


def _list_objects(raw: Any) -> Iterator[Mapping[str, Any]]:
    return (one for one in raw if isinstance(one, dict)) if isinstance(raw, list) else iter(())


def _list_fields(schema: Any, depth: int = 0) -> Iterator[tuple[int, str]]:
    """List every field of a schema by id, nested ones too: its name, its type, and whether it is required."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return
    for one in _list_objects(schema.get("fields")):
        kind, number = one.get("type"), one.get("id")
        name = kind.get("type") if isinstance(kind, dict) else kind
        if isinstance(number, int):
            needs = "required" if one.get("required") else "optional"
            yield number, f"{one.get('name')} {str(name).replace(' ', '')} {needs}"
        yield from _list_inner(kind, depth)


def _list_inner(kind: Any, depth: int) -> Iterator[tuple[int, str]]:
    """List the fields within a type: of a struct, of an element, a key and a value."""
    if not isinstance(kind, dict) or depth > _DEEPEST:
        return
    if kind.get("type") == "struct":
        yield from _list_fields(kind, depth + 1)
        return
    for part in ("element", "key", "value"):
        inner, number = kind.get(part), kind.get(f"{part}-id")
        if inner is None:
            continue
        name = inner.get("type") if isinstance(inner, dict) else inner
        if isinstance(number, int):
            needs = "required" if kind.get(f"{part}-required", True) else "optional"
            yield number, f"{part} {str(name).replace(' ', '')} {needs}"
        yield from _list_inner(inner, depth + 1)


def _list_spec(raw: Any) -> Iterator[tuple[int, tuple[Any, ...], str]]:
    """List the fields of a spec: id, source columns, transform."""
    for place, one in enumerate(_list_objects(raw)):
        sources = one.get("source-ids")
        source = one.get("source-id")
        columns = tuple(sources) if isinstance(sources, list) else (source,)
        number = one.get("field-id")
        transform = str(one.get("transform")).lower()
        yield number if isinstance(number, int) else _FIRST_FIELD + place, columns, transform


def _format(fields: list[tuple[int, tuple[Any, ...], str]]) -> str:
    """Format a spec in a message."""
    parts = (
        f"{number}: {transform}({', '.join(map(str, columns))})" for number, columns, transform in fields
    )
    return ", ".join(parts) or "empty"


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
                newest = table.format_version or 1
                own = (snapshot.id,)
                version = read_number(header, "format-version")
                if version is not None:
                    message = f"format-version of the head is {version}, the table's is {newest}"
                    line.require(version <= newest, "version-rule", listed.path, message, own)
                for key, recorded in (
                    ("snapshot-id", snapshot.id),
                    ("sequence-number", snapshot.sequence_number or None),
                ):
                    found = read_number(header, key)
                    line.compare(
                        found, recorded, "list-of-snapshot", listed.path, f"{key} of the head", own, "warning"
                    )


def _read(context: TableContext, path: str) -> Header | None:
    """Read the head of a file; None where it cannot be read: that is found when all of it is read."""
    try:
        return read_head(context.access.store, path)
    except LakeError:
        return None


def _compare_manifest(
    table: IcebergTable,
    survey: Survey,
    line: LedgerLine,
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
