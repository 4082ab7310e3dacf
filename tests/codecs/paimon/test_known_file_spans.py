"""Data files of formats that lakelens does not decode: footers that their writers wrote, and damage that names the place."""

from __future__ import annotations

import pytest

from lakelens.codecs.kinds import KINDS, choose_kind, explain, sniff
from lakelens.errors import Corrupt, Unsupported
from tests.support import LAKES
from tests.support.span_checks import assert_survives, assert_tiles, find_error

HOME = LAKES / "pypaimon"
FILES = {
    "row": ("row", {"rows": 3, "blocks": 1, "version": 1}),
    "mosaic": ("mosaic", {"buckets": 2, "row groups": 1, "compression": "zstd", "version": 1}),
    "lance": ("lance", {"columns": 2, "global buffers": 1, "version": "2.2"}),
    "vortex": ("vortex", {"postscript": 160, "version": 1}),
    "vector": ("lance", {"columns": 1, "global buffers": 1, "version": "2.2"}),
}


def read(name: str) -> bytes:
    kind = FILES[name][0]
    (path,) = (HOME / name / "table").glob(f"bucket-0/*.{kind}")
    return path.read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_what_the_writers_wrote(name: str) -> None:
    kind, facts = FILES[name]
    data = read(name)
    assert choose_kind(data) == kind and KINDS[kind].has_magic and not KINDS[kind].is_decoded
    root = explain(data, kind)
    assert_tiles(root, 0, len(data))
    root.check()
    assert root.value == facts
    assert root.children[-1].label == "footer"
    assert_survives(lambda data, *rest: explain(data, kind, *rest), data[-200:])


def test_the_blocks_of_a_row_file() -> None:
    root = explain(read("row"), "row")
    blocks, index, _ = root.children
    assert [(part.label, len(part), part.note) for part in blocks.children] == [
        ("block 0", 44, "rows from 0 on, 35 bytes unpacked")
    ]
    arrays = {part.label: part.value for part in index.children if part.label != "length"}
    assert arrays == {"compressed sizes": (44,), "uncompressed sizes": (35,), "first rows": (0,)}


def test_the_tables_of_a_lance_file() -> None:
    data = read("lance")
    metadata, columns = explain(data, "lance").children[1:3]
    assert metadata.label == "column metadata"
    places = [(a.value, b.value) for a, b in zip(columns.children[::2], columns.children[1::2], strict=True)]
    assert [sum(places[0]), sum(places[1])] == [places[1][0], metadata.end]


def test_older_lance_files_and_videos() -> None:
    old = bytes(20) + (4).to_bytes(8, "little") + bytes.fromhex("0000 0200") + b"LANC"
    root = explain(old, "lance")
    root.check()
    assert root.value == {"version": "0.2"} and [part.label for part in root.children][:2] == [
        "pages",
        "metadata",
    ]
    video = bytes(24) + b"IDEO\x02"
    assert choose_kind(video) == "video" and explain(video, "video").value == {"version": 2}


@pytest.mark.parametrize("kind", ["row", "mosaic", "lance", "vortex", "video"])
def test_files_that_are_cut(kind: str) -> None:
    for data in (b"", b"\0" * 4, b"LANC", b"\xff" * 64):
        root = explain(data, kind)
        assert_tiles(root, 0, len(data))
        assert isinstance(find_error(root), Corrupt | Unsupported)


def test_parts_outside_of_the_file_and_versions() -> None:
    data = bytearray(read("row"))
    data[-20:-12] = (1 << 40).to_bytes(8, "little")
    error = find_error(explain(bytes(data), "row"))
    assert isinstance(error, Corrupt) and "block index outside the file" in str(error)
    data = bytearray(read("row"))
    data[-8] = 9
    assert "version 9" in str(find_error(explain(bytes(data), "row")))


@pytest.mark.parametrize("text", [b"a,b\n1,LANC", b"row,SWOR", b"1,MOSA", b"VIDEO\x01", b"1,IDEO\x01"])
def test_text_that_ends_like_a_magic_is_text(text: bytes) -> None:
    assert sniff(text, text[-16:]) == "text"
