"""Parquet files byte by byte: against the fast decoder over files of any options, and damage that names the place."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.compression import decompress
from lakelens.codecs.parquet.footer import decode_footer
from lakelens.codecs.parquet.pages import explain_runs
from lakelens.codecs.parquet.spans import explain_parquet
from lakelens.codecs.parquet.thrift import Struct, decode_struct, explain_struct
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import Corrupt, LakeError, Unsupported
from tests.support.span_checks import assert_survives, assert_tiles, find_error

COLUMNS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "id": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "small": (pa.int32(), st.integers(0, 3)),
    "text": (pa.string(), st.text(max_size=6)),
    "bytes": (pa.binary(), st.binary(max_size=6)),
    "fixed": (pa.binary(3), st.binary(min_size=3, max_size=3)),
    "real": (pa.float64(), st.floats(allow_nan=False)),
    "flag": (pa.bool_(), st.booleans()),
    "tags": (pa.list_(pa.int32()), st.lists(st.integers(0, 9), max_size=3)),
    "inner": (
        pa.struct([("x", pa.int32()), ("y", pa.string())]),
        st.fixed_dictionaries({"x": st.integers(0, 9)}),
    ),
}
SCHEMA = pa.schema([(name, kind) for name, (kind, _) in COLUMNS.items()])
ROWS = st.fixed_dictionaries({name: st.none() | values for name, (_, values) in COLUMNS.items()})
OPTIONS = st.fixed_dictionaries(
    {
        "compression": st.sampled_from(["none", "snappy", "gzip", "zstd", "brotli", "lz4"]),
        "use_dictionary": st.booleans(),
        "data_page_version": st.sampled_from(["1.0", "2.0"]),
        "version": st.sampled_from(["1.0", "2.6"]),
        "row_group_size": st.sampled_from([2, 100]),
        "data_page_size": st.sampled_from([1, 1 << 20]),
        "write_page_index": st.booleans(),
        "write_page_checksum": st.booleans(),
        "write_statistics": st.booleans(),
        "store_schema": st.booleans(),
    }
)


def written(rows: list[dict[str, Any]], schema: pa.Schema = SCHEMA, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema), sink, **options)
    return sink.getvalue()


def walk_whole(span: Span) -> Iterator[Span]:
    """Every span, those of decompressed content too, which must tile as well."""
    for node in span.walk():
        yield node
        if node.is_packed:
            content, inner = node.unpack()
            assert_tiles(inner, 0, len(content))
            yield from walk_whole(inner)


def find_all(root: Span, label: str) -> list[Span]:
    return [node for node in root.walk() if node.label == label]


@settings(max_examples=30)
@given(st.lists(ROWS, max_size=5), OPTIONS)
def test_files_of_any_options(rows: list[dict[str, Any]], options: dict[str, Any]) -> None:
    data = written(rows, **options)
    root = explain_parquet(data)
    assert_tiles(root, 0, len(data))
    root.check()
    footer = decode_footer(io.BytesIO(data))
    assert root.value == footer
    told = find_all(root, "footer")[0].value
    assert told["num_rows"] == footer.num_rows == len(rows)
    assert [group["num_rows"] for group in told["row_groups"]] == [g.num_rows for g in footer.row_groups]
    for group, facts in zip(told["row_groups"], footer.row_groups, strict=True):
        for column, chunk in zip(group["columns"], facts.columns, strict=True):
            metadata = column["meta_data"]
            assert ".".join(metadata["path_in_schema"]) == chunk.path
            assert (metadata["codec"], metadata["num_values"]) == (chunk.compression, chunk.num_values)
            assert metadata["data_page_offset"] == chunk.data_page_offset
            if chunk.min is not None:
                assert metadata["statistics"]["min_value"] == chunk.min
    assert not [node for node in walk_whole(root) if node.role in ("unexplained", "damage")]
    assert_pages_agree(root, footer)


def assert_pages_agree(root: Span, footer: Any) -> None:
    """Pages fill their chunks, and their values add up to what the footer tells."""
    for group in footer.row_groups:
        (section,) = find_all(root, f"row group {group.index}") or [None]
        if section is None:
            assert not group.compressed_size
            continue
        chunks = [chunk for chunk in group.columns if chunk.compressed_size]
        for chunk, span in zip(chunks, section.children, strict=True):
            assert span.end - span.start == chunk.compressed_size
            assert span.start in (chunk.data_page_offset, chunk.dictionary_page_offset)
            headers = [page.value for page in span.children]
            pages = [h.get("data_page_header") or h.get("data_page_header_v2") for h in headers]
            assert sum(page["num_values"] for page in pages if page) == chunk.num_values


def test_plain_values_levels_and_runs_are_told() -> None:
    rows = [{"id": 7, "text": "é", "tags": [1, 2]}, {"id": -1, "text": None, "tags": []}]
    for version in ("1.0", "2.0"):
        data = written(rows, use_dictionary=False, compression="zstd", data_page_version=version)
        spans = list(walk_whole(explain_parquet(data)))
        values = [span.value for span in spans if span.label.startswith("value ") and span.is_leaf]
        assert values[:2] == [7, -1] and "é" in values and 1 in values and 2 in values
        levels = [span for span in spans if span.label == "repetition levels"]
        assert len(levels) == 1 and any(run.label.startswith("run") for run in levels[0].children)


@given(st.integers(1, 17), st.lists(st.integers(0, 2**17 - 1), min_size=8, max_size=8), st.integers(1, 300))
def test_runs(width: int, values: list[int], count: int) -> None:
    values = [value % (1 << width) for value in values]
    packed = sum(value << i * width for i, value in enumerate(values)).to_bytes(width, "little")
    header = count << 1
    varint = bytes([header]) if header < 128 else bytes([header & 0x7F | 0x80, header >> 7])
    data = b"\x03" + packed + varint + values[0].to_bytes((width + 7) // 8, "little")
    first, second = explain_runs(data, 0, len(data), width)
    assert (first.value, second.note) == (values, f"{count} times {values[0]}")


WHOLE = written(
    [{"id": i, "text": f"t{i}", "tags": [i], "small": i} for i in range(4)],
    pa.schema([(name, COLUMNS[name][0]) for name in ("id", "text", "tags")]),
    row_group_size=2,
    write_page_index=True,
    write_page_checksum=True,
    compression="snappy",
)


@pytest.mark.exhaustive
def test_cut_and_flipped() -> None:
    assert_survives(explain_parquet, WHOLE, flips=250)


def test_what_the_decoder_refuses_is_told() -> None:
    """Damage of the footer, flip by flip: an explanation errs exactly where the decoder does, offsets and pages aside."""
    length = int.from_bytes(WHOLE[-8:-4], "little")
    begin = len(WHOLE) - 8 - length
    for place in range(begin * 8, len(WHOLE) * 8, 11):
        damaged = bytearray(WHOLE)
        damaged[place // 8] ^= 1 << place % 8
        try:
            _ = decode_footer(io.BytesIO(bytes(damaged))).row_groups
        except Corrupt:
            assert isinstance(find_error(explain_parquet(bytes(damaged))), Corrupt)
        except LakeError:
            pass


def test_a_footer_that_points_elsewhere_is_told() -> None:
    damaged = bytearray(WHOLE)
    index = find_all(explain_parquet(WHOLE), "offset_index_offset")[0]
    damaged[index.end - 1] ^= 0x01
    error = find_error(explain_parquet(bytes(damaged)))
    assert isinstance(error, Corrupt) and error.offset is not None


def test_the_checksum_of_a_page_is_checked() -> None:
    page = find_all(explain_parquet(WHOLE), "page data")[0]
    damaged = bytearray(WHOLE)
    damaged[page.end - 1] ^= 0xFF
    error = find_error(explain_parquet(bytes(damaged)))
    assert isinstance(error, Corrupt) and error.offset == page.start and "checksum" in error.message


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
    rows = [{"id": i * 7919} for i in range(200_000)]
    data = written(rows, SCHEMA.remove(8).remove(7), compression="none", use_dictionary=False)
    octets: Octets = CountingOctets(data)
    root = explain_parquet(octets)
    assert [part.label for part in root.children][:2] == ["magic", "row group 0"]
    assert root.value.num_rows == 200_000
    pages = [page for chunk in root.children[1].children for page in chunk.children]
    assert len(pages) > 7
    assert isinstance(octets, CountingOctets) and octets.read < len(data) / 10
    whole = explain_parquet(b"x" * 5 + data + b"y", 5, 5 + len(data))
    assert whole.children[-1].value == "PAR1" and whole.value.num_rows == 200_000


def test_an_encrypted_footer_is_told() -> None:
    crypto = bytes.fromhex("1c 1c 28 02 61 62 00 00 00")  # AES_GCM_V1 with an aad_file_unique
    data = b"PARE" + bytes(20) + crypto + bytes(30) + (len(crypto) + 30).to_bytes(4, "little") + b"PARE"
    root = explain_parquet(data)
    assert_tiles(root, 0, len(data))
    assert [part.label for part in root.children] == [
        "magic",
        "row groups",
        "FileCryptoMetaData",
        "encrypted footer",
        "footer length",
        "magic",
    ]
    assert root.children[2].value == {"encryption_algorithm": {"AES_GCM_V1": {"aad_file_unique": b"ab"}}}
    assert find_error(root) is None
    with pytest.raises(LakeError):
        _ = root.value


@settings(max_examples=200)
@given(st.binary(max_size=60))
def test_thrift_of_any_bytes_agrees_with_the_decoder(data: bytes) -> None:
    span = explain_struct(data, Struct("Any"))
    assert_tiles(span, 0, span.end)
    try:
        decoded = decode_struct(data)
    except Corrupt as error:
        found = find_error(span)
        assert isinstance(found, Corrupt) and found.offset == error.offset
        assert span.end == len(data)
    else:
        span.check()
        assert span.value == named(decoded)


@pytest.mark.parametrize("data", [b"\x05\xfe\xff\x03\x02\x15\x02\x00", b"\xf1" * 3000 + b"\x00"])
def test_a_field_id_of_more_than_16_bits_is_refused(data: bytes) -> None:
    with pytest.raises(Corrupt, match="16 bits") as caught:
        decode_struct(data)
    error = find_error(explain_struct(data, Struct("Any")))
    assert isinstance(error, Corrupt) and (error.message, error.offset) == (
        caught.value.message,
        caught.value.offset,
    )


def test_a_footer_that_is_too_large_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakelens.codecs.parquet.spans.MAX_FOOTER", 100)
    monkeypatch.setattr("lakelens.codecs.parquet.spans.decode_footer", pytest.fail)
    root = explain_parquet(WHOLE)
    assert_tiles(root, 0, len(WHOLE))
    assert isinstance(find_error(root), Unsupported)


def named(value: Any) -> Any:
    if isinstance(value, dict):
        return {f"field {number}": named(part) for number, part in value.items()}
    return [named(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "data",
    [
        b"\x11" * 5000 + b"\0",  # a struct of many fields
        b"\x19\xf5\xa0\x1f" + b"\x02" * 4000 + b"\0",  # a list of many numbers
        b"\x19\xfc\xa0\x1f" + b"\0" * 4000 + b"\0",  # a list of many structs
        b"\x1b\xa0\x1f\x55" + b"\x02" * 8000 + b"\0",  # a map of many pairs
    ],
)
def test_long_structures_come_in_groups(data: bytes) -> None:
    span = explain_struct(data, Struct("Any"))
    span.check()
    assert max(len(node.children) for node in span.walk()) < 2100
    assert_tiles(span, 0, len(data))
    cut = explain_struct(data[:-1], Struct("Any"))
    assert_tiles(cut, 0, len(data) - 1)
    assert find_error(cut) is not None


def test_a_footer_of_many_columns_is_explained_where_it_is_looked_at() -> None:
    schema = pa.schema([(f"c{i}", pa.int32()) for i in range(300)])
    data = written([{"c0": 1}], schema)
    root = explain_parquet(data)
    path = [span.label for span in root.trace(len(data) - 3000)]
    assert path[1] == "footer"
    (groups,) = [part for part in root.children[-3].children if part.label == "row_groups"]
    columns = groups.children[2].children[0]
    assert columns.children[-1].label == "[299]" and columns.children[-1].value["meta_data"][
        "path_in_schema"
    ] == ["c299"]


def test_content_larger_than_told_is_refused() -> None:
    import zlib

    packed = zlib.compress(bytes(1000), wbits=31)
    assert decompress("gzip", packed, 1000) == bytes(1000)
    for codec, data in {
        "gzip": packed,
        "deflate": packed[10:-8],
        "zstd": b"junk",
        "snappy": b"\xff" * 9,
    }.items():
        with pytest.raises(Corrupt):
            decompress(codec, data, 999)
    with pytest.raises(Corrupt):
        decompress("lz4_block", b"", 1 << 40)
    with pytest.raises(Unsupported, match="lzo"):
        decompress("lzo", b"", 1)
