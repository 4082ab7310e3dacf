"""Without the extra `fast`: the same columns from Avro, the same bytes inflated, and one line that says how to be faster."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.codecs import compression, fast
from lakelens.codecs.avro import bulk
from lakelens.codecs.avro.container import decode_header, iter_blocks
from lakelens.codecs.avro.records import decode_block, decode_records
from lakelens.errors import Corrupt, LakeError
from tests.lakes import make_samples
from tests.support import growth


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No datafusion and no isal, whatever is installed."""
    monkeypatch.setattr(bulk, "find_datafusion", lambda: None)
    monkeypatch.setattr(compression, "find_inflater", lambda: zlib)
    fast.advise.cache_clear()
    yield
    fast.advise.cache_clear()


@cache
def list_avro() -> list[Path]:
    """Files of each shape that the engines wrote: one of every table and name, as its first letters are."""
    found = {}
    for path in sorted(make_samples.LAKES.rglob("*")):
        if path.is_file() and path.stat().st_size < 1 << 20:
            with path.open("rb") as stream:
                if stream.read(4) == b"Obj\x01":
                    found[path.parent, path.name[:10].rstrip("0123456789")] = path
    return list(found.values())[::6]


def test_engine_written_avro_is_the_same_by_way_of_records(
    bare: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [path.read_bytes() for path in list_avro()]
    assert len(files) > 20
    slow = list(bulk.decode_files(files))
    monkeypatch.undo()
    for ours, other in zip(slow, bulk.decode_files(files), strict=True):
        assert ours.parts == other.parts
        assert (ours.table is None) == (other.table is None)
        if ours.table is not None and other.table is not None:
            assert ours.table.schema.equals(other.table.schema)
            assert repr(ours.table.to_pylist()) == repr(
                other.table.to_pylist()
            )  # in words, in which NaN equals NaN
    assert sum(0 if group.table is None else group.table.num_rows for group in slow) > 50


@pytest.mark.parametrize("grow", [growth.grow_iceberg, growth.grow_paimon])
def test_files_by_column_are_the_same(
    grow: Callable[..., Path], bare: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = grow(tmp_path / "grown", files=600, manifests=3)
    monkeypatch.setattr("lakelens.model.scan.scan_to_arrow.WORTH_BYTES", 0)
    slow = ll.open(path).files.to_arrow()
    monkeypatch.undo()
    found = ll.open(path).files.to_arrow()
    assert slow.schema.equals(found.schema) and slow.num_rows > 600
    assert repr(slow.to_pylist()) == repr(found.to_pylist())  # in words, in which NaN equals NaN


def test_damage_is_refused_by_way_of_records_as_the_records_refuse_it(bare: None) -> None:
    data = min((path.read_bytes() for path in list_avro()), key=len)
    refused = 0
    for place in range(len(data) - 200, len(data)):
        spoiled = data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]
        tables = [group.table for group in bulk.decode_files([spoiled])]
        try:
            records = decode_records(spoiled)
        except LakeError:
            refused += 1
            assert None in tables
        else:
            assert [table.num_rows for table in tables if table is not None] == [len(records)]
    assert refused > 20


def test_a_block_has_the_records_that_it_counts() -> None:
    data = next(path.read_bytes() for path in list_avro())
    header, block = decode_header(data), next(iter_blocks(data, decode_header(data)))
    content = compression.decompress(
        {"zstandard": "zstd"}.get(header.codec, header.codec), data[block.start : block.start + block.size]
    )
    assert len(decode_block(header, content, block.count)) == block.count
    for count in (block.count - 1, block.count + 1, 1 << 40):
        with pytest.raises(Corrupt):
            decode_block(header, content, count)


def test_zlib_inflates_as_isal_does(bare: None) -> None:
    data = bytes(range(256)) * 4000
    assert compression.decompress("gzip", gzip.compress(data) + gzip.compress(b"more")) == data + b"more"
    raw = zlib.compress(data, wbits=-15)
    assert compression.decompress("deflate", raw) == data
    for spoiled, limit in ((raw, 100), (raw[:-9], None), (b"\xff" * 50, None), (b"", None)):
        with pytest.raises(Corrupt):
            compression.decompress("deflate", spoiled, limit)


def test_it_is_said_once_how_to_be_faster(bare: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "MANY_ROWS", 1)
    monkeypatch.setattr(fast.importlib.util, "find_spec", lambda name: None)
    data = next(path.read_bytes() for path in list_avro())
    with pytest.warns(
        UserWarning, match=r"without datafusion and isal, .*pip install 'lakelens\[fast\]'"
    ) as said:
        for _ in range(3):
            list(bulk.decode_files([data]))
    assert len(said) == 1
    monkeypatch.setattr(fast.importlib.util, "find_spec", lambda name: name)
    fast.advise.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(bulk.decode_files([data]))


def test_a_process_without_them_opens_reads_and_checks() -> None:
    """Nothing imports them but the one module that can do without."""
    script = """
import json, sys
sys.modules.update({"datafusion": None, "isal": None})
import lakelens as ll
found = {}
for name in ("iceberg", "paimon", "hive"):
    table = ll.sample(name)
    found[name] = [len(table.files), table.files.to_arrow().num_rows, table.check().ok]
print(json.dumps(found))
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    for name, (files, rows, is_sound) in json.loads(ended.stdout).items():
        table = ll.sample(name)
        assert (files, rows) == (len(table.files), len(table.files))
        assert is_sound == table.check().ok
