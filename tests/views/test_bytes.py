"""Annotated hex: what is shown of a tree of spans, how much of it, and that nothing of it acts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import html5lib
import pytest

from lakelens.codecs.span.span import Deferred, Span
from lakelens.errors import Corrupt
from lakelens.model.bytes_view import BytesView
from lakelens.options import display
from lakelens.views.hexdump.html import bytes_style
from lakelens.views.hexdump.model import ByteFold, LineGroup, More, list_lines, present_bytes
from lakelens.views.render.html import render_card, render_page
from lakelens.views.render.text import render_text
from tests.views.test_hostile import HOSTILE

TAGS = {
    "div",
    "style",
    "p",
    "b",
    "i",
    "span",
    "small",
    "code",
    "table",
    "colgroup",
    "col",
    "thead",
    "tbody",
    "tr",
    "h4",
    "caption",
    "wbr",
}
TAGS |= {"th", "td", "abbr", "details", "summary"}


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    with display.using(strict_views=True):
        yield


def make_row() -> BytesView:
    """A row of two fields, its second one in the variable part, behind an arity of four bytes."""
    data = bytes.fromhex(
        "00000002 0000000000000000 0700000000000000 0a00000018000000 68656c6c6f776f726c64000000000000"
    )
    pointer = (Span(20, 24, "length"), Span(24, 28, "offset"))
    arity = Span(0, 4, "arity", 2, "int32, big-endian")
    slots = (
        Span(12, 20, "id", 7, "INT, 4 bytes", (Span(12, 16, "value", 7), Span(16, 20, "unused", role="unused")), number=0),
        Span(20, 28, "name", "helloworld", "STRING: 10 bytes at +24", pointer, number=1),
    )  # fmt: skip
    text = (Span(28, 38, "text", "helloworld", "UTF-8", number=1), Span(38, 44, "padding", role="padding"))
    header = (
        Span(4, 5, "RowKind", "+I", "RowKind 0"),
        Span(5, 6, "null bits", None, "null bits 0 to 1: 0 0"),
        Span(6, 12, "not used", role="unused"),
    )
    sections = (
        Span(0, 4, "Arity", None, "4 bytes", (Span(0, 4, "arity", None, "", (arity,)),)),
        Span(4, 12, "Header", None, "8 bytes", header),
        Span(12, 28, "Fixed part", None, "2 slots", slots),
        Span(28, 44, "Variable part", None, "16 bytes", (Span(28, 44, "name", None, "", text, number=1),)),
    )
    return BytesView(data, Span(0, 44, "BinaryRow", None, "2 fields", sections, origin=4), place="_MIN_KEY")


def make_endless(count: int, asked: list[int] | None = None) -> Span:
    """A structure of `count` fields of one byte each, which tells how many were made."""

    def make() -> Iterator[Span]:
        for position in range(count):
            if asked is not None:
                asked.append(position)
            yield Span(position, position + 1, f"f{position}", position % 256, "uint8")

    return Span(0, count, "many", Deferred(lambda: pytest.fail("the value of all was asked for")), "", make)


class Zeros:
    """As many zeros as one likes, none of them kept."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, key: slice) -> bytes:  # type: ignore[override]
        start, stop, _ = key.indices(self.size)
        assert stop - start < 1000
        return bytes(stop - start)


def parse(markup: str) -> html5lib.treebuilders.etree:  # type: ignore[name-defined]
    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parseFragment(markup)
    for element in tree.iter():
        if element.tag == "DOCUMENT_FRAGMENT":
            continue
        assert element.tag in TAGS, element.tag
        for name, value in element.attrib.items():
            assert name in {
                "class",
                "title",
                "scope",
                "colspan",
                "open",
                "style",
                "data-lm-suppress-shortcuts",
            }, name
            if name == "class":
                assert all(re.fullmatch(r"ll-[a-z]+[0-5]?", word) for word in value.split()), value
            if name == "style":
                assert re.fullmatch(
                    r"width:(\d{1,3}px)(;min-width:\1)?|overflow-x:auto;max-width:\d{3,4}px|display:inline",
                    value,
                ), value
            if name in ("colspan", "open"):
                assert re.fullmatch(r"[0-9]?", value), value
    return tree


def read_rows(markup: str) -> list[list[str]]:
    """The text of every cell of the lines."""
    rows = [
        ["".join(cell.itertext()).replace("\u00a0", " ") for cell in row.iter("td")]
        for row in parse(markup).iter("tr")
    ]
    return [row for row in rows if row]


def test_lines_of_a_row() -> None:
    lines = [
        (line.at, line.number, line.field, line.hex, line.meaning, line.aside, line.value)
        for line in present_bytes(make_row()).list_lines()
    ]
    assert lines == [
        ("−4", None, "arity", "00 00 00 02", "int32, big-endian", "", "2"),
        ("+0", None, "RowKind", "00", "RowKind 0", "", "'+I'"),
        ("+1", None, "null bits", "   00", "null bits 0 to 1: 0 0", "", ""),
        ("+2", None, "not used", "      00 00 00 00 00 00", "", "", ""),
        ("+8", 0, "id", "07 00 00 00 00 00 00 00", "INT, 4 bytes", "", "7"),
        ("+16", 1, "name", "0a 00 00 00 18 00 00 00", "STRING: 10 bytes at +24", "", "'helloworld'"),
        ("+24", 1, "name", "68 65 6c 6c 6f 77 6f 72", "UTF-8", "", "'helloworld'"),
        ("+32", 1, "", "6c 64 00 00 00 00 00 00", "bytes 8 to 9", "6 bytes of padding", ""),
    ]


def test_every_byte_of_a_small_tree_is_shown_once_and_in_order() -> None:
    row = make_row()
    shown = b"".join(piece.octets for line in present_bytes(row).list_lines() for piece in line.pieces)
    assert shown == row.data


def test_html_and_text_tell_the_same() -> None:
    row = make_row()
    text = render_text(row)
    for cells in read_rows(render_card(row)):
        for cell in cells:
            assert cell in text
    assert "BinaryRow: 2 fields, 44 bytes" in text
    assert "“at” counts from byte 4" in text
    assert max(len(line) for line in text.splitlines()) <= 100


def test_tints_never_stand_without_the_number() -> None:
    for row in parse(render_card(make_row())).iter("tr"):
        classes = " ".join(element.get("class", "") for element in row.iter())
        if "ll-k" in classes:
            numbers = [b.text for b in row.iter("b")]
            assert len(numbers) == 1
            assert f"ll-k{int(numbers[0]) % 6}" in classes.split()


def test_style_is_small_and_holds_every_class_that_is_used() -> None:
    style = str(bytes_style())
    assert len(style.encode()) <= 4096
    used = {
        word
        for element in parse(render_card(make_row())).iter()
        for word in (element.get("class") or "").split()
    }
    known = set(re.findall(r"\.(ll-[a-z]+[0-5]?)", style))
    assert used <= known
    for rule in style.strip().splitlines():
        assert rule.startswith((".ll-root", "@keyframes ll-")), rule


def test_no_more_is_made_than_is_shown() -> None:
    asked: list[int] = []
    size = 10**12
    explanation = BytesView(Zeros(size), make_endless(size, asked))
    view = present_bytes(explanation)
    assert len(list(view.list_lines())) == 64
    assert isinstance(view.parts[-1], More)
    assert view.parts[-1].text == "… more from 64, 999,999,999,936 bytes"
    assert view.parts[-1].code == ".at(64)"
    # the first values for the sentence, the lines, and one more to know that there are others
    assert len(asked) < 100
    held = bytes(5000)
    assert "… more than 1,000 more from 64" in str(BytesView(held, make_endless(5000)))


def test_what_is_left_out_is_counted_and_can_be_shown() -> None:
    explanation = BytesView(bytes(200), make_endless(200))
    (group, more) = present_bytes(explanation).parts
    assert isinstance(group, LineGroup)
    assert isinstance(more, More)
    assert more.text == f"… {200 - len(group.lines)} more from 64, 136 bytes"
    following = explanation.at(64)
    lines = list(present_bytes(following).list_lines())
    assert [lines[0].field, lines[2].field] == ["f62", "f64"]
    assert "… 62 more before 62" in str(following)
    assert [line.field for line in present_bytes(explanation.at(199)).list_lines()][-1] == "f199"


def test_long_bytes_have_a_head_and_a_tail() -> None:
    data = bytes(range(256)) * 40
    (group,) = present_bytes(BytesView(data, Span(0, len(data), "image"))).parts
    assert isinstance(group, LineGroup)
    assert [line.meaning for line in group.lines] == [
        "",
        "bytes 16 to 31",
        "… 10,192 more bytes",
        "bytes 10224 to 10239",
    ]
    assert [line.at for line in group.lines] == ["0", "16", "", "10224"]


def make_packed(inner: Span, content: bytes) -> BytesView:
    packed = Span(4, 10, "block", None, "6 bytes of zstandard", unpacked=lambda: (content, inner))
    root = Span(0, 10, "file", None, "one block", (Span(0, 4, "magic", "Obj"), packed))
    return BytesView(b"Obj\x01packed", root)


def test_compressed_bytes_are_shown_as_stored_and_decompressed() -> None:
    inner = Span(0, 3, "records", None, "1 record", (Span(0, 1, "id", 5, "varint"), Span(1, 3, "name", "ab")))
    explanation = make_packed(inner, b"\x0aab")
    group, fold = present_bytes(explanation).parts
    assert isinstance(group, LineGroup)
    assert isinstance(fold, LineGroup | ByteFold)
    assert [line.field for line in group.lines] == ["magic", "block"]
    assert [line.value for line in list_lines([fold])] == ["5", "'ab'"]
    assert "decompressed: records, 1 record, 3 bytes" in str(explanation)
    assert explanation.unpacked(7).find(1).label == "name"
    assert explanation.at(7).label == "block"
    assert explanation.at(7).unpacked().data == b"\x0aab"


def test_bytes_that_cannot_be_decompressed_are_an_error_in_their_place() -> None:
    def fail() -> tuple[bytes, Span]:
        raise Corrupt("a frame that is cut short", offset=4)

    root = Span(0, 8, "file", children=(Span(0, 8, "block", unpacked=fail),))
    text = render_text(BytesView(bytes(8), root))
    assert "(ERROR at byte 0)" in text
    assert "ERROR: a frame that is cut short (at byte 4)" in text


def test_damage_is_told_in_words_in_its_place_and_above() -> None:
    def make() -> Iterator[Span]:
        yield Span(0, 4, "magic", "PFA1")
        raise Corrupt("no blob begins here", offset=4, expected="1", seen="<b>")

    explanation = BytesView(b"PFA1\x00\x01", Span(0, 6, "file", None, "Puffin", make))
    for told in (render_text(explanation), "".join(parse(render_card(explanation)).itertext())):
        assert "ERROR at byte 4" in told
        assert "ERROR: no blob begins here (at byte 4; expected 1; seen <b>)" in told


def test_a_fold_says_that_there_is_an_error_inside() -> None:
    def fail(start: int) -> Iterator[Span]:
        yield Span(start, start + 40, "inner", None, "", partial(_yield_fields, start, start + 40))
        raise Corrupt("cut short", offset=start + 40)

    blocks = [
        Span(
            n, n + 50, "block", None, "", partial(_yield_fields, n, n + 50) if n != 100 else partial(fail, n)
        )
        for n in range(0, 1000, 50)
    ]
    view = present_bytes(BytesView(bytes(1000), Span(0, 1000, "file", children=blocks)))
    folds = [part for part in view.parts if isinstance(part, ByteFold)]
    assert [fold.answer.startswith("ERROR inside: ") for fold in folds[:4]] == [False, False, True, False]
    assert view.alert == "ERROR at byte 140"


@pytest.mark.parametrize("detail", [0, 1, 2, 3])
@pytest.mark.parametrize("shift", range(0, len(HOSTILE), 4))
def test_no_string_becomes_markup_or_acts(detail: int, shift: int) -> None:
    words = [*HOSTILE[shift:], *HOSTILE[:shift]]
    leaves = tuple(
        Span(n, n + 1, word, word, word, number=n if n % 2 else None) for n, word in enumerate(words)
    )
    inner = Span(0, len(words), words[1], None, words[2], leaves)
    root = Span(0, len(words), words[3], None, words[4], (inner,))
    explanation = BytesView(
        bytes(len(words)), root, what=words[0], summary=words[5], place=words[6], details=words[7]
    )
    markup = render_card(explanation, detail)
    parse(markup)
    with display.using(max_bytes=4096):
        assert len(render_card(explanation, detail).encode()) <= 4096
    assert len(markup.encode()) <= display.max_bytes
    text = render_text(explanation, detail)
    assert all(character == "\n" or character.isprintable() for character in text)
    assert len(text) <= display.max_bytes


@pytest.mark.parametrize("detail", [1, 2, 3])
@pytest.mark.parametrize("most", [8_192, 65_536])
def test_a_view_keeps_its_size(detail: int, most: int) -> None:
    leaf = Span(0, 1, "x" * 500, "v" * 500, "n" * 500, number=3)
    blocks = tuple(
        Span(
            0,
            1,
            "block",
            None,
            "m" * 500,
            lambda: [Span(0, 1, "record", None, "", lambda: [leaf, *[leaf][:0]])],
        )
        for _ in range(3)
    )
    tree = Span(0, 3, "file", children=lambda: (_move(block, n) for n, block in enumerate(blocks)))
    many = make_endless(100_000)
    with display.using(max_bytes=most):
        for explanation in (BytesView(bytes(3), tree), BytesView(Zeros(100_000), many)):
            assert len(render_card(explanation, detail).encode()) <= most
            assert len(render_text(explanation, detail)) <= most


def _yield_fields(start: int, end: int) -> Iterator[Span]:
    yield from (Span(n, n + 1, f"f{n}", n) for n in range(start, end))


def _move(span: Span, start: int) -> Span:
    return Span(start, start + 1, span.label, span.value, span.note)


def test_more_detail_opens_and_shows_more() -> None:
    blocks = tuple(
        Span(n, n + 40, f"block {n}", None, "", partial(_yield_fields, n, n + 40)) for n in range(0, 240, 40)
    )
    explanation = BytesView(bytes(240), Span(0, 240, "file", children=blocks))
    counts = [str(render_text(explanation, detail)).count("\n") for detail in (0, 1, 2, 3)]
    assert counts[0] == 0
    assert counts[1] < counts[2] <= counts[3]
    assert counts[3] > 240


def test_a_tree_of_any_depth_is_shown() -> None:
    def nest(depth: int) -> Span:
        return Span(0, 1, f"level {depth}", None, "", lambda: [nest(depth + 1)] if depth < 100_000 else [])

    explanation = BytesView(b"\x00", nest(0))
    parse(render_card(explanation))
    assert ".at(0)" in render_text(explanation)


def test_a_page_of_its_own(tmp_path) -> None:
    row = make_row()
    row.to_html(tmp_path / "row.html")
    page = (tmp_path / "row.html").read_text("utf-8")
    assert page == render_page(row)
    html5lib.HTMLParser(strict=True).parse(page)
    assert "<script" not in page
    assert "STRING: 10 bytes at" in page


def test_a_part_says_what_it_is_part_of() -> None:
    row = make_row()
    part = row.focus(row.children[2])
    assert (part.what, part.start, part.end) == ("Fixed part", 12, 28)
    assert row.at(16).what == "BinaryRow", "a small row is shown whole"
    assert row.focus(row).summary == row.summary
    file = Span(
        0,
        1000,
        "file",
        children=(Span(0, 956, "head"), Span(956, 1000, "tail", None, "", [_shift(row, 956)])),
    )
    found = BytesView(bytes(956) + bytes(row.data), file, place="m0").at(956 + 16)
    assert (found.what, found.start, found.details) == ("BinaryRow", 956, "file › tail")
    assert str(found).startswith(
        "BinaryRow: 2 fields, 44 bytes\n  m0\n  file › tail; “at” counts from byte 960\n"
    )


def _shift(span: Span, by: int) -> Span:
    return Span(
        span.start + by,
        span.end + by,
        span.label,
        span.value,
        span.note,
        [_shift(child, by) for child in span.children],
        role=span.role,
        number=span.number,
        origin=None if span.origin is None else span.origin + by,
    )


def test_an_offset_outside_is_refused() -> None:
    with pytest.raises(ValueError, match="byte 44 is outside"):
        make_row().at(44)
    with pytest.raises(ValueError, match="not compressed"):
        make_row().unpacked()


def test_a_value_has_the_room_that_it_needs() -> None:
    moment = "1969-12-31 23:59:59.999000+00:00"
    fields = (
        Span(0, 8, "ts", moment, "TIMESTAMP_LTZ(6): 0 ns, ms at +128", number=0),
        Span(8, 16, "id", 7, number=1),
    )
    markup = render_card(BytesView(bytes(16), Span(0, 16, "BinaryRow", None, "", fields)))
    widths = [int(width) for width in re.findall(r'<col style="width:(\d+)px">', markup)]
    assert widths[-1] >= 7 * len(moment)
    most = re.search(r"max-width:(\d+)px", markup)
    assert most is not None and 860 <= int(most[1]) <= 1400
    long = tuple(Span(n, n + 1, "x", "v" * 70, "meant " * 60, number=n) for n in range(8))
    assert "max-width:1400px" in render_card(BytesView(bytes(8), Span(0, 8, "BinaryRow", None, "", long)))


def test_bytes_keep_their_place_in_a_word_without_any_style() -> None:
    (row,) = [
        cells for cells in re.findall(r"<tr class=.ll-m.>.*?</tr>", render_card(make_row())) if "+2" in cells
    ]
    code = re.search(r"<code>(\u00a0*)<span", row)
    assert code is not None
    assert len(code[1]) == 6
    assert ">+2<" in row


def test_a_page_of_bytes_has_a_heading_and_its_tables_have_names() -> None:
    page = render_page(make_row())
    assert re.findall(r"<(h[1-6])[ >]", page) == ["h1"]
    assert page.count("<caption>") == page.count("<table") > 0
