"""Any file of metadata as a document: what values it has and where, one of them put in another's place, written again.

A place is a path: keys and numbers in JSON and in the footer of a Puffin file; `["header", key, …]` and
`["records", number, field, …]` in an Avro file; `["keys", key, …]` and `["rows", number, column, …]` in Parquet and ORC;
`[]` is the whole text of a hint.
"""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Iterator
from typing import Any, Protocol

from tests.fuzz.avro_edits import AvroParts
from tests.fuzz.column_edits import Columns

Place = list[Any]
_MOST_ITEMS = 40  # of a list, whose values are listed


class Document(Protocol):
    """A file taken apart."""

    tree: Any

    def build(self) -> bytes:
        """The file again."""


class JsonDocument:
    """JSON, packed or not."""

    def __init__(self, data: bytes) -> None:
        self.is_packed = data[:2] == b"\x1f\x8b"
        self.tree = json.loads(gzip.decompress(data) if self.is_packed else data)

    def build(self) -> bytes:
        """The file again."""
        data = json.dumps(self.tree).encode("utf-8", "surrogatepass")
        return gzip.compress(data, mtime=0) if self.is_packed else data


class HintDocument:
    """A text, of a number most often."""

    def __init__(self, data: bytes) -> None:
        text = data.decode()
        self.tree = int(text) if text.isdigit() else text

    def build(self) -> bytes:
        """The file again."""
        return str(self.tree).encode("utf-8", "surrogatepass")


class PuffinDocument:
    """The footer of a Puffin file, whose blobs stay."""

    def __init__(self, data: bytes) -> None:
        (size,) = struct.unpack("<i", data[-12:-8])
        self.blobs, self.tail = data[: len(data) - 12 - size], data[-8:]
        self.tree = json.loads(data[len(data) - 12 - size : -12])

    def build(self) -> bytes:
        """The file again."""
        footer = json.dumps(self.tree).encode("utf-8", "surrogatepass")
        return self.blobs + footer + struct.pack("<i", len(footer)) + self.tail


class AvroDocument:
    """The header of an Avro file, JSON in it taken apart too, and its records."""

    def __init__(self, data: bytes) -> None:
        self.parts = AvroParts(data)
        read = self.parts.read_records()
        self.blocks = [len(records) for records in read]
        header = {key: _parse(value) for key, value in self.parts.keys.items()}
        self.tree = {"header": header, "records": [record for records in read for record in records]}

    def build(self) -> bytes:
        """The file again: records by the writer's schema as it was, below a header that may say otherwise."""
        records = self.tree["records"]
        if len(records) == sum(self.blocks):
            numbers = iter(records)
            self.parts.write_records([[next(numbers) for _ in range(count)] for count in self.blocks])
        else:
            self.parts.write_records([records])
        for key, value in self.tree["header"].items():
            if json.dumps(value) != json.dumps(_parse(self.parts.keys.get(key, b""))):
                text = value if isinstance(value, str) else json.dumps(value)
                is_codec = key == "avro.codec"  # else it is that of the content, which is none
                self.parts.keys[key + "!" * is_codec] = text.encode("utf-8", "surrogatepass")
        return self.parts.build()


class ColumnDocument:
    """The key-values and the rows of a Parquet or ORC file."""

    def __init__(self, data: bytes) -> None:
        self.columns = Columns(data)
        self.tree = {"keys": self.columns.read_keys(), "rows": self.columns.read_rows()}

    def build(self) -> bytes:
        """The file again."""
        self.columns.put_rows(self.tree["rows"])
        self.columns.put_keys(self.tree["keys"])
        return self.columns.build()


def _parse(value: bytes) -> Any:
    text = value.decode("utf-8", "surrogateescape")
    if text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


KINDS: dict[str, type[Document]] = {
    "json": JsonDocument,
    "avro": AvroDocument,
    "puffin": PuffinDocument,
    "parquet": ColumnDocument,
    "orc": ColumnDocument,
}


def open_document(data: bytes) -> Document:
    """A file as a document. Raises what its parts raise when it is none."""
    from tests.fuzz.choose import find_kind

    return KINDS.get(find_kind(data), HintDocument)(data)


def list_places(tree: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Place, Any]]:
    """Every value below, those of lists and objects too, each with its place."""
    yield list(at), tree
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from list_places(value, (*at, key))
    elif isinstance(tree, list):
        for number, value in enumerate(tree[:_MOST_ITEMS]):
            yield from list_places(value, (*at, number))


def read_place(tree: Any, at: Place) -> Any:
    """The value at a place."""
    for step in at:
        tree = tree[step]
    return tree


def put_place(document: Document, at: Place, value: Any) -> None:
    """Another value at a place."""
    if not at:
        document.tree = value
        return
    *steps, last = at
    holder = read_place(document.tree, steps)
    holder[last]  # it is there
    holder[last] = value


def encode_value(value: Any) -> Any:
    """A value as a recipe keeps it."""
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def decode_value(value: Any) -> Any:
    """A value as it was before it was kept in a recipe."""
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) and set(value) == {"hex"} else value
