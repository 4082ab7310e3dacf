"""What the head of a manifest or manifest list says: key/values, of which some are JSON.

Keys of the specification: `schema`, `schema-id`, `partition-spec`, `partition-spec-id`, `format-version`, `content`.
Writers leave out any of them; the table's own metadata is used then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from lakelens.codecs.avro.records import AvroHeader
from lakelens.codecs.iceberg.types import parse_struct
from lakelens.errors import LakeError
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.manifests.containers import Header
from lakelens.formats.iceberg.metadata.schemas import describe_spec
from lakelens.formats.iceberg.metadata.wire import WirePartitionField

_JSON_KEYS = ("schema", "partition-spec", "iceberg.schema")


def describe_header(header: Header) -> Mapping[str, Any]:
    """The header as the model shows it: `format`, `schema`, `codec`, `metadata` with text and parsed JSON values."""
    metadata: dict[str, Any] = {}
    for key in header.metadata:
        if key in ("avro.schema", "avro.codec"):
            continue
        text = read_text(header, key)
        parsed = _parse_json(text) if key in _JSON_KEYS else None
        metadata[key] = text if parsed is None else parsed
    kind = "avro" if isinstance(header, AvroHeader) else "parquet"
    return {"format": kind, "schema": header.schema, "codec": header.codec, "metadata": metadata}


def read_text(header: Header, key: str) -> str | None:
    """Read one value of the header as text."""
    value = header.metadata.get(key)
    return None if value is None else value.decode("utf-8", "replace")


def read_number(header: Header, key: str) -> int | None:
    """Read one value of the header as a number; None when it is not one."""
    try:
        return int(read_text(header, key) or "")
    except ValueError:
        return None


def learn_from_header(context: TableContext, header: Header, spec_id: int | None, path: str) -> None:
    """Add the schema and the spec of a manifest, which the table's metadata may have forgotten."""
    words = hash((header.metadata.get("schema"), header.metadata.get("partition-spec"), spec_id))
    if words in context.columns.headers:
        return  # those of another manifest
    understood = True
    schema = _parse_json(read_text(header, "schema"))
    structs = context.schemas.newest_first()
    if isinstance(schema, dict):
        try:
            struct = parse_struct(schema, "schema", path=path)
        except LakeError as error:
            context.findings.add_error(error, path)
            understood = False
        else:
            context.columns.learn(struct)
            structs = [*structs, struct]
    number = spec_id if spec_id is not None else read_number(header, "partition-spec-id")
    if number is None or context.specs.columns(number) is not None:
        if understood and spec_id is not None:
            context.columns.headers.add(words)
        return
    fields = _parse_json(read_text(header, "partition-spec"))
    try:
        parsed = msgspec.convert(fields, list[WirePartitionField])
    except msgspec.ValidationError:
        context.findings.add(
            "warning",
            "unknown-spec",
            path,
            f"partition spec {number} is neither in the table metadata nor in the manifest's header",
        )
        return
    context.specs.add(number, describe_spec(number, parsed, structs))


def _parse_json(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
