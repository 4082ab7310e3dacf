"""Avro files: every codec, exact values, both paths to Arrow, and damage that is always named."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.avro import bulk
from lakelens.codecs.avro.bulk import decode_files, decode_table
from lakelens.codecs.avro.container import encode_header, encode_long, iter_blocks
from lakelens.codecs.avro.records import AvroRecords, decode_header, decode_records, iter_records
from lakelens.codecs.avro.schema import compile_schema, write_plain
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.options import budgets
from tests.support import LAKES

SYNC = b"0123456789abcdef"
CODECS = ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"]

# the shapes of an Iceberg manifest: an empty partition record, int maps as lists of pairs, optional nested records
ENTRY: dict[str, Any] = {
    "type": "record",
    "name": "manifest_entry",
    "fields": [
        {"name": "status", "type": "int", "field-id": 0},
        {"name": "snapshot_id", "type": ["null", "long"], "default": None, "field-id": 1},
        {
            "name": "data_file",
            "field-id": 2,
            "type": {
                "type": "record",
                "name": "r2",
                "fields": [
                    {"name": "file_path", "type": "string", "field-id": 100},
                    {
                        "name": "partition",
                        "type": {"type": "record", "name": "r102", "fields": []},
                        "field-id": 102,
                    },
                    {
                        "name": "lower_bounds",
                        "field-id": 125,
                        "default": None,
                        "type": [
                            "null",
                            {
                                "type": "array",
                                "logicalType": "map",
                                "items": {
                                    "type": "record",
                                    "name": "k126_v127",
                                    "fields": [
                                        {"name": "key", "type": "int", "field-id": 126},
                                        {"name": "value", "type": "bytes", "field-id": 127},
                                    ],
                                },
                            },
                        ],
                    },
                    {
                        "name": "split_offsets",
                        "type": ["null", {"type": "array", "items": "long", "element-id": 133}],
                    },
                    {"name": "created", "type": {"type": "long", "logicalType": "timestamp-millis"}},
                    {"name": "id", "type": {"type": "fixed", "name": "u", "size": 16, "logicalType": "uuid"}},
                    {
                        "name": "amount",
                        "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
                    },
                    {"name": "day", "type": {"type": "int", "logicalType": "date"}},
                    {"name": "counts", "type": {"type": "map", "values": "long"}},
                ],
            },
        },
    ],
}


def make_record(i: int) -> dict[str, Any]:
    return {
        "status": i % 3,
        "snapshot_id": None if i % 2 else 2**63 - 1 - i,
        "data_file": {
            "file_path": f"s3://b/ü-{i}.parquet",
            "partition": {},
            "lower_bounds": None
            if i % 4 == 3
            else [{"key": 1, "value": bytes([i % 256])}, {"key": 2, "value": b""}],
            "split_offsets": [4, 2**40 + i] if i % 2 else None,
            "created": 253402300800000 + i,
            "id": bytes(range(16)),
            "amount": b"\xff\x00",
            "day": -(2**31),
            "counts": {"a": i},
        },
    }


RECORDS = [make_record(i) for i in range(40)]


def write(schema: Any, records: list[Any], codec: str = "null", sync_interval: int = 500) -> bytes:
    """A file as an engine would write it; logical types are hidden from the writer, which would convert them."""
    stream = io.BytesIO()
    fastavro.writer(
        stream,
        write_plain(compile_schema(schema).kind),
        records,
        codec=codec,
        sync_interval=sync_interval,
        sync_marker=SYNC,
    )
    header = decode_header(stream.getvalue())
    metadata = {**header.metadata, "avro.schema": json.dumps(schema).encode(), "format-version": b"2"}
    return encode_header(metadata, SYNC) + stream.getvalue()[header.header_size :]


@pytest.mark.parametrize("codec", CODECS)
def test_records_of_every_codec(codec: str) -> None:
    data = write(ENTRY, RECORDS, codec)
    header = decode_header(data)
    assert (header.codec, header.schema, header.sync_marker) == (codec, ENTRY, SYNC)
    assert header.metadata["format-version"] == b"2"
    assert len(list(iter_blocks(data, header))) > 1
    assert decode_records(data) == RECORDS
    assert next(iter_records(memoryview(data))) == RECORDS[0]


def test_record_wrapped_in_a_union_as_paimon_up_to_0_8_wrote() -> None:
    schema = ["null", ENTRY]
    data = write(schema, RECORDS)
    assert decode_header(data).schema == schema
    assert decode_header(data).record == ENTRY
    assert decode_records(data) == RECORDS
    with pytest.raises(Corrupt, match="null where a record"):
        decode_records(write(schema, [RECORDS[0], None]))


def test_file_without_records() -> None:
    assert decode_records(write(ENTRY, [])) == []
    assert decode_table(write(ENTRY, [])).num_rows == 0


# -- damage


def decode_fast(data: bytes, path: str | None = None) -> pa.Table:
    return decode_table(data, path, fast=True)


def head(schema: Any, codec: str = "null") -> bytes:
    text = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    return encode_header({"avro.schema": text, "avro.codec": codec.encode()}, SYNC)


def block(count: int, content: bytes) -> bytes:
    return encode_long(count) + encode_long(len(content)) + content + SYNC


LONG = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "long"}]}
TEXT = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "string"}]}
EMPTY: dict[str, Any] = {"type": "record", "name": "r", "fields": []}


@pytest.mark.parametrize(
    ("data", "offset", "message"),
    [
        (b"", 0, "empty file"),
        (b"PAR1....", 0, "not an Avro file"),
        (b"Obj\x01", 4, "cut short"),
        (b"Obj\x01" + encode_long(2**40), 4, "cut short"),
        (head(LONG)[:-20], None, "cut short"),
        (head(LONG)[:-3], len(head(LONG)) - 16, "sync marker"),
        (encode_header({"avro.codec": b"null"}, SYNC), 4, "without a schema"),
        (head(LONG) + block(1, b"\x02")[:-1], len(head(LONG)) + 1, "block cut short"),
        (head(LONG) + block(1, b"\x02")[:-16] + b"x" * 16, len(head(LONG)) + 3, "wrong sync marker"),
        (head(LONG) + block(2**60, b"\x02"), len(head(LONG)), "absurd count"),
        (head(LONG) + block(-1, b"\x02"), len(head(LONG)), "negative count"),
        (head(LONG) + block(1, b"\x02\x00"), len(head(LONG)) + 2, "bytes left"),
        (head(LONG) + block(1, b"\x02\x02\x04"), len(head(LONG)) + 2, "more records than"),
        (head(LONG) + block(1, b"\x80"), len(head(LONG)) + 2, "do not decode"),
        (head(TEXT) + block(1, b"\x02\xff"), len(head(TEXT)) + 2, "UnicodeDecodeError"),
        (head(TEXT) + block(1, b"\x40a"), len(head(TEXT)) + 2, "do not decode"),
        (head(EMPTY) + block(2**60, b""), len(head(EMPTY)), "absurd count"),
        (
            head(LONG, "deflate") + block(1, b"\xff\xff"),
            len(head(LONG, "deflate")) + 2,
            "does not decompress",
        ),
        (
            head(LONG, "zstandard") + block(1, b"\xff"),
            len(head(LONG, "zstandard")) + 2,
            "does not decompress",
        ),
        (head(LONG, "snappy") + block(1, b"\xff"), len(head(LONG, "snappy")) + 2, "does not decompress"),
        (head(LONG) + b"\xff" * 12, len(head(LONG)), "longer than 10 bytes"),
    ],
)
def test_damage_names_its_byte(data: bytes, offset: int | None, message: str) -> None:
    for decode in (decode_records, decode_fast):
        with pytest.raises(Corrupt, match=message) as caught:
            decode(data, "m0.avro")
        assert str(caught.value).startswith("m0.avro: ")
        assert caught.value.offset is not None if offset is None else caught.value.offset == offset


def test_snappy_checksum_is_checked() -> None:
    data = bytearray(write(LONG, [{"a": 1}], "snappy"))
    data[-17] ^= 1
    with pytest.raises(Corrupt, match="CRC-32"):
        decode_records(bytes(data))


def test_block_that_decompresses_to_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakelens.codecs.avro.container._RATIO", 1)
    for codec in CODECS[1:]:
        data = write(TEXT, [{"a": "x" * 500_000}], codec)
        with budgets.using(max_file=1024), pytest.raises(Corrupt, match=r"too large.*budgets\.max_file"):
            decode_records(data)
        assert decode_records(data) == [{"a": "x" * 500_000}]


def test_blocks_have_one_budget_for_all_of_them() -> None:
    data = write(TEXT, [{"a": "x" * 50_000}] * 40, "zstandard")
    assert len(list(iter_blocks(data, decode_header(data)))) == 40
    with budgets.using(max_file=10_000):
        records = AvroRecords(data)
        assert records[0] == records[1] == {"a": "x" * 50_000}
        for read in (decode_records, lambda data: list(AvroRecords(data))):
            with pytest.raises(Corrupt, match="too large"):
                read(data)
        assert any(group.table is None for group in decode_files([data]))
    assert len(decode_records(data)) == 40


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        (b"{", Corrupt),
        (b"\xff", Corrupt),
        (b"[" * 100_000, Corrupt),
        (b'{"type":"array","items":' * 500 + b'"int"' + b"}" * 500, Corrupt),
        ("nonsense", Corrupt),
        ([], Corrupt),
        ({"type": "record", "name": "r"}, Corrupt),
        ({"type": "record", "fields": []}, Corrupt),
        ({"type": "record", "name": "r", "fields": [{"name": "a"}]}, Corrupt),
        ({"type": "fixed", "name": "f", "size": -1}, Corrupt),
        ({"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", "r"]}]}, Unsupported),
        (
            {
                "type": "record",
                "name": "r",
                "fields": [{"name": "a", "type": {"type": "array", "items": "null"}}],
            },
            Unsupported,
        ),
        ("long", Unsupported),
    ],
)
def test_schemas_that_are_refused(schema: Any, kind: type[LakeError]) -> None:
    with pytest.raises(kind):
        decode_records(head(schema) + block(1, b"\x00"))


def test_schema_that_doubles_at_every_level_is_refused() -> None:
    inner: dict[str, Any] = {"type": "record", "name": "n0", "fields": [{"name": "a", "type": "null"}]}
    for i in range(1, 40):
        fields = [{"name": "a", "type": inner}, {"name": "b", "type": f"n{i - 1}"}]
        inner = {"type": "record", "name": f"n{i}", "fields": fields}
    with pytest.raises(Corrupt, match="too large"):
        decode_records(head(inner) + block(1, b""))


def test_unknown_codec() -> None:
    with pytest.raises(Unsupported, match="'lzo'"):
        decode_records(head(LONG, "lzo") + block(1, b"\x02"))


@pytest.mark.parametrize("codec", CODECS)
def test_a_file_cut_anywhere_gives_records_or_our_error(codec: str) -> None:
    data = write(ENTRY, RECORDS[:6], codec, sync_interval=100)
    for length in range(len(data)):
        try:
            records = decode_records(data[:length])
        except Corrupt as error:
            assert error.offset is not None and error.offset <= length
        else:
            assert records == RECORDS[: len(records)]  # cut between two blocks


@given(st.sampled_from(CODECS), st.data())
@settings(max_examples=300, deadline=None)
def test_flipped_bits_give_records_or_our_error(codec: str, data: st.DataObject) -> None:
    damaged = bytearray(write(ENTRY, RECORDS[:8], codec, sync_interval=100))
    for _ in range(data.draw(st.integers(1, 3))):
        bit = data.draw(st.integers(0, len(damaged) * 8 - 1))
        damaged[bit // 8] ^= 1 << bit % 8
    for decode in (decode_records, decode_fast):
        try:
            decode(bytes(damaged))
        except Corrupt as error:
            assert error.offset is not None or error.json_path is not None
        except Unsupported:
            pass


# -- Arrow


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_both_paths_to_arrow_agree(codec: str, wrapped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(["null", ENTRY] if wrapped else ENTRY, RECORDS, codec)
    slow = decode_table(data, fast=False)
    with monkeypatch.context() as context:
        context.setattr(bulk, "iter_records", lambda *_: pytest.fail("the fast path refused the file"))
        fast = decode_table(data, fast=True)
    assert fast.equals(slow)
    assert fast["snapshot_id"].to_pylist() == [record["snapshot_id"] for record in RECORDS]
    file = fast["data_file"].combine_chunks()
    assert "partition" not in file.type.names
    assert file.field("created").type == pa.int64() and file.field("id").type == pa.binary(16)
    assert file.field("lower_bounds").to_pylist() == [
        record["data_file"]["lower_bounds"] for record in RECORDS
    ]


def test_many_records_go_the_fast_way_by_themselves() -> None:
    table = decode_table(write(LONG, [{"a": i} for i in range(bulk.MANY_ROWS)], "zstandard"))
    assert table["a"].to_pylist() == list(range(bulk.MANY_ROWS))


def test_many_files_keep_their_order_in_groups_of_one_schema() -> None:
    wide = {**LONG, "fields": [*LONG["fields"], {"name": "b", "type": ["null", "string"]}]}
    files = [
        write(LONG, [{"a": 1}, {"a": 2}], "zstandard"),
        write(LONG, [{"a": 3}], "zstandard"),
        write(wide, [{"a": 4, "b": "x"}], "deflate"),
        write(LONG, [{"a": 5}]),
    ]
    groups = list(decode_files(files))
    assert [[part.file for part in group.parts] for group in groups] == [[0, 1], [2], [3]]
    tables = [group.table.to_pydict() for group in groups if group.table is not None]
    assert tables == [{"a": [1, 2, 3]}, {"a": [4], "b": ["x"]}, {"a": [5]}]


def test_fast_path_falls_back_to_records(monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(TEXT, [{"a": "x"}], "xz")
    monkeypatch.setattr("lakelens.codecs.avro.bulk._read_with_datafusion", lambda *_: None)
    assert decode_table(data, fast=True).to_pylist() == [{"a": "x"}]


def read_real_files() -> list[Path]:
    files = []
    for path in sorted(LAKES.rglob("*")):
        if path.is_file():
            with path.open("rb") as stream:
                if stream.read(4) == b"Obj\x01":
                    files.append(path)
    return files


def test_both_paths_agree_on_files_that_engines_wrote() -> None:
    files = read_real_files()
    if not files:
        pytest.skip("no tables that an engine wrote under tests/lakes")
    for path in files[:: max(1, len(files) // 80)]:
        data = path.read_bytes()
        records = decode_records(data, str(path))
        fast, slow = (decode_table(data, str(path), fast=fast) for fast in (True, False))
        assert fast.schema.equals(slow.schema)
        assert repr(fast.to_pylist()) == repr(slow.to_pylist()), path  # in words, in which NaN equals NaN
        assert len(records) == sum(item.count for item in iter_blocks(data, decode_header(data)))


def test_records_without_bytes_are_limited_over_all_blocks() -> None:
    schema = b'{"type":"record","name":"r","fields":[]}'
    sync = b"s" * 16
    block = encode_long(600_000) + encode_long(0) + sync
    header = encode_header({"avro.schema": schema}, sync)
    assert len(decode_records(header + block)) == 600_000
    with pytest.raises(Corrupt, match="absurd count"):
        decode_records(header + block * 2)
