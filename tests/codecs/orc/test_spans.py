"""ORC files byte by byte: against pyarrow's facts over files of any options, and damage that names the place."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.orc.chunk_spans import Compression, explain_message_section, read_section
from lakelens.codecs.orc.footer import decode_footer
from lakelens.codecs.orc.protobuf import FOOTER, Many, Message, explain_message
from lakelens.codecs.orc.spans import explain_orc
from lakelens.codecs.span.reader import Enum
from lakelens.codecs.span.span import Span
from lakelens.errors import Corrupt, LakeError
from tests.support.span_checks import assert_survives, assert_tiles, find_error

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("text", pa.string()),
        ("real", pa.float64()),
        ("tags", pa.list_(pa.int32())),
        ("inner", pa.struct([("x", pa.int32())])),
        ("pairs", pa.map_(pa.string(), pa.int64())),
    ]
)
ROWS = st.fixed_dictionaries(
    {
        "id": st.none() | st.integers(-(2**63), 2**63 - 1),
        "text": st.none() | st.text(max_size=6),
        "real": st.none() | st.floats(allow_nan=False),
        "tags": st.none() | st.lists(st.integers(0, 9), max_size=3),
        "inner": st.none() | st.fixed_dictionaries({"x": st.integers(0, 9)}),
    }
)
OPTIONS = st.fixed_dictionaries(
    {
        "compression": st.sampled_from(["uncompressed", "snappy", "zlib", "zstd", "lz4"]),
        "compression_block_size": st.sampled_from([65536, 131072]),
        "row_index_stride": st.sampled_from([2, 10_000]),
        "dictionary_key_size_threshold": st.sampled_from([0.0, 1.0]),
        "bloom_filter_columns": st.sampled_from([[], [0, 1]]),
        "file_version": st.sampled_from(["0.11", "0.12"]),
    }
)


def written(rows: list[dict[str, Any]], schema: pa.Schema = SCHEMA, **options: Any) -> bytes:
    sink = io.BytesIO()
    pa.orc.write_table(pa.Table.from_pylist(rows, schema), sink, **options)
    return sink.getvalue()


def walk_whole(span: Span) -> Iterator[Span]:
    """Every span, those of decompressed content too, which must tile as well."""
    for node in span.walk():
        yield node
        if node.is_packed:
            content, inner = node.unpack()
            assert_tiles(inner, 0, len(content))
            yield from walk_whole(inner)


@settings(max_examples=40)
@given(st.lists(ROWS, max_size=6), OPTIONS)
def test_files_of_any_options(rows: list[dict[str, Any]], options: dict[str, Any]) -> None:
    data = written(rows, **options)
    root = explain_orc(data)
    assert_tiles(root, 0, len(data))
    root.check()
    facts = decode_footer(io.BytesIO(data))
    assert root.value == facts
    parts = {part.label: part for part in root.children}
    footer, postscript = parts["footer"].value, parts["postscript"].value
    assert footer.get("numberOfRows", 0) == facts.num_rows == len(rows)
    assert len(footer.get("stripes", [])) == facts.num_stripes
    assert (footer["headerLength"], footer["contentLength"]) == (3, facts.content_length)
    assert footer.get("rowIndexStride", 0) == facts.row_index_stride
    assert [len(parts["footer"]), len(parts["postscript"])] == [facts.footer_length, facts.postscript_length]
    assert postscript["compression"] == facts.compression.replace("UNCOMPRESSED", "NONE")
    assert ".".join(map(str, postscript["version"])) == facts.file_version
    assert footer["statistics"][0].get("numberOfValues", 0) == len(rows)
    assert [kind["kind"] for kind in footer["types"]][:4] == ["STRUCT", "LONG", "STRING", "DOUBLE"]
    assert sum(stripe["numberOfRows"] for stripe in footer.get("stripes", [])) == len(rows)
    assert not [node for node in walk_whole(root) if node.role in ("unexplained", "damage")]
    ids = [row["id"] for row in rows if row["id"] is not None]
    told = footer["statistics"][1].get("intStatistics", {})
    assert (told.get("minimum"), told.get("maximum")) == ((min(ids), max(ids)) if ids else (None, None))


def test_streams_are_named_by_their_columns() -> None:
    rows = [{"id": i, "text": str(i), "tags": [i], "pairs": [("k", i)]} for i in range(20)]
    data = written(rows, compression="zlib", row_index_stride=5)
    (stripe,) = [part for part in explain_orc(data).children if part.label == "stripe 0"]
    index, streams, footer = stripe.children
    labels = [stream.label for stream in streams.children]
    assert "DATA of id" in labels and "LENGTH of tags" in labels and "DATA of tags.element" in labels
    assert "DATA of pairs.key" in labels or "DICTIONARY_DATA of pairs.key" in labels
    (rows_of_id,) = [stream for stream in index.children if stream.label == "ROW_INDEX of id"]
    bounds = [entry["statistics"]["intStatistics"] for entry in rows_of_id.value["entry"]]
    assert [(b["minimum"], b["maximum"]) for b in bounds] == [(0, 4), (5, 9), (10, 14), (15, 19)]
    assert [stream["length"] for stream in footer.value["streams"] if stream["length"]] == [
        *(len(stream) for stream in index.children),
        *(len(stream) for stream in streams.children),
    ]


class CountingOctets:
    """Bytes that note how many of them were read."""

    def __init__(self, data: bytes) -> None:
        self.data, self.read = data, 0

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, key: Any) -> Any:
        part = self.data[key]
        self.read += len(part) if isinstance(part, bytes) else 1
        return part


def test_a_file_is_read_no_further_than_it_is_explained() -> None:
    rows = [{"id": i * 7919 % 2**61, "text": f"{i * 104729}"} for i in range(20_000)]
    data = written(rows, compression="uncompressed", row_index_stride=10_000)
    octets = CountingOctets(data)
    root = explain_orc(octets)
    (stripe,) = [part for part in root.children if part.label.startswith("stripe")]
    assert [len(part.children) > 2 for part in stripe.children] == [True, True, True]
    assert octets.read < len(data) / 10


def test_stripes_follow_each_other() -> None:
    rows = [{"id": i * 7919 % 10_007, "text": f"{i * 31}"} for i in range(40_000)]
    data = written(rows, compression="zstd", stripe_size=1024, batch_size=1000)
    root = explain_orc(data)
    root.check()
    footer = root.children[-3].value
    stripes = [part for part in root.children if part.label.startswith("stripe ")]
    assert len(stripes) == root.value.num_stripes > 1
    assert [part.start for part in stripes] == [stripe["offset"] for stripe in footer["stripes"]]
    moved = explain_orc(b"xx" + data + b"y", 2, 2 + len(data))
    assert [part.start - 2 for part in moved.children] == [part.start for part in root.children]
    assert moved.value.num_rows == len(rows)


@pytest.mark.exhaustive
@pytest.mark.parametrize("compression", ["uncompressed", "zlib"])
def test_cut_and_flipped(compression: str) -> None:
    data = written([{"id": 1, "text": "a", "tags": [1]}, {"id": 2}], compression=compression)
    assert_survives(explain_orc, data, flips=150)


def test_what_does_not_end_as_orc_is_refused() -> None:
    data = written([{"id": 1}])
    for length in range(len(data)):
        error = find_error(explain_orc(data[:length]))
        assert isinstance(error, Corrupt) and error.offset is not None
        with pytest.raises(LakeError):
            _ = explain_orc(data[:length]).value


def test_a_message_over_several_chunks() -> None:
    rows = [{"text": f"{i * 7919}" * 9} for i in range(30_000)]
    schema = pa.schema([("text", pa.string())])
    data = written(rows, schema, compression="zlib", compression_block_size=65536, row_index_stride=30)
    root = explain_orc(data)
    root.check()
    sections = [node for node in root.walk() if node.label.startswith("ROW_INDEX of text")]
    several = [section for section in sections if len(section.children) > 1]
    assert several
    packed = [leaf for leaf in several[0].leaves() if leaf.is_packed]
    content, inner = packed[0].unpack()
    assert_tiles(inner, 0, len(content))
    assert inner.value == several[0].value and len(inner.value["entry"]) == 1000


def test_chunks_as_they_are() -> None:
    message = bytes.fromhex("08 03 30 05")  # headerLength 3, numberOfRows 5
    zlib = Compression("ZLIB", 1024)
    whole = (len(message) << 1 | 1).to_bytes(3, "little") + message
    halves = b"".join((2 << 1 | 1).to_bytes(3, "little") + message[at : at + 2] for at in (0, 2))
    for data in (whole, halves):
        span = explain_message_section(data, 0, len(data), FOOTER, "footer", zlib)
        assert_tiles(span, 0, len(data))
        span.check()
        assert span.value == {"headerLength": 3, "numberOfRows": 5}
        assert_survives(lambda b: explain_message_section(b, 0, len(b), FOOTER, "footer", zlib), data)
    for bad in (Compression("LZO", 1024), Compression("ZLIB", 1 << 30)):
        with pytest.raises(LakeError):
            read_section(b"\x02\0\0a", 0, 4, bad)


SAMPLE = Message(
    "Sample",
    {
        1: ("signed", "sint"),
        2: ("texts", Many("text")),
        3: ("numbers", Many("uint")),
        4: ("word", Enum("Word", {0: "NONE", 1: "SOME"})),
        5: ("real", "double"),
        6: ("inner", Message("Inner", {1: ("flag", "bool"), 2: ("fixed", Many("fixed64"))})),
    },
)


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def framed(number: int, body: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(body)) + body


@given(
    st.integers(-(2**63), 2**63 - 1),
    st.lists(st.text(max_size=3), max_size=3),
    st.lists(st.integers(0, 2**64 - 1), max_size=5),
    st.booleans(),
    st.floats(allow_nan=False),
    st.lists(st.integers(0, 2**64 - 1), max_size=3),
    st.integers(0, 2**64 - 1),
)
def test_messages(
    signed: int,
    texts: list[str],
    numbers: list[int],
    packed: bool,
    real: float,
    fixed: list[int],
    unknown: int,
) -> None:
    data = b"\x08" + varint(signed << 1 ^ signed >> 63)
    data += b"".join(framed(2, text.encode()) for text in texts)
    plain = b"".join(b"\x18" + varint(number) for number in numbers)
    data += framed(3, b"".join(map(varint, numbers))) if packed else plain
    data += b"\x20\x01" + b"\x29" + struct.pack("<d", real)
    data += framed(6, b"\x08\x01" + framed(2, struct.pack(f"<{len(fixed)}Q", *fixed)))
    data += varint(99 << 3) + varint(unknown)
    span = explain_message(data, SAMPLE)
    assert_tiles(span, 0, len(data))
    span.check()
    expected = {"signed": signed, "texts": texts, "numbers": numbers, "word": "SOME", "real": real}
    expected |= {"inner": {"flag": True, "fixed": fixed}, "field 99": unknown}
    assert span.value == {
        name: value for name, value in expected.items() if value != [] or (name == "numbers" and packed)
    }
    assert_survives(lambda piece: explain_message(piece, SAMPLE), data, flips=16)


@settings(max_examples=200)
@given(st.binary(max_size=50))
def test_messages_of_any_bytes(data: bytes) -> None:
    span = explain_message(data, SAMPLE)
    assert_tiles(span, 0, len(data))
    error = find_error(span)
    try:
        _ = span.value
    except Corrupt as failure:
        assert isinstance(error, Corrupt) and error.offset == failure.offset
    else:
        assert error is None


def test_many_fields_come_in_groups() -> None:
    data = framed(2, b"a") * 3000 + framed(3, b"\x07" * 5000)
    span = explain_message(data, SAMPLE)
    assert_tiles(span, 0, len(data))
    assert max(len(node.children) for node in span.walk()) < 1100
    assert (len(span.value["texts"]), len(span.value["numbers"])) == (3000, 5000)
    assert span.find(2999 * 3 + 2).label == "texts[2999]"
    assert span.find(len(data) - 1).label == "[4999]"
