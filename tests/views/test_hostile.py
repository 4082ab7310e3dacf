"""Every string that comes from a lake is an attacker's: none becomes markup, acts on the terminal, or grows a view."""

from __future__ import annotations

import itertools
import re
import tomllib
from base64 import b64decode
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import html5lib
import pytest

from lakelens.codecs.paimon.binary_row import BinaryRow
from lakelens.codecs.span.span import Span
from lakelens.display import Displayable
from lakelens.options import display
from lakelens.views.render.html import render_card, render_page
from lakelens.views.render.text import render_text
from tests.support.fakes import FakeTable, list_objects

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "</style><style>*{display:none}",
    "</details></div></td></table>",
    "{{ 7*7 }}{% raw %}",
    "&lt;b&gt;&#60;",
    "<!--",
    "\x1b[31mred\x1b]0;title\x07",
    "a\u202eb\u2066c\u200fd",
    "nul\x00 bell\x07 back\x08\r\n\ttab",
    "\ud800lone",
    "x" * 100_000,
    "<b>" * 30_000,
    "",
]
TAGS = frozenset(
    (
        "i",
        "div",
        "style",
        "p",
        "b",
        "span",
        "table",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "th",
        "td",
        "small",
        "details",
        "summary",
        "code",
        "pre",
        "abbr",
        "br",
        "nav",
        "a",
        "section",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "caption",
        "wbr",
        "ol",
        "li",
    )
)
# what a title may say besides an exact number or time: a sentence of the glossary, or of the columns of a map
MEANINGS = frozenset(
    meaning
    for room in ("lakelens.views.card.glossary", "lakelens.formats.delta")
    for file in files(room).iterdir()
    if file.name.endswith(".toml")
    for section in tomllib.loads(file.read_text("utf-8")).values()
    if isinstance(section, dict)  # a glossary's; the lives of files are lists
    for meaning in section.values()
    if isinstance(meaning, str)  # where facts stand is a table
) | frozenset(
    re.findall(r'title="([^"{}]+)"', files("lakelens.views.answers").joinpath("map.py").read_text("utf-8"))
)
ATTRIBUTES = {
    "style",
    "class",
    "title",
    "scope",
    "open",
    "aria-label",
    "href",
    "id",
    "lang",
    "charset",
    "name",
    "content",
    "data-lm-suppress-shortcuts",
    "tabindex",
}
DRAWN = {"svg", "style", "rect", "path", "line", "circle", "text", "g", "polygon", "title"}


_STYLE = (
    r"width:[0-9]{1,2}px|display:inline|overflow-x:auto|text-align:left|border-top:2px solid var\(--ll-line\)"
)


def cycle() -> Callable[[], str]:
    words = itertools.cycle(HOSTILE)
    return lambda: next(words)


def check_picture(attributes: Mapping[str, str]) -> None:
    """A picture in a page: nothing in it but what our own drawings are made of."""
    assert set(attributes) == {"src", "alt", "style"}
    head, _, held = attributes["src"].partition(",")
    assert head == "data:image/svg+xml;base64"
    drawing = ElementTree.fromstring(b64decode(held))
    for element in drawing.iter():
        assert element.tag.rsplit("}", 1)[-1] in DRAWN, element.tag
        assert not [name for name in element.attrib if name.startswith("on") or "href" in name]


def check_markup(markup: str, *, page: bool = False) -> None:
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    tree = parser.parse(markup) if page else parser.parseFragment(markup)
    # the one picture of a page is the history, a document of our own that is looked at by itself
    allowed = TAGS | ({"html", "head", "body", "meta", "title", "main", "img"} if page else set())
    for element in tree.iter():
        if not isinstance(element.tag, str) or element.tag == "DOCUMENT_FRAGMENT":
            assert element.tag == "DOCUMENT_FRAGMENT" or not callable(element.tag), "a comment"
            continue
        assert element.tag in allowed, element.tag
        if element.tag == "img":
            check_picture(element.attrib)
            continue
        for name, value in element.attrib.items():
            assert name in ATTRIBUTES, name
            if name == "class":
                assert all(re.fullmatch(r"ll-[a-z]+", word) for word in value.split()), value
            if name.startswith("data-"):
                assert value == "", value
            if name == "tabindex":
                assert value == "0", value
            if name == "style":
                assert re.fullmatch(_STYLE, value), value
            if name == "href":
                assert re.fullmatch(r"#[a-z0-9-]+", value), value
            if name == "title":
                assert re.fullmatch(r"[0-9,]+ (bytes|ms)|[0-9 :.-]+UTC", value) or value in MEANINGS, value


OBJECTS = list_objects(FakeTable(cycle()))


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("detail", [0, 1, 2, 3])
@pytest.mark.parametrize("shift", range(0, len(HOSTILE), 3))
def test_no_string_becomes_markup(detail: int, shift: int) -> None:
    word = cycle()
    for _ in range(shift):
        word()
    with display.using(strict_views=True):
        for thing in list_objects(FakeTable(word)):
            markup = render_card(thing, detail)
            check_markup(markup)
            assert len(markup.encode()) <= display.max_bytes, type(thing)


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: type(thing).__name__)
@pytest.mark.parametrize("detail", [0, 1, 3])
def test_text_obeys_no_control_character(thing: object, detail: int) -> None:
    with display.using(strict_views=True):
        told = render_text(thing, detail)
    assert all(character == "\n" or character.isprintable() for character in told)
    assert len(told) <= display.max_bytes + 100


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: type(thing).__name__)
def test_repr_is_one_line_that_obeys_no_control_character(thing: object) -> None:
    told = repr(thing)
    assert told.isprintable(), ascii(told)


def test_repr_of_every_class_is_made_harmless() -> None:
    """What has a view says nothing raw in its `repr`, in whichever package its class is."""
    evil = "a\x1b]0;owned\x07\nb"

    class Theirs(Displayable):
        def __repr__(self) -> str:
            return f"<Theirs {evil}>"

    assert repr(Theirs()) == "<Theirs a⟨U+001B⟩]0;owned⟨U+0007⟩⟨U+000A⟩b>"
    for thing in (Span(0, 1, evil), BinaryRow((evil,), (1,))):
        assert repr(thing).isprintable(), type(thing)


def test_active_characters_are_shown() -> None:
    table = FakeTable(lambda: "a\u202eb\x1b[1m")
    for told in (render_text(table), render_card(table)):
        assert "a⟨U+202E⟩b⟨U+001B⟩[1m" in told
        assert "\u202e" not in told


def test_page_of_a_hostile_table(tmp_path: Path) -> None:
    with display.using(strict_views=True):
        markup = render_page(FakeTable(cycle()))
        FakeTable(cycle()).to_html(tmp_path / "page.html")
    check_markup(markup, page=True)
    assert (tmp_path / "page.html").read_text("utf-8") == markup
