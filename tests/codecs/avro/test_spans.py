"""Avro explained: equal to the decoder over generated files, exact to the byte, and calm about any bytes."""

from __future__ import annotations

import io
import json
import math
from itertools import islice
from pathlib import Path
from typing import Any

import fastavro
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakelens.codecs.avro.container import SYNC_SIZE, encode_header, encode_long
from lakelens.codecs.avro.records import decode_records
from lakelens.codecs.avro.schema import compile_schema, write_plain
from lakelens.codecs.avro.spans import explain_avro, explain_avro_record
from lakelens.codecs.span.span import Span
from lakelens.errors import Corrupt, LakeError, Unsupported
from tests.support import LAKES
from tests.support.span_checks import assert_survives, assert_tiles, find_error

SYNC = b"0123456789abcdef"
CODECS = ("null", "deflate", "snappy", "zstandard", "bzip2", "xz")


def field(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": kind}


def make_file(schema: Any, blocks: list[tuple[int, bytes]], **entries: bytes) -> bytes:
    """A file of codec null whose blocks have these counts and contents."""
    header = {
        "avro.schema": json.dumps(schema).encode(),
        **{k.replace("_", "."): v for k, v in entries.items()},
    }
    parts = [encode_long(count) + encode_long(len(content)) + content + SYNC for count, content in blocks]
    return encode_header(header, SYNC) + b"".join(parts)


def write_file(schema: Any, records: list[Any], codec: str, interval: int = 16000) -> bytes:
    stream = io.BytesIO()
    fastavro.writer(stream, schema, records, codec=codec, sync_marker=SYNC, sync_interval=interval)
    return stream.getvalue()


def same(left: Any, right: Any) -> bool:
    """Equality that holds NaN equal to itself."""
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    return type(left) is type(right) and bool(left == right)


def find(span: Span, *labels: str) -> Span:
    """The span under these labels, through decompressed content too."""
    for label in labels:
        if span.is_packed:
            span = span.unpack()[1]
        span = next(child for child in span.children if child.label == label)
    return span


def read_tree(span: Span) -> Any:
    """What a record is, from the leaves alone."""
    return {child.label: child.value for child in span.children}


# ------------------------------------------------------------------ generated schemas and records

SCALARS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    ("null", st.none()),
    ("boolean", st.booleans()),
    ("int", st.integers(-(2**31), 2**31 - 1)),
    ("long", st.integers(-(2**63), 2**63 - 1)),
    ("float", st.floats(width=32)),
    ("double", st.floats()),
    ("bytes", st.binary(max_size=80)),
    ("string", st.text(max_size=80)),
    ({"type": "long", "logicalType": "no-such-type"}, st.integers(-5, 5)),
]


@st.composite
def typed(draw: st.DrawFn, names: list[str], depth: int = 0, union: bool = True) -> Any:
    """A schema, and a strategy of its values."""
    kinds = ["scalar"] * 4 + ["fixed", "enum"]
    kinds += ["array", "map", "record"] if depth < 3 else []
    kinds += ["union", "union"] if union and depth < 3 else []
    kind = draw(st.sampled_from(kinds))
    name = f"t{len(names)}"
    if kind in ("fixed", "enum", "record"):
        names.append(name)
    if kind == "fixed":
        size = draw(st.integers(0, 20))
        return {"type": "fixed", "name": name, "size": size}, st.binary(min_size=size, max_size=size)
    if kind == "enum":
        return {"type": "enum", "name": name, "symbols": ["a", "b", "c"]}, st.sampled_from("abc")
    if kind == "record":
        parts = draw(st.lists(typed(names, depth + 1), max_size=4))
        fields = [{"name": f"f{i}", "type": part[0]} for i, part in enumerate(parts)]
        values = st.fixed_dictionaries({f"f{i}": part[1] for i, part in enumerate(parts)})
        return {"type": "record", "name": name, "fields": fields}, values
    if kind == "union":
        part = draw(typed(names, depth + 1, union=False).filter(lambda part: part[0] != "null"))
        return ["null", part[0]], st.none() | part[1]
    if kind in ("array", "map"):
        part = draw(typed(names, depth + 1))
        items = {
            "type": "record",
            "name": f"i{name}{len(names)}",
            "fields": [field("n", "int"), field("v", part[0])],
        }
        names.append(str(items["name"]))
        value = st.fixed_dictionaries({"n": st.integers(0, 9), "v": part[1]})
        if kind == "array":
            return {"type": "array", "items": items}, st.lists(value, max_size=4)
        return {"type": "map", "values": items}, st.dictionaries(st.text(max_size=5), value, max_size=4)
    return draw(st.sampled_from(SCALARS))


@st.composite
def files(draw: st.DrawFn) -> bytes:
    names: list[str] = []
    parts = draw(st.lists(typed(names), min_size=1, max_size=5))
    fields = [field(f"c{i}", part[0]) for i, part in enumerate(parts)]
    row = st.fixed_dictionaries({f"c{i}": part[1] for i, part in enumerate(parts)})
    rows = draw(st.lists(row, max_size=6))
    schema = {"type": "record", "name": "root", "fields": fields}
    return write_file(schema, rows, draw(st.sampled_from(CODECS)), draw(st.sampled_from((1, 16000))))


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(files())
def test_explains_what_the_decoder_gives(data: bytes) -> None:
    span = explain_avro(data)
    span.check()
    assert_tiles(span, 0, len(data))
    expected = decode_records(data)
    assert same(span.value, expected)
    blocks = [child for child in span.children if child.label.startswith("block")]
    assert same([record for block in blocks for record in block.value], expected)
    told: list[Any] = []
    for block in blocks:
        records = next(child for child in block.children if child.label == "records")
        if records.is_packed:
            content, records = records.unpack()
            assert_tiles(records, 0, len(content))
        for record in records.children:
            told.extend(record.value if record.label == "records" else [record.value])
            assert record.label == "records" or same(read_tree(record), record.value)
    assert same(told, expected)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(files(), st.data())
def test_survives_damage(data: bytes, source: st.DataObject) -> None:
    cut = data[: source.draw(st.integers(0, len(data) - 1))]
    place = source.draw(st.integers(0, len(data) * 8 - 1))
    flipped = bytearray(data)
    flipped[place // 8] ^= 1 << place % 8
    for damaged in (cut, bytes(flipped)):
        span = explain_avro(damaged)
        assert_tiles(span, 0, len(damaged))
        error = find_error(span)
        assert error is None or not isinstance(error, Corrupt) or error.offset is not None
        try:
            expected = decode_records(damaged)
        except LakeError:
            assert error is not None
        else:
            assert error is not None or same(span.value, expected)


NESTED = {
    "type": "record",
    "name": "r",
    "fields": [
        field("a", ["null", "string"]),
        field("b", {"type": "array", "items": {"type": "map", "values": "long"}}),
        field("c", ["null", {"type": "record", "name": "s", "fields": [field("d", "double")]}]),
        field("e", {"type": "enum", "name": "e", "symbols": ["x", "y"]}),
        field("f", "boolean"),
    ],
}
ROWS = [
    {"a": "é" * 5, "b": [{"k": 2**40}], "c": {"d": 0.5}, "e": "y", "f": True},
    {"a": None, "b": [], "c": None, "e": "x", "f": False},
]


def test_every_flipped_bit_of_records_is_refused_or_read_as_the_decoder_does() -> None:
    data = write_file(NESTED, ROWS * 2, "null", 1)
    first = data.index(SYNC) + len(SYNC)
    read = 0
    for bit in range(first * 8, len(data) * 8):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        span = explain_avro(bytes(flipped))
        error = find_error(span)
        try:
            expected = decode_records(bytes(flipped))
        except LakeError:
            assert error is not None, bit
            continue
        if error is None:
            assert same(span.value, expected), bit
            read += 1
        else:  # the decoder's library takes the last branch and the last symbol for -1, -2 …
            assert "no branch of the union" in str(error) or "no symbol of the enum" in str(error), (
                bit,
                error,
            )
    assert read > 100


@pytest.mark.parametrize("codec", CODECS)
def test_survives_every_cut(codec: str) -> None:
    data = write_file(NESTED, ROWS * 3, codec, 1)
    assert find_error(explain_avro(data)) is None
    assert_survives(explain_avro, data)


# ------------------------------------------------------------------ each part by name


def test_names_every_part_of_a_file() -> None:
    schema = {"type": "record", "name": "r", "fields": [field("a", ["null", "string"]), field("b", "long")]}
    data = make_file(
        schema, [(2, bytes([2, 4]) + b"hi" + bytes([0x8F, 1]) + bytes([0, 2]))], avro_codec=b"null"
    )
    span = explain_avro(data)
    assert [child.label for child in span.children] == ["magic", "header", "sync marker", "block 0"]
    assert [child.label for child in find(span, "header").children] == [
        "count",
        "avro.schema",
        "avro.codec",
        "end of the map",
    ]
    codec = find(span, "header", "avro.codec")
    assert [(leaf.label, leaf.value) for leaf in codec.children] == [
        ("key size", 10),
        ("key", "avro.codec"),
        ("value size", 4),
        ("value", "null"),
    ]
    block = find(span, "block 0")
    assert [(leaf.label, leaf.value) for leaf in block.children[:2]] == [("count", 2), ("size", 8)]
    first, second = find(block, "records").children
    assert (first.label, first.value) == ("record 0", {"a": "hi", "b": -72})
    assert [(leaf.label, leaf.value, len(leaf)) for leaf in first.leaves()] == [
        ("union branch", 1, 1),
        ("size", 2, 1),
        ("text", "hi", 2),
        ("b", -72, 2),
    ]
    assert find(first, "b").note == "long, varint, zigzag: 2 bytes"
    null = find(second, "a")
    assert (null.value, null.role, null.note, null.number) == (None, "null", "union branch 0: null", 0)


def test_tells_array_and_map_blocks_with_their_sizes() -> None:
    schema = {
        "type": "record",
        "name": "r",
        "fields": [
            field("a", {"type": "array", "items": "int"}),
            field("m", {"type": "map", "values": "int"}),
        ],
    }
    array = encode_long(-2) + encode_long(3) + bytes([2, 0x8F, 1]) + encode_long(1) + bytes([6, 0])
    mapped = encode_long(-1) + encode_long(3) + bytes([2]) + b"k" + bytes([4, 0])
    data = array + mapped
    span = explain_avro_record(data, schema=schema)
    span.check()
    assert span.value == {"a": [1, -72, 3], "m": {"k": 2}}
    assert [(leaf.label, leaf.value) for leaf in span.children[0].leaves()] == [
        ("count", -2),
        ("size of the items", 3),
        ("[0]", 1),
        ("[1]", -72),
        ("count", 1),
        ("[2]", 3),
        ("end of the array", 0),
    ]
    assert [(leaf.label, leaf.value) for leaf in find(span, "m", "k").leaves()] == [
        ("key size", 1),
        ("key", "k"),
        ("value", 2),
    ]
    wrong = data.replace(encode_long(-2) + encode_long(3), encode_long(-2) + encode_long(4), 1)
    damaged = explain_avro_record(wrong, schema=schema)
    assert damaged.value == span.value
    with pytest.raises(Corrupt, match=r"wrong size of items \(at byte 1; expected 3; seen 4 bytes\)"):
        damaged.check()


@pytest.mark.parametrize(
    ("kind", "data", "note"),
    [
        ({"type": "int", "logicalType": "date"}, encode_long(19723), "2024-01-01"),
        (
            {"type": "long", "logicalType": "timestamp-millis"},
            encode_long(1001),
            "1970-01-01 00:00:01.001000",
        ),
        (
            {"type": "long", "logicalType": "local-timestamp-micros"},
            encode_long(1),
            "1970-01-01 00:00:00.000001",
        ),
        ({"type": "long", "logicalType": "timestamp-nanos"}, encode_long(1), "1970-01-01 00:00:00.000000001"),
        ({"type": "int", "logicalType": "time-millis"}, encode_long(1001), "00:00:01.001000"),
        ({"type": "long", "logicalType": "time-micros"}, encode_long(-1), "zigzag: 1 byte; -1 microseconds"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, b"\x04\xcf\xc7", "-123.45"),
        (
            {"type": "fixed", "name": "u", "size": 16, "logicalType": "uuid"},
            bytes(15) + b"\x01",
            "00000000-0000-0000-0000-000000000001",
        ),
        (
            {"type": "long", "logicalType": "timestamp-millis"},
            encode_long(2**63 - 1),
            "long (timestamp-millis)",
        ),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 10**9}, b"\x02\x01", "bytes"),
        ("boolean", b"\x02", "neither 0 nor 1"),
        ("int", encode_long(2**40), "more than 32 bits"),
    ],
)
def test_notes_say_what_logical_types_mean(kind: Any, data: bytes, note: str) -> None:
    schema = {"type": "record", "name": "r", "fields": [field("a", kind), field("b", ["null", "int"])]}
    span = explain_avro_record(data + b"\x00", schema=schema)
    span.check()
    assert note in span.children[0].note
    bare = {
        "type": "record",
        "name": "r",
        "fields": [field("a", write_plain(compile_schema(kind).kind)), field("b", "int")],
    }
    assert (
        span.value["a"] == explain_avro_record(data + b"\x00", schema=bare).value["a"]
    )  # the note alone tells


def test_explains_types_that_contain_themselves_to_a_bounded_depth() -> None:
    schema = {"type": "record", "name": "n", "fields": [field("v", "int"), field("next", ["null", "n"])]}
    span = explain_avro_record(bytes([2, 2, 4, 0]), schema=schema)
    span.check()
    assert span.value == {"v": 1, "next": {"v": 2, "next": None}}
    assert [leaf.label for leaf in span.leaves()] == ["v", "union branch", "v", "next"]
    deep = explain_avro_record(bytes([2, 2]) * 5000, schema=schema)
    with pytest.raises(Corrupt, match="nested too deeply"):
        deep.value  # noqa: B018
    assert find_error(deep) is not None
    endless = {"type": "record", "name": "n", "fields": [field("n", "n")]}
    assert "nested too deeply" in str(find_error(explain_avro_record(b"", schema=endless)))


def test_damage_stays_where_it_is() -> None:
    inner = {"type": "record", "name": "s", "fields": [field("x", "long"), field("y", "string")]}
    schema = {"type": "record", "name": "r", "fields": [field("a", "string"), field("s", inner)]}
    span = explain_avro_record(bytes([2, 0xFF, 2, 4]) + b"hi", schema=schema)
    text = find(span, "a", "text")
    assert (text.role, text.value) == ("damage", b"\xff")
    assert find(span, "s").value == {"x": 1, "y": "hi"}  # what comes after is read all the same
    cut = explain_avro_record(bytes([2]) + b"k" + bytes([2, 40]) + b"hi", schema=schema)
    assert [(leaf.label, leaf.start, leaf.role) for leaf in cut.leaves()][2:] == [
        ("x", 2, ""),
        ("size", 3, ""),
        ("damaged", 4, "damage"),
    ]


# ------------------------------------------------------------------ hooks


def test_asks_the_hook_for_each_value_of_bytes() -> None:
    inner = {"type": "record", "name": "s", "fields": [field("b", "bytes")]}
    schema = {
        "type": "record",
        "name": "r",
        "fields": [
            field("f", {"type": "fixed", "name": "two", "size": 2}),
            field("u", ["null", "bytes"]),
            field("n", ["null", "bytes"]),
            field("l", {"type": "array", "items": inner}),
            field("m", {"type": "map", "values": ["null", "two"]}),
        ],
    }
    record = {"f": b"ab", "u": b"cd", "n": None, "l": [{"b": b"ef"}, {"b": b""}], "m": {"k": b"gh"}}
    for codec in ("null", "deflate"):
        data = write_file(schema, [record], codec)
        asked: list[tuple[Any, bytes]] = []

        def nested(path: Any, seen: Any, asked: Any = asked) -> Any:
            assert seen == record

            def explain(content: Any, start: int, end: int) -> Span:
                asked.append((path, bytes(content[start:end])))
                return Span(start, end, "nested", len(asked))

            return explain

        span = explain_avro(data, nested=nested)
        span.check()
        assert_tiles(span, 0, len(data))
        labels = ["block 0", "records", "record 0"]
        found = [leaf.label for leaf in find(span, *labels).leaves()]
        assert found.count("nested") == 5
        assert dict(asked) == {
            ("f",): b"ab",
            ("u",): b"cd",
            ("l", 0, "b"): b"ef",
            ("l", 1, "b"): b"",
            ("m", "k"): b"gh",
        }


def test_a_hook_that_fails_leaves_one_leaf_that_says_why() -> None:
    schema = {"type": "record", "name": "r", "fields": [field("a", "bytes")]}

    def fail(path: Any, record: Any) -> Any:
        raise KeyError("nothing known")

    def misfit(path: Any, record: Any) -> Any:
        return lambda data, start, end: Span(start, end - 1, "short")

    def unknown(path: Any, record: Any) -> Any:
        raise LakeError("no such schema")

    for hook, reason in ((fail, "nothing known"), (misfit, "covers 1 to 2"), (unknown, "no such schema")):
        span = explain_avro_record(bytes([4]) + b"hi", schema=schema, nested=hook)
        span.check()
        leaf = find(span, "a", "bytes")
        assert leaf.value == b"hi"
        assert "not explained" in leaf.note
        assert reason in leaf.note


# ------------------------------------------------------------------ hostile bytes


def test_absurd_counts_cost_nothing() -> None:
    empty = {"type": "record", "name": "e", "fields": []}
    data = make_file(empty, [(2**60, b"")])
    assert "absurd count" in str(find_error(explain_avro(data)))
    many = explain_avro(make_file(empty, [(1_000_000, b"")] * 3000))
    assert find_error(many) is None
    assert len(many.value) == 1_000_000
    items = {"type": "record", "name": "r", "fields": [field("a", {"type": "array", "items": "null"})]}
    with pytest.raises(Unsupported, match="items that take no bytes"):
        explain_avro(make_file(items, [(1, encode_long(2**60) + b"\x00")])).check()
    longs = {"type": "record", "name": "r", "fields": [field("a", {"type": "array", "items": "long"})]}
    for count in (2**60, -(2**63)):
        content = encode_long(count) + bytes(20)
        assert "absurd count" in str(find_error(explain_avro(make_file(longs, [(1, content)]))))
    nulls = {"type": "record", "name": "r", "fields": [field(f"f{i}", "null") for i in range(2000)]}
    with pytest.raises(Unsupported, match="take no bytes"):
        explain_avro(make_file(nulls, [(10**6, b"")])).check()


def test_doubling_types_are_refused() -> None:
    fields = [field("f0", {"type": "record", "name": "r0", "fields": [field("x", "int")]})]
    for i in range(1, 40):
        pair = [field("a", f"r{i - 1}"), field("b", f"r{i - 1}")]
        fields.append(field(f"f{i}", {"type": "record", "name": f"r{i}", "fields": pair}))
    schema = {"type": "record", "name": "r", "fields": fields}
    assert "too large" in str(find_error(explain_avro(make_file(schema, [(1, b"\x02")]))))


def test_a_large_block_is_made_on_demand() -> None:
    schema = {"type": "record", "name": "r", "fields": [field("a", "long"), field("s", "string")]}
    content = (bytes([2, 4]) + b"hi") * 100_000
    asked = 0

    class Counted(bytes):
        def __getitem__(self, key: Any) -> Any:
            nonlocal asked
            asked += 1
            return super().__getitem__(key)

    span = explain_avro(Counted(make_file(schema, [(100_000, content)])))
    block = next(islice(span.iter_children(), 3, None))
    records = next(islice(block.iter_children(), 2, None))
    third = next(islice(records.iter_children(), 2, None))
    assert third.value == {"a": 1, "s": "hi"}
    assert asked < 100


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (b"{", "not JSON"),
        (b'{"type": "recrd"}', "unknown Avro type"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"type": "record", "name": "r"}', "without fields"),
        (b'{"type": "fixed", "name": "f", "size": -1}', "bad size"),
        (b'{"type": "enum", "name": "f", "symbols": ["a b"]}', "bad symbol"),
    ],
)
def test_a_schema_that_cannot_be_read_leaves_the_frame(schema: bytes, message: str) -> None:
    data = encode_header({"avro.schema": schema}, SYNC) + encode_long(1) + encode_long(2) + b"hi" + SYNC
    span = explain_avro(data)
    assert_tiles(span, 0, len(data))
    with pytest.raises(Corrupt, match=message) as caught:
        span.check()
    assert caught.value.offset == data.index(schema)
    assert find(span, "block 0", "records").role == "unexplained"
    assert find(span, "block 0", "sync marker").value == SYNC


def test_an_unknown_codec_leaves_the_frame() -> None:
    data = make_file({"type": "record", "name": "r", "fields": []}, [(0, b"hi")], avro_codec=b"lz77")
    span = explain_avro(data)
    assert find(span, "block 0", "records").role == "unexplained"
    with pytest.raises(Unsupported, match="lz77"):
        span.check()


def test_a_wrong_sync_marker_is_told_where_it_is() -> None:
    schema = {"type": "record", "name": "r", "fields": [field("a", "long")]}
    data = bytearray(make_file(schema, [(1, b"\x02"), (1, b"\x04")]))
    data[-SYNC_SIZE - 4] ^= 1
    span = explain_avro(bytes(data))
    with pytest.raises(Corrupt, match="wrong sync marker") as caught:
        span.check()
    assert caught.value.offset == len(data) - SYNC_SIZE - 3 - SYNC_SIZE
    assert span.value == [{"a": 1}, {"a": 2}]


def test_explains_a_part_of_larger_bytes() -> None:
    schema = {"type": "record", "name": "r", "fields": [field("a", "string")]}
    data = make_file(schema, [(1, b"\x04hi")])
    moved = explain_avro(b"\xff" * 7 + data + b"\xee" * 9, 7, 7 + len(data))
    moved.check()
    assert_tiles(moved, 7, 7 + len(data))
    assert moved.value == [{"a": "hi"}]


# ------------------------------------------------------------------ files of engines


def list_avro_files() -> list[Path]:
    files = (path for path in sorted(LAKES.rglob("*")) if path.is_file())
    return [path for path in files if path.open("rb").read(4) == b"Obj\x01"]


@pytest.mark.exhaustive
def test_every_engine_written_file() -> None:
    paths = list_avro_files()
    assert len(paths) > 2000
    for path in paths:
        data = path.read_bytes()
        span = explain_avro(data)
        try:
            assert same(span.value, decode_records(data)), path
            position = 0
            for leaf in span.leaves():
                assert leaf.start == position, (path, leaf)
                assert leaf.error is None, (path, leaf)
                assert leaf.role != "unexplained", (path, leaf)
                position = leaf.end
                if leaf.is_packed:
                    content, inner = leaf.unpack()
                    inner.check()
                    assert_tiles(inner, 0, len(content))
            assert position == len(data)
        except LakeError as error:
            raise AssertionError(path) from error
