"""Every index file, deletion vector and Puffin file that engines wrote: all bytes named, positions as decoded."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from lakelens.codecs.bitmaps.deletion_vector import (
    decode_hash_index,
    decode_iceberg_dv,
)
from lakelens.codecs.iceberg.puffin import decode_footer, decode_theta
from lakelens.codecs.kinds import choose_kind, explain
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.index import PaimonIndexFile
from tests.codecs.bitmaps.test_deletion_vector import decode_vectors
from tests.support import LAKES
from tests.support.paimon_lakes import Lake, list_lakes
from tests.support.span_checks import assert_tiles


@cache
def list_index_files() -> tuple[tuple[Lake, PaimonIndexFile], ...]:
    """Every index file that a snapshot of a Paimon table names and that is there, once."""
    found: dict[Path, tuple[Lake, PaimonIndexFile]] = {}
    for lake in list_lakes():
        for table, _ in lake.views():
            for snapshot in table.snapshots:
                for file in snapshot.index_files:
                    path = Path(file.path.removeprefix("file://"))
                    if isinstance(file, PaimonIndexFile) and path.is_file():
                        found.setdefault(path, (lake, file))
    return tuple(found.values())


def read(file: PaimonIndexFile) -> bytes:
    return Path(file.path.removeprefix("file://")).read_bytes()


def list_ranges(file: PaimonIndexFile) -> list[tuple[str, int, int]]:
    return [(item["data_file"], item["offset"], item["length"]) for item in file.ranges]


def test_vectors_of_paimon() -> None:
    seen = set()
    for lake, file in list_index_files():
        if file.index_type != "DELETION_VECTORS":
            continue
        data, ranges = read(file), list_ranges(file)
        assert not ranges or choose_kind(data) == "paimon_dv_index"
        expected = decode_vectors(data, ranges)
        span = explain(data, "paimon_dv_index", ranges=file.ranges)
        span.check()
        assert_tiles(span, 0, len(data))
        assert span.value == expected, lake.name
        counts = {item["data_file"]: item["cardinality"] for item in file.ranges}
        for vector in span.children[1:]:
            assert vector.value == expected[vector.label]
            assert counts[vector.label] in (None, len(vector.value))
            seen.add(vector.children[2].label)
        assert [child.role for child in span.children] == [""] * (1 + len(ranges))
        walked = explain(data, "paimon_dv_index")
        walked.check()
        assert walked.value == {at: expected[name] for name, at, _ in ranges}
    assert seen == {"32-bit bitmap", "64-bit bitmap"}


def test_hash_indexes_of_paimon() -> None:
    count = 0
    for _, file in list_index_files():
        if file.index_type == "HASH":
            data = read(file)
            span = explain(data, "hash_index")
            span.check()
            assert_tiles(span, 0, len(data))
            hashes = [leaf.value for leaf in span.leaves()]
            assert hashes == decode_hash_index(data).tolist() and len(hashes) == file.row_count
            count += 1
    assert count > 0


def test_global_indexes_of_paimon() -> None:
    """Their row ids are the range of the index manifest, and no byte is left unexplained."""
    kinds = set()
    for _, file in list_index_files():
        if file.global_index is not None:
            data = read(file)
            assert choose_kind(data) == "global_index"
            span = explain(data, "global_index")
            span.check()
            assert_tiles(span, 0, len(data))
            assert not [leaf for leaf in span.leaves() if leaf.role]
            rows = [leaf.value for leaf in span.leaves() if leaf.label == "row id"]
            for part in span.children:
                rows.extend(part.value if part.label == "bitmap" else ())
            start, end = (file.global_index[f"row_range_{side}"] for side in ("start", "end"))
            assert sorted(start + row for row in rows) == list(range(start, end + 1))
            assert len(rows) == file.row_count
            kinds.add(span.label)
            for key in ("index_meta", "source_meta"):
                if (meta := file.global_index.get(key)) is not None:
                    told = explain(meta, key)
                    told.check()
                    assert_tiles(told, 0, len(meta))
                    assert not [leaf for leaf in told.leaves() if leaf.role]
    assert kinds == {"B-tree index", "bitmap index"}


def list_file_indexes() -> Iterator[tuple[PaimonDataFile, bytes]]:
    """Every file index of a live data file: embedded, or beside it."""
    for lake in list_lakes("*file-index*"):
        for table, _ in lake.views():
            for file in table.files:
                assert isinstance(file, PaimonDataFile)
                if file.embedded_file_index is not None:
                    yield file, file.embedded_file_index
                for name in file.extra_files:
                    if name.endswith(".index"):
                        yield file, (Path(file.path.removeprefix("file://")).parent / name).read_bytes()


def test_file_indexes_of_paimon() -> None:
    kinds = set()
    for file, data in list_file_indexes():
        types = {column.name: column.type for column in file.schema.columns}
        span = explain(data, "file_index", types=types)
        span.check()
        assert_tiles(span, 0, len(data))
        assert span.value.columns
        assert not [leaf for leaf in span.leaves() if leaf.role]
        for node in span.walk():
            if node.label in ("bitmap", "range-bitmap", "bsi", "bloom-filter") and node.children:
                kinds.add(node.label)
            if node.label == "row count":
                assert node.value == file.record_count
    assert kinds == {"bitmap", "range-bitmap", "bsi", "bloom-filter"}


@pytest.mark.parametrize("suffix", ["puffin", "stats"])
def test_puffin_files_of_iceberg(suffix: str) -> None:
    paths = sorted(LAKES.glob(f"*/iceberg/*/table/**/*.{suffix}"))
    assert paths
    for path in paths:
        data = path.read_bytes()
        assert choose_kind(data) == "puffin"
        span = explain(data, "puffin")
        span.check()
        assert_tiles(span, 0, len(data))
        footer = decode_footer(data)
        assert span.value == footer
        blobs = span.children[1].children
        assert [blob.start for blob in blobs] == sorted(blob.offset for blob in footer.blobs)
        for blob in footer.blobs:
            node = next(node for node in blobs if node.start == blob.offset)
            assert len(node) == blob.length
            if blob.type == "deletion-vector-v1":
                assert node.value == decode_iceberg_dv(data[node.start : node.end])
                assert len(node.value) == int(blob.properties["cardinality"])
            else:
                content, inner = node.unpack()
                assert_tiles(inner, 0, len(content))
                assert inner.value == decode_theta(content)
                assert round(inner.value.estimate) == int(blob.properties["ndv"])
