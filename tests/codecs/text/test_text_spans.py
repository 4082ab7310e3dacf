"""Text, checksum files and gzip byte by byte."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.kinds import choose_kind, explain
from lakelens.codecs.text.envelopes import compute_crc32c, explain_crc, explain_gzip
from lakelens.codecs.text.text_spans import explain_json_lines, explain_text, explain_unknown
from lakelens.errors import Corrupt
from tests.support.span_checks import assert_survives, assert_tiles, find_error


@given(
    st.lists(st.text(st.characters(exclude_characters="\n\r", codec="utf-8"), max_size=6), max_size=6),
    st.booleans(),
)
def test_lines(lines: list[str], ends: bool) -> None:
    data = "\n".join(lines).encode() + (b"\n" if ends else b"")
    root = explain_text(data)
    assert_tiles(root, 0, len(data))
    root.check()
    assert [line.value for line in root.children] == data.decode().removesuffix("\n").split("\n") or not data


@settings(max_examples=150)
@given(
    st.lists(
        st.binary(max_size=5).map(lambda b: b.replace(b"\n", b"").replace(b"\r", b"")), min_size=1, max_size=5
    )
)
@pytest.mark.parametrize("separator", [b"\x01", b"::", b"aa"])
def test_fields_of_delimited_text(separator: bytes, fields: list[bytes]) -> None:
    line = separator.join(fields)
    data = b"x\n" + line + b"\r\n"
    root = explain_text(data, separator=separator)
    assert_tiles(root, 0, len(data))
    expected = [
        None if field == b"\\N" else field.decode(errors="replace") for field in line.split(separator)
    ]
    found = root.children[1]
    assert found.value == expected
    assert [part.value for part in found.children if part.label.startswith("field")] == expected
    assert [part.number for part in found.children if part.label.startswith("field")] == list(
        range(len(expected))
    )


@pytest.mark.parametrize("mark", [b"\n", b"\x01"])
@pytest.mark.parametrize("count", [999, 1000, 1001, 20_000])
def test_many_lines_and_fields_come_in_groups(mark: bytes, count: int) -> None:
    data = mark * count + b"end"
    root = explain_text(data, separator=b"\x01")
    assert max(len(span.children) for span in root.walk()) <= 2001
    position, named = 0, 0
    for leaf in root.leaves():
        assert leaf.start == position
        position = leaf.end
        named += leaf.label == f"field {count}" and leaf.value == "end"
    assert position == len(data)
    assert named == (mark == b"\x01")


def test_rows_as_json() -> None:
    rows = [{"a": i, "b": [str(i)]} for i in range(1100)]
    data = b"\n".join(json.dumps(row).encode() for row in rows) + b"\n\n"
    root = explain(data, choose_kind(data))
    root.check()
    assert_tiles(root, 0, len(data))
    assert [line.value for group in root.children for line in group.children if line.value] == rows
    assert_survives(explain_json_lines, data[:300])


def test_bytes_that_nobody_explains() -> None:
    for size in (0, 1, 65_536, 65_537, 80_000_000):
        data = bytes(size)
        root = explain_unknown(data)
        leaves = list(root.leaves())
        assert leaves[0].start == 0 and leaves[-1].end == size
        assert all(a.end == b.start for a, b in pairwise(leaves))
        assert all(leaf.role == "unexplained" for leaf in leaves)


def checksums(content: bytes, size: int, kind: str) -> bytes:
    compute = zlib.crc32 if kind == "CRC-32" else compute_crc32c
    chunks = [content[at : at + size] for at in range(0, len(content), size)]
    return (
        b"crc\0" + size.to_bytes(4, "big") + b"".join(compute(chunk).to_bytes(4, "big") for chunk in chunks)
    )


@given(st.binary(max_size=40), st.integers(1, 9), st.sampled_from(["CRC-32", "CRC-32C"]))
def test_checksums_of_the_neighbour(content: bytes, size: int, kind: str) -> None:
    data = checksums(content, size, kind)
    root = explain_crc(data, neighbour=content)
    assert_tiles(root, 0, len(data))
    root.check()
    sums = root.children[2:]
    assert root.value == tuple(part.value for part in sums)
    if checksums(content, size, "CRC-32") != checksums(
        content, size, "CRC-32C"
    ):  # both of FF are FF 00 00 00
        assert any(part.note.startswith(f"{kind} of bytes") for part in sums)
    assert all(part.note.endswith("matches") for part in sums)
    if content:
        wrong = bytes([content[0] ^ 1]) + content[1:]
        error = find_error(explain_crc(data, neighbour=wrong))
        assert isinstance(error, Corrupt) and error.offset == 8
        assert find_error(explain_crc(data, neighbour=content + bytes(size))) is not None


def test_a_checksum_file_of_hadoop() -> None:
    data = bytes.fromhex("63726300 00000200 7e4af5e2")
    root = explain_crc(data)
    assert_survives(explain_crc, data)
    assert [part.value for part in root.children] == ["crc", 512, 0x7E4AF5E2]
    large = checksums(bytes(2500), 1, "CRC-32C")
    assert [len(part.children) for part in explain_crc(large).children] == [0, 0, 1024, 1024, 452]
    explain_crc(large, neighbour=bytes(2500)).check()


def packed(content: bytes, name: str = "", **more: int) -> bytes:
    sink = io.BytesIO()
    with gzip.GzipFile(name, "wb", fileobj=sink, mtime=more.get("mtime", 0)) as file:
        file.write(content)
    return sink.getvalue()


@given(
    st.lists(st.binary(max_size=60), min_size=1, max_size=3),
    st.sampled_from(["", "a.json"]),
    st.integers(0, 3),
)
def test_gzip_members(contents: list[bytes], name: str, zeros: int) -> None:
    data = b"".join(packed(content, name, mtime=1_700_000_000) for content in contents) + bytes(zeros)
    root = explain_gzip(data)
    assert_tiles(root, 0, len(data))
    if len(contents) > 1 or choose_kind(contents[0]) in (
        "text",
        "unknown",
    ):  # else it may be damaged JSON, say
        root.check()
    assert root.value == gzip.decompress(data) == b"".join(contents)
    unpacked = [leaf.unpack() for leaf in root.leaves() if leaf.is_packed]
    assert [content for content, _ in unpacked] == contents
    for content, span in unpacked:
        assert_tiles(span, 0, len(content))
    assert [leaf.value for leaf in root.leaves() if leaf.label == "name"] == (
        [name] * len(contents) if name else []
    )


def test_the_content_of_gzip_is_explained() -> None:
    root = explain_gzip(packed(b'{"a": 1}', "v1.metadata.json"))
    content, span = next(leaf for leaf in root.leaves() if leaf.is_packed).unpack()
    assert (content, span.label, span.value) == (b'{"a": 1}', "JSON document", {"a": 1})
    error = find_error(explain_gzip(packed(b'{"a": x}')))
    assert isinstance(error, Corrupt) and error.offset == 6  # in the content


def test_optional_parts_of_a_gzip_header() -> None:
    plain = packed(b"text")
    header = bytes([0x1F, 0x8B, 8, 0b11110, 0, 0, 0, 0, 0, 3]) + b"\x03\0abc" + b"n\0" + b"c\0"
    whole = header + (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little") + plain[10:]
    root = explain_gzip(whole)
    root.check()
    values = {leaf.label: leaf.value for leaf in root.children[0].leaves()}
    assert (values["extra"], values["name"], values["comment"], values["system"]) == (b"abc", "n", "c", 3)
    assert root.value == b"text"
    assert find_error(explain_gzip(bytes([*whole[:20], whole[20] ^ 1, *whole[21:]]))) is not None


def test_gzip_cut_and_flipped_agrees_with_the_decoder() -> None:
    data = packed(b"some text " * 30, "name")
    assert_survives(explain_gzip, data, flips=300)
    for length in range(len(data)):
        assert isinstance(find_error(explain_gzip(data[:length])), Corrupt)
        with pytest.raises(Corrupt):
            _ = explain_gzip(data[:length]).value
    assert isinstance(find_error(explain_gzip(data + b"\0junk")), Corrupt)


def test_gzip_that_grows_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakelens.codecs.text.envelopes.MAX_CONTENT", 1 << 22)
    bomb = packed(bytes(1 << 22)) + packed(b"1")
    assert isinstance(find_error(explain_gzip(bomb)), Corrupt)
    nested = b"x"
    for _ in range(6):
        nested = packed(nested)
    explain_gzip(nested).check()
    many = packed(b"a") * 2500
    root = explain_gzip(many)
    root.check()
    assert (len(root.children), root.value) == (1001, b"a" * 2500)
