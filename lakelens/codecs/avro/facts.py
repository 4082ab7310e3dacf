"""Avro files as plain facts: what the header says, and what the blocks count.

An Avro file has no footer: its schema is at the front and every block counts its own records ("Object Container
Files" of the Avro 1.12 specification), so the number of rows is known only after a walk from block to block.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from lakelens.codecs.avro.container import AvroHeader, decode_header, iter_blocks
from lakelens.codecs.avro.schema import find_record

_OWN_KEYS = ("avro.schema", "avro.codec")


@dataclass(frozen=True, slots=True)
class AvroColumn:
    """One field of the records: its name, its type as in the schema (`?` after one that may be null), its field id."""

    path: str
    type: str
    field_id: int | None


@dataclass(frozen=True, slots=True)
class AvroFacts:
    """The facts about an Avro file. `blocks_size` is the bytes of the records as stored, without counts and markers.

    `schema` is the schema as parsed JSON, `key_values` the header's other entries: text where it is UTF-8, bytes
    elsewhere. `columns` is empty when the file holds no records.
    """

    num_rows: int
    num_blocks: int
    columns: tuple[AvroColumn, ...]
    codec: str
    blocks_size: int
    key_values: dict[str, str | bytes]
    header: AvroHeader = field(repr=False)
    format: str = "avro"

    @property
    def num_columns(self) -> int:
        """How many fields a record has."""
        return len(self.columns)

    @property
    def schema(self) -> Any:
        """The schema as the header has it."""
        return self.header.schema

    @property
    def metadata(self) -> dict[str, bytes]:
        """Every entry of the header as stored."""
        return self.header.metadata

    @property
    def record(self) -> dict[str, Any]:
        """The schema of the records. Raises `Unsupported` when the file holds something else."""
        return self.header.record

    @property
    def header_size(self) -> int:
        """Bytes before the first block."""
        return self.header.header_size

    @property
    def sync_marker(self) -> bytes:
        """The 16 bytes after the header and after every block."""
        return self.header.sync_marker


def decode_facts(data: bytes, path: str | None = None) -> AvroFacts:
    """The facts of a whole Avro file; raises `Corrupt` with the byte, and `path` only names the file in it.

    >>> from lakelens.codecs.avro.container import encode_header
    >>> schema = b'{"type":"record","name":"r","fields":[{"name":"a","type":["null","long"]}]}'
    >>> facts = decode_facts(encode_header({"avro.schema": schema}, b"s" * 16) + bytes([2, 4, 2, 6]) + b"s" * 16)
    >>> facts.num_rows, facts.num_blocks, facts.columns
    (1, 1, (AvroColumn(path='a', type='long?', field_id=None),))
    """
    header = decode_header(data, path)
    blocks = list(iter_blocks(data, header, path))
    key_values = {key: _text(held) for key, held in header.metadata.items() if key not in _OWN_KEYS}
    record = find_record(header.schema)
    fields = record["fields"] if record is not None else ()
    return AvroFacts(
        num_rows=sum(block.count for block in blocks),
        num_blocks=len(blocks),
        columns=tuple(
            AvroColumn(entry["name"], _format_type(entry["type"]), entry.get("field-id")) for entry in fields
        ),
        codec=header.codec,
        blocks_size=sum(block.size for block in blocks),
        key_values=key_values,
        header=header,
    )


def _format_type(schema: Any) -> str:
    if isinstance(schema, list):
        others = [branch for branch in schema if branch != "null"]
        if len(others) == 1:
            return f"{_format_type(others[0])}?"
        return " | ".join(_format_type(branch) for branch in schema)
    if isinstance(schema, str):
        return schema
    if not isinstance(schema, dict):
        return json.dumps(schema, default=str)
    kind, logical = schema.get("type"), schema.get("logicalType")
    if kind == "array":
        return f"array<{_format_type(schema.get('items'))}>"
    if kind == "map":
        return f"map<{_format_type(schema.get('values'))}>"
    if kind == "record":
        parts = (f"{entry['name']}: {_format_type(entry['type'])}" for entry in schema["fields"])
        return f"record<{', '.join(parts)}>"
    word = f"fixed[{schema.get('size')}]" if kind == "fixed" else _format_type(kind)
    return f"{word} ({logical})" if isinstance(logical, str) else word


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
