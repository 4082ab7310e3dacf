"""Changes inside an Avro file: its header, its schema, the records by the writer's schema, the content as plain bytes.

Whatever is changed, the file is written again without compression and with its sync marker, so that the rest is right.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import fastavro

from lakelens.codecs.avro.container import CODECS, SYNC_SIZE, decode_header
from lakelens.codecs.compression import decompress
from tests.fuzz.hostile import AVRO, CONTENTS


class AvroParts:
    """An Avro file taken apart: key/values of the header, and blocks as a count and plain content."""

    def __init__(self, data: bytes) -> None:
        header = decode_header(data)
        self.keys = dict(header.metadata)
        self.marker = header.sync_marker
        self.blocks = list(self._read_blocks(data, header.header_size, header.codec))

    def _read_blocks(self, data: bytes, at: int, codec: str) -> Iterator[tuple[int, bytes]]:
        while at < len(data):
            count, at = read_number(data, at)
            size, at = read_number(data, at)
            held = data[at : at + size]
            if CODECS[codec]:
                held = held[:-4] if codec == "snappy" else held
                held = decompress(CODECS[codec], held, 1 << 26)
            yield count, held
            at += size + SYNC_SIZE

    def build(self) -> bytes:
        """The file again, without compression."""
        keys = {**self.keys, "avro.codec": self.keys.get("avro.codec!", b"null")}
        keys.pop("avro.codec!", None)
        out = [b"Obj\x01", write_number(len(keys))]
        for key, value in keys.items():
            name = key.encode("utf-8", "surrogatepass")
            out += [write_number(len(name)), name, write_number(len(value)), value]
        out += [b"\0", self.marker]
        for count, held in self.blocks:
            out += [write_number(count), write_number(len(held)), held, self.marker]
        return b"".join(out)

    @property
    def schema(self) -> Any:
        """The writer's schema without logical types: values as they are stored."""
        return _strip(json.loads(self.keys["avro.schema"]))

    def read_records(self) -> list[list[Any]]:
        """The records of each block."""
        read = fastavro.parse_schema(self.schema)
        found = []
        for count, held in self.blocks:
            source = io.BytesIO(held)
            found.append([fastavro.schemaless_reader(source, read, None) for _ in range(count)])
        return found

    def write_records(self, blocks: list[list[Any]]) -> None:
        """Other records in the blocks."""
        written = fastavro.parse_schema(self.schema)
        self.blocks = []
        for records in blocks:
            target = io.BytesIO()
            for record in records:
                fastavro.schemaless_writer(target, written, record)
            self.blocks.append((len(records), target.getvalue()))


def read_number(data: bytes, at: int) -> tuple[int, int]:
    """A zigzag number, and the byte after it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return (value >> 1) ^ -(value & 1), at


def write_number(value: int) -> bytes:
    """A number as Avro writes it."""
    rest, out = ((value << 1) ^ (value >> 63)) & (2**64 - 1), bytearray()
    while rest > 127:
        out.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*out, rest])


def _strip(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _strip(value) for key, value in schema.items() if key != "logicalType"}
    return [_strip(item) for item in schema] if isinstance(schema, list) else schema


def list_values(schema: Any, records: list[Any]) -> Iterator[tuple[list[Any], str]]:
    """Where in the records a value of a primitive type is, and its type; one of each union's branches as it is written."""
    for number, record in enumerate(records):
        for at, kind in _walk(schema, record):
            yield [number, *at], kind


def _walk(schema: Any, value: Any) -> Iterator[tuple[list[Any], str]]:
    if isinstance(schema, list):
        kinds = [one for one in schema if one != "null"]
        if value is None or len(kinds) != 1:
            yield [], "null" if not kinds else (kinds[0] if isinstance(kinds[0], str) else "null")
            return
        schema = kinds[0]
    kind = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(kind, dict | list):
        yield from _walk(kind, value)
    elif kind == "record":
        for field in schema["fields"]:
            for at, inner in _walk(field["type"], value[field["name"]]):
                yield [field["name"], *at], inner
    elif kind == "array":
        for number, item in enumerate(value[:2]):
            for at, inner in _walk(schema["items"], item):
                yield [number, *at], inner
    elif kind == "map":
        for key in list(value)[:2]:
            for at, inner in _walk(schema["values"], value[key]):
                yield [key, *at], inner
    elif kind in AVRO:
        yield [], kind


def change_avro(data: bytes, edit: dict[str, Any]) -> bytes:
    """An Avro file with one thing changed: `do` is header, schema, value, content, count, codec, drop or repeat."""
    from tests.fuzz.mutate import change_json_text

    parts = AvroParts(data)
    what = edit["do"]
    if what == "header":
        parts.keys[edit["key"]] = CONTENTS[edit["value"]]
    elif what == "drop":
        del parts.keys[edit["key"]]
    elif what == "document":
        text = parts.keys[edit["key"]].decode()
        changed = change_json_text(text, {**edit, "do": edit["node"]})
        parts.keys[edit["key"]] = changed.encode("utf-8", "surrogatepass")
    elif what == "codec":
        parts.keys["avro.codec!"] = edit["name"].encode()
    elif what == "count":
        parts.blocks[0] = (edit["count"], parts.blocks[0][1])
    elif what == "repeat":
        parts.blocks *= 2
    elif what == "content":
        count, held = parts.blocks[0]
        content = bytearray(held)
        for at, cut, put in edit["puts"]:
            content[at : at + cut] = bytes.fromhex(put)
        parts.blocks[0] = (count, bytes(content))
    elif what == "value":
        _change_value(parts, edit)
    else:
        raise ValueError(what)
    return parts.build()


def _change_value(parts: AvroParts, edit: dict[str, Any]) -> None:
    blocks = parts.read_records()
    records = [record for block in blocks for record in block]
    *steps, last = edit["at"]
    holder: Any = records
    for step in steps:
        holder = holder[step]
    holder[last] = None if edit["type"] == "null" else AVRO[edit["type"]][edit["value"]]
    parts.write_records(blocks)
