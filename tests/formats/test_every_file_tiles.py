"""Every file of every engine-written table, byte by byte: each byte in exactly one leaf, and none of them damaged."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakelens.codecs.kinds import choose_kind, explain
from lakelens.codecs.span.span import Span
from tests.support import LAKES

GROUPS = 16
#: What lies beside a table's directory and is of the tests.
_OURS = ("answers.json", "positions.json")
#: Kinds that leave no byte of an engine's file without a name.
WHOLE = (
    "avro",
    "blob",
    "crc",
    "gzip",
    "hash_index",
    "json",
    "json_lines",
    "orc",
    "parquet",
    "puffin",
    "text",
)
#: By the end of their names, files of formats that nothing here explains: Paimon's row files.
UNEXPLAINED = (".row",)
KIND_BY_ENDING = {
    ".parquet": ("parquet",),
    ".orc": ("orc",),
    ".avro": ("avro",),
    ".puffin": ("puffin",),
    ".stats": ("puffin",),
    ".json": ("json", "json_lines", "gzip"),
    ".gz": ("gzip",),
    ".crc": ("crc",),
    ".index": ("file_index", "global_index"),
    ".blob": ("blob",),
    ".csv": ("text",),
}


def list_files(group: int) -> list[Path]:
    """The files of one group of tables: by name, so that adding a table moves no other."""
    tables = [
        path for engine in ("paimon-java", "spark/*") for path in LAKES.glob(f"{engine}/*") if path.is_dir()
    ]
    chosen = [table for table in tables if zlib.crc32(table.name.encode()) % GROUPS == group]
    return [
        path
        for table in chosen
        for path in sorted(table.rglob("*"))
        if path.is_file() and path.name not in _OURS
    ]


def choose(data: bytes, path: Path) -> str:
    """The kind of a file; a hash index is known only by what refers to it: Paimon's index manifests, here its directory."""
    kind = choose_kind(data, path.name)
    return "hash_index" if kind == "unknown" and path.parent.name == "index" else kind


def walk_leaves(span: Span, size: int) -> Iterator[Span]:
    """Every leaf, those of decompressed content too; each tree tiles its bytes."""
    position = span.start
    for leaf in span.leaves():
        assert leaf.start == position, f"{leaf!r} does not begin at {position}"
        position = leaf.end
        yield leaf
        if leaf.is_packed:
            content, inner = leaf.unpack()
            assert inner.start == 0
            yield from walk_leaves(inner, len(content))
    assert position == size


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("group", range(GROUPS))
def test_every_file_tiles(group: int) -> None:
    kinds: Counter[str] = Counter()
    for path in list_files(group):
        data = path.read_bytes()
        kind = choose(data, path)
        kinds[kind] += 1
        name = f"{path.relative_to(LAKES)}: {kind}"
        assert kind in KIND_BY_ENDING.get(path.suffix, (kind,)), name
        assert kind != "unknown" or path.name.endswith(UNEXPLAINED), name
        for leaf in walk_leaves(explain(data, kind), len(data)):
            assert leaf.error is None, f"{name}: {leaf.error}"
            assert leaf.role != "unexplained" or not len(leaf) or kind not in WHOLE, f"{name}: {leaf!r}"
    assert {"json", "avro", "parquet"} <= set(kinds)


def test_the_files_are_of_every_kind() -> None:
    kinds = {choose(path.read_bytes(), path) for group in range(GROUPS) for path in list_files(group)}
    assert set(WHOLE) - {"json_lines"} <= kinds
    assert {"file_index", "global_index", "paimon_dv_index"} <= kinds


def test_checksums_are_of_the_files_beside_them() -> None:
    found = 0
    for path in LAKES.rglob(".*.crc"):
        data = path.read_bytes()
        neighbour = path.with_name(path.name.removeprefix(".").removesuffix(".crc")).read_bytes()
        root = explain(data, "crc", neighbour=neighbour)
        root.check()
        assert all(leaf.note.endswith("matches") for leaf in root.children[2:])
        found += len(root.children) - 2
    assert found
