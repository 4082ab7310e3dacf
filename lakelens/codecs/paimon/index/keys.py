"""The values of a column inside Paimon's file indexes: texts with their length, all others of a fixed width.

    CHAR, VARCHAR, STRING            i32 length | UTF-8
    BOOLEAN, TINYINT                 1 byte          SMALLINT  i16          INT, DATE, TIME  i32
    BIGINT, DECIMAL (unscaled), TIMESTAMP (milliseconds up to precision 3, else microseconds)  i64
    FLOAT  f32    DOUBLE  f64

Everything is big-endian.
"""

from __future__ import annotations

from typing import Literal

from lakelens.codecs.paimon.types import TypeLike
from lakelens.codecs.paimon.types_sql import parse_type
from lakelens.codecs.span.reader import SpanReader
from lakelens.codecs.span.span import Span
from lakelens.errors import LakeError

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
    """How values of a Paimon type lie in an index; None when no index holds such values or the type is not known.

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
    """The next value. Raises `Corrupt` when it does not fit.

    >>> read_key(SpanReader(bytes.fromhex("0000000161"), 0, 5, "an index"), "text", "value").value
    'a'
    """
    if layout != "text":
        return reader.number(layout, label)
    size = reader.number(">i", "length")
    at = reader.at
    data = reader.octets(size.value, label)
    try:
        value: str | bytes = data.decode()
        note = "UTF-8"
    except UnicodeDecodeError:
        value, note = data, "not UTF-8"
    return Span(size.start, reader.at, label, value, note, (size, Span(at, reader.at, "text", value, note)))
