"""The values of a column inside Paimon's indexes: texts with their length, all others of a fixed width; and names.

    CHAR, VARCHAR, STRING            i32 length | UTF-8
    BOOLEAN, TINYINT                 1 byte          SMALLINT  i16          INT, DATE, TIME  i32
    BIGINT, DECIMAL (unscaled), TIMESTAMP (milliseconds up to precision 3, else microseconds)  i64
    FLOAT  f32    DOUBLE  f64

    name                             u16 length | modified UTF-8 (Java `writeUTF`)

Everything is big-endian, but for the values in global indexes: there they are little-endian, and have their length before.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Literal

from lakelens.codecs.paimon.types import TypeLike, parse_type
from lakelens.codecs.span.reader import SpanReader
from lakelens.codecs.span.span import Span
from lakelens.errors import Corrupt, LakeError

#: A `struct` layout, or "text".
KeyLayout = Literal["text", ">?", ">b", ">h", ">i", ">q", ">f", ">d"]

_LAYOUTS: dict[str, KeyLayout] = {
    "CHAR": "text",
    "VARCHAR": "text",
    "BOOLEAN": ">?",
    "TINYINT": ">b",
    "SMALLINT": ">h",
    "INT": ">i",
    "DATE": ">i",
    "TIME": ">i",
    "BIGINT": ">q",
    "DECIMAL": ">q",
    "TIMESTAMP": ">q",
    "TIMESTAMP_LTZ": ">q",
    "FLOAT": ">f",
    "DOUBLE": ">d",
}


def choose_layout(type_: TypeLike | None) -> KeyLayout | None:
    """How values of a Paimon type are stored in an index; None when no index holds such values or the type is unknown.

    >>> choose_layout("STRING NOT NULL"), choose_layout("DATE"), choose_layout("ARRAY<INT>"), choose_layout(None)
    ('text', '>i', None, None)
    """
    if type_ is None:
        return None
    try:
        return _LAYOUTS.get(parse_type(type_).name)
    except LakeError:
        return None


def read_key(reader: SpanReader, layout: KeyLayout, label: str) -> Span:
    """Read the next value. Raises `Corrupt` when it does not fit.

    >>> read_key(SpanReader(bytes.fromhex("0000000161"), 0, 5, "an index"), "text", "value").value
    'a'
    """
    if layout != "text":
        return reader.number(layout, label)
    size = reader.number(">i", "length")
    at = reader.at
    value, note = decode_key("text", reader.octets(size.value, label))
    return Span(size.start, reader.at, label, value, note, (size, Span(at, reader.at, "text", value, note)))


def decode_key(layout: KeyLayout | None, data: bytes) -> tuple[Any, str]:
    """Decode a key of a global index and how it is encoded; bytes when its layout is unknown.

    >>> decode_key(">i", bytes.fromhex("05000000")), decode_key("text", b"a"), decode_key(None, b"a")
    ((5, 'little-endian'), ('a', 'UTF-8'), (b'a', 'bytes'))
    """
    if layout == "text":
        try:
            return data.decode(), "UTF-8"
        except UnicodeDecodeError:
            return data, "not UTF-8"
    if layout is None or struct.calcsize(layout) != len(data):
        return data, "bytes"
    return struct.unpack(f"<{layout[-1]}", data)[0], "little-endian"


def explain_name(reader: SpanReader, label: str) -> Iterator[Span]:
    """Explain the length and the characters of a name. Raises `Corrupt`.

    >>> list(explain_name(SpanReader(bytes.fromhex("000361c080"), 0, 5, "an index"), "name"))
    [<Span 0..2 name length = 3>, <Span 2..5 name = 'a\\x00'>]
    """
    size = reader.number(">H", f"{label} length")
    yield size
    at = reader.at
    data = reader.octets(size.value, f"the {label}")
    try:
        # zero is C0 80, characters beyond 16 bits are two surrogates of three bytes each
        text = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        text = text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeError as error:
        raise Corrupt(f"the {label} is not UTF-8", offset=at, seen=data[:40].hex()) from error
    yield Span(at, reader.at, label, text, "modified UTF-8")
