"""What a card or a page of any table may be made of, looked at by a strict parser: nothing that acts or fetches."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from xml.etree import ElementTree

import html5lib

from tests.views.test_hostile import ATTRIBUTES, DRAWN, TAGS

_PAGE = frozenset(("html", "head", "body", "meta", "title", "main"))
_ACTS = re.compile(r"url\(|expression|javascript|import|behaviou?r|\\|@|<", re.IGNORECASE)
_LINK = re.compile(r"#[a-z0-9-]+")


def check_markup(markup: str, *, page: bool = False) -> None:
    """Raises `AssertionError` or a parser's error for what a table's own text might have become."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    tree = parser.parse(markup) if page else parser.parseFragment(markup)
    allowed = TAGS | {"img", "col", "colgroup", "u", "s", "del", "ins"} | (_PAGE if page else set())
    for element in tree.iter():
        if not isinstance(element.tag, str):
            assert not callable(element.tag), "a comment"
        elif element.tag != "DOCUMENT_FRAGMENT":
            assert element.tag in allowed, element.tag
            _check_attributes(element.tag, element.attrib)


def _check_attributes(tag: str, attributes: Mapping[str, str]) -> None:
    if tag == "img":
        assert set(attributes) <= {"src", "alt", "style", "width", "height"}, attributes
        head, _, held = attributes["src"].partition(",")
        assert head == "data:image/svg+xml;base64", head
        _check_picture(b64decode(held))
        return
    assert set(attributes) <= ATTRIBUTES | {"colspan", "rowspan"}, attributes
    assert not _ACTS.search(attributes.get("style", "")), attributes["style"]
    assert all(re.fullmatch(r"ll-[a-z]+", word) for word in attributes.get("class", "").split()), attributes
    assert "href" not in attributes or _LINK.fullmatch(attributes["href"]), attributes["href"]
    if tag == "meta":
        assert set(attributes) in ({"charset"}, {"name", "content"}), attributes
        assert attributes.get("name", "viewport") in ("viewport", "color-scheme", "generator"), attributes


def _check_picture(drawing: bytes) -> None:
    for element in ElementTree.fromstring(drawing).iter():
        name = element.tag.rsplit("}", 1)[-1]
        assert name in DRAWN | {"tspan"}, name
        acts = [key for key in element.attrib if key.startswith("on") or "href" in key]
        assert not acts, acts
