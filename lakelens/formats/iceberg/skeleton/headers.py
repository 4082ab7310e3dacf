"""The entries of the headers of manifests and manifest lists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lakelens.codecs.avro.encoding import encode_document
from lakelens.formats.iceberg.skeleton.avro_schemas import FIELD_NAMES
from lakelens.formats.iceberg.skeleton.document import DocumentWriter
from lakelens.formats.iceberg.skeleton.reading import StoredFile

_PLAIN = (
    *("snapshot-id", "parent-snapshot-id", "format-version", "sequence-number", "first-row-id", "content"),
    *("partition-spec-id", "schema-id"),
)
_MAX_DEPTH = 100
_VALUE = re.compile(rb"-?\d{1,20}|null|data|deletes")


class HeaderWriter:
    """Writes headers again; of entries that are not specified neither name nor value stays."""

    def __init__(self, writer: DocumentWriter) -> None:
        self._writer = writer

    def write(self, one: StoredFile, partition: Mapping[str, str] | None = None) -> dict[str, bytes]:
        """The entries of one file's header, without `avro.schema` and `avro.codec`."""
        assert one.header is not None
        made: dict[str, bytes] = {}
        for key, value in one.header.metadata.items():
            if key in _PLAIN and _VALUE.fullmatch(value):
                made[key] = value
            elif key == "schema":
                made[key] = encode_document(self._writer.write_schema(one.read_json(key)))
            elif key == "partition-spec":
                made[key] = encode_document(self._writer.write_fields(one.read_json(key)))
            elif key == "iceberg.schema":
                made[key] = encode_document(_write_own(one.read_json(key), partition or {}, set(FIELD_NAMES)))
        return made


def _write_own(schema: Any, partition: Mapping[str, str], known: set[str], depth: int = 0) -> Any:
    """The Iceberg schema of the records themselves, with the new names of partition fields; null for what is too deep."""
    if depth > _MAX_DEPTH:
        return None
    if isinstance(schema, list):
        return [_write_own(one, partition, known, depth + 1) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "name":
            name = str(value)
            made[key] = partition.get(name, name if name in known else "x")
        elif key != "doc" and not key.endswith("-default"):
            made[key] = _write_own(value, partition, known, depth + 1)
    return made
