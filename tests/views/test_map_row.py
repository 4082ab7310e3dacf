"""The strip of a row: every byte is in it, words stay in their boxes, a lake's names are text, many fields are bounded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import lakelens as ll
from lakelens.codecs.paimon.binary_row import BinaryRow
from lakelens.formats.paimon.manifests.stats import StoredRow
from lakelens.model.charts import MOST_BOXES, MOST_BYTES, RowMap
from lakelens.practice.binary_row import ROWS, SPARE, read_row
from lakelens.practice.encodings import be4, le4, pad8
from lakelens.views.map.drawing import LEAST
from lakelens.views.map.marks import measure
from lakelens.views.map.row import describe_row

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<script>alert(1)</script>&\x1b[31m\u202e\ufffe" + "x" * 100


def write_texts(texts: list[bytes | None]) -> bytes:
    """A row of texts that are all far; None is null."""
    head = (len(texts) + 71) // 64 * 8
    nulls = sum(1 << 8 + i for i, text in enumerate(texts) if text is None).to_bytes(head, "little")
    slots = far = b""
    for text in texts:
        at = head + 8 * len(texts) + len(far)
        slots += bytes(8) if text is None else le4(len(text)) + le4(at)
        far += b"" if text is None else pad8(text)
    return be4(len(texts)) + nulls + slots + far


def decode_texts(texts: list[bytes | None], name: str = "f") -> StoredRow:
    return ll.decode_binary_row(write_texts(texts), [(f"{name}{i}", "STRING") for i in range(len(texts))])


def check_strip(drawn: RowMap) -> None:
    """Plain marks inside of the width, nothing that runs, and the words of it everywhere."""
    root = ElementTree.fromstring(drawn.to_svg())
    assert root.get("aria-label") == describe_row(drawn) and root.get("role") == "img"
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {"svg", "style", "path", "text"}
    assert not re.search(r"url\(|@import", "".join(one.text or "" for one in root.iter(f"{SVG}style")))
    _, _, width, height = (float(part) for part in (root.get("viewBox") or "").split())
    for text in root.iter(f"{SVG}text"):
        kinds, words = (text.get("class") or "").split(), text.text or ""
        assert words.isprintable(), words
        size = measure(words, code="c" in kinds, bold="b" in kinds)
        left = float(text.get("x") or 0) - (size if text.get("text-anchor") == "end" else 0)
        assert left >= -1 and left + size <= width - 1, (words, left, size)
        assert 0 < float(text.get("y") or 0) < height
    html = drawn._repr_html_()
    assert f"min-width:{LEAST}px" in html and "<img" in html and "<script" not in html
    for said in (html, str(drawn), repr(drawn), drawn.to_text(3)):
        assert not re.search("[\x00-\x08\x1b\u202e\ufffe]", said)


@pytest.mark.parametrize("source", (*ROWS, *SPARE), ids=lambda source: source.title)
def test_every_byte_of_a_row_is_in_one_box(source: Any) -> None:
    row, _ = read_row(source)
    drawn = row.map()
    boxes = [box for part in drawn.parts for box in part.boxes]
    assert b"".join(box.data for box in boxes) == row.data
    assert [box.start for box in boxes] == [
        sum(len(b.data) for b in boxes[:i]) - 4 for i in range(len(boxes))
    ]
    slots = next(part for part in drawn.parts if part.noun == "slots").boxes
    assert [box.name for box in slots] == list(row.names)
    assert [None if box.is_null else box.value for box in slots] == list(row.values)
    assert [box.data for box in slots] == row.list_slots()
    for box in boxes:
        assert box.data.hex(" ") in str(drawn)
    check_strip(drawn)


def test_a_far_text_has_an_arrow_and_its_padding_a_name() -> None:
    drawn = decode_texts([b"eight888", None, b"nine 9999"]).map()
    slots, items = drawn.parts[2].boxes, drawn.parts[3].boxes
    assert [box.far for box in slots] == [32, None, 40] and slots[1].is_null
    assert [(box.name, box.start) for box in items] == [("f0", 32), ("f2", 40)]
    assert "7 bytes of padding" in items[1].note and items[1].pieces[-1].role == "padding"
    assert drawn.to_svg().count('class="w-new"') == 4, "two arrows, each with its tip"
    assert "f1 +16: 00 00 00 00 00 00 00 00 (STRING: null)" in str(drawn)
    assert "null bits 0 to 2: 0 1 0, 1 is null" in describe_row(drawn)
    check_strip(drawn)


def test_a_row_of_many_fields_shows_the_first_ones() -> None:
    texts: list[bytes | None] = [None if i % 9 == 8 else b"%d " % i * 40 for i in range(500)]
    drawn = decode_texts(texts).map()
    counts = {part.noun: len(part.boxes) for part in drawn.parts}
    assert counts == {"arity": 1, "header": 2, "slots": MOST_BOXES, "variable part": MOST_BOXES}
    assert drawn.parts[2].left == "476 more slots" and "more bytes" in drawn.parts[3].left
    assert all(len(box.data) <= MOST_BYTES for part in drawn.parts for box in part.boxes)
    assert "55 are null" in describe_row(drawn) and "… 476 more slots" in drawn.to_svg()
    assert len(drawn.to_svg()) < 49_152
    check_strip(drawn)


def test_names_and_values_of_a_lake_are_text() -> None:
    drawn = decode_texts([EVIL.encode(), b"</svg>\x00\x1b[2J", ("数据" * 200).encode()], EVIL).map()
    check_strip(drawn)
    assert "&lt;script&gt;" in drawn.to_svg() and "⟨U+202E⟩" in str(drawn)


@pytest.mark.parametrize("data", [b"", be4(3) + bytes(2), be4(1) + bytes(8) + b"abcdefgh" + b"01234567"])
def test_what_is_no_row_of_its_fields_is_still_drawn(data: bytes) -> None:
    """Statistics of no columns keep what the manifest has."""
    drawn = StoredRow(BinaryRow((), ()), data).map()
    assert b"".join(box.data for part in drawn.parts for box in part.boxes) == data
    check_strip(drawn)


def test_keys_and_bounds_of_a_manifest_have_one(tmp_path: Path) -> None:
    for name in ("paimon", "paimon-append"):
        file: Any = ll.sample(name).files[0]
        rows = [row for row in (file.min_key, file.value_stats.max_values) if row is not None]
        for row in rows:
            check_strip(row.map())
    row.map().save(tmp_path / "row.svg")
    assert (tmp_path / "row.svg").read_text("utf-8") == row.map().to_svg()
