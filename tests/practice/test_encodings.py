"""Encodings: the bytes are those that our decoders read, and the picture is drawn from the number."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

import lakelens as ll
from lakelens.codecs.avro.types import read_long
from lakelens.errors import LakeError, UnknownName
from lakelens.views.answers.practice import draw_boxes

NUMBERS = (
    0,
    1,
    -1,
    5,
    -3,
    63,
    64,
    -64,
    -65,
    127,
    128,
    300,
    -20,
    2**31 - 1,
    -(2**31),
    2**62,
    2**63 - 1,
    -(2**63),
)


@pytest.mark.parametrize("value", NUMBERS)
def test_bytes_are_what_decoders_read(value: int) -> None:
    for width in (None, 8):
        little = ll.explain_encoding("little-endian", value, width)
        kind = {1: "int", 4: "int", 8: "long"}[max(len(little.data), 4)]
        assert ll.explain_bytes(little.data, "iceberg_value", type=kind).value == value
        both = ll.explain_encoding("two's complement", value, width)
        assert int.from_bytes(both.data, "big", signed=True) == value
        fields = [("n", {1: "TINYINT", 2: "SMALLINT", 4: "INT", 8: "BIGINT"}[len(both.data)])]
        row = bytes.fromhex("00000001") + bytes(8) + both.data[::-1].ljust(8, b"\0")
        assert ll.decode_binary_row(row, fields)["n"] == value
    zigzag = ll.explain_encoding("zigzag", value)
    assert read_long(zigzag.data, 0, len(zigzag.data))[0] == value
    if value >= 0:
        data = ll.explain_encoding("varint", value).data
        assert sum((byte & 0x7F) << 7 * i for i, byte in enumerate(data)) == value
        assert [byte > 0x7F for byte in data] == [True] * (len(data) - 1) + [False]


@pytest.mark.parametrize("name", ["little-endian", "two's complement", "varint", "zigzag"])
@pytest.mark.parametrize("value", [0, 7, 300, 2**40])
def test_the_picture_says_what_the_text_says(name: str, value: int) -> None:
    encoding = ll.explain_encoding(name, value)
    drawn = ElementTree.fromstring(draw_boxes(encoding))
    words = [node.text for node in drawn.iter() if node.tag.endswith("text")]
    assert words == [text for row in encoding.rows for text in (row.label, *(box.text for box in row.boxes))]
    wide = float(drawn.attrib["width"])
    for node in drawn.iter():
        if node.tag.endswith("rect"):
            assert float(node.attrib["x"]) + float(node.attrib["width"]) <= wide
    text = str(encoding)
    assert encoding.paragraph in text and encoding.data.hex(" ") in text
    html = encoding._repr_html_()
    assert "data:image/svg+xml;base64," in html and "<script" not in html and len(html) < 20_000
    assert "light-dark(" in draw_boxes(encoding) and not re.search(
        r"https?://(?!www\.w3\.org/2000/svg)", draw_boxes(encoding)
    )


def test_names_are_forgiving_and_numbers_are_checked() -> None:
    for name in ("Two's complement", "twos-complement", "two’s_complement"):
        assert ll.explain_encoding(name, -1).name == "two's complement"
    with pytest.raises(UnknownName, match="did you mean zigzag"):
        ll.explain_encoding("zig-zag", 1)
    for name, value, width in (
        ("varint", -1, None), ("varint", 2**64, None), ("zigzag", 2**63, None), ("little-endian", 128, 1),
        ("two's complement", 2**63, None), ("zigzag", 1.5, None), ("zigzag", True, None), ("zigzag", 1, 3),
        ("little-endian", "5", None),
    ):  # fmt: skip
        with pytest.raises(LakeError):
            ll.explain_encoding(name, value, width)  # type: ignore[arg-type]
