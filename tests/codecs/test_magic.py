"""Sniffing files by their bytes."""

from __future__ import annotations

import gzip
import io

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakelens.codecs.kinds import Sniffed, sniff

TABLE = pa.table({"a": [1]})


def parquet_bytes() -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(TABLE, sink)
    return sink.getvalue()


def orc_bytes() -> bytes:
    sink = io.BytesIO()
    pyarrow.orc.write_table(TABLE, sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (parquet_bytes(), "parquet"),
        (orc_bytes(), "orc"),
        (gzip.compress(b"{}", mtime=0), "gzip"),
        (pa.compress(b"{}", "zstd", asbytes=True), "zstd"),
        (b"Obj\x01\x04\x14avro.codec", "avro"),
        (b"PFA1" + bytes(20) + b"PFA1", "puffin"),
        (b"AGS1" + bytes(20), "ags1-encrypted"),
        (b"PARE" + bytes(20) + b"PARE", "parquet-encrypted"),
        (b"PAR1" + bytes(20) + b"PARE", "parquet-encrypted"),
        (b'\n{"format-version": 2}', "json"),
        (b"\xef\xbb\xbf[1]", "json"),
        (b"", "empty"),
        (b"1\x01alice\n2\x01\\N\n", "text"),
        (b"17", "text"),
        ("ü".encode()[:1], "text"),
        (b"a\x00b", "unknown"),
        (b"\xff\xfea", "unknown"),
        (b"Obj\x00", "unknown"),
    ],
)
def test_kinds(data: bytes, kind: Sniffed) -> None:
    assert sniff(data[:64], data[-16:]) == kind


def test_orc_is_known_by_its_end_alone() -> None:
    assert sniff(b"\x0a\x00\x00", orc_bytes()[-16:]) == "orc"


@given(st.binary(max_size=40), st.binary(max_size=16))
def test_any_bytes_have_a_kind(head: bytes, tail: bytes) -> None:
    assert isinstance(sniff(head, tail), str)
