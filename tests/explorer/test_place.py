"""Addresses: a place and its URL are the same thing said twice, whatever tables, pages and questions are called."""

from __future__ import annotations

from urllib.parse import urljoin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.errors import Missing
from lakelens.explorer.place import Place

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
_NAME = _TEXT.filter(lambda text: text not in ("", ".", "..") and "/" not in text)
_ASKED = st.lists(st.tuples(_TEXT, _TEXT.filter(bool)), max_size=4, unique_by=lambda pair: pair[0]).map(tuple)


@st.composite
def places(draw: st.DrawFn) -> Place:
    """A table's page at a snapshot, its newest state, or a page of the warehouse."""
    table = tuple(draw(st.lists(_NAME, max_size=4)))
    kind = draw(st.sampled_from(("page", "newest", "warehouse")))
    asked = draw(_ASKED)
    if kind == "page":
        return Place(table, draw(_TEXT.filter(bool)), draw(_TEXT), asked)
    return Place(table, "", "", asked) if kind == "newest" and table else Place(None, "", "", asked)


def read(url: str) -> Place:
    """The place of a URL."""
    path, _, query = url.partition("?")
    return Place.parse(path, query)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(places())
def test_a_place_is_read_from_its_own_url(place: Place) -> None:
    assert read(place.url) == place


@settings(derandomize=True, max_examples=150, deadline=None)
@given(places(), places())
def test_a_relative_link_leads_where_the_whole_one_does(here: Place, there: Place) -> None:
    base = "http://127.0.0.1:8765/user/me/proxy/"
    # a browser follows the link as urljoin does
    followed = urljoin(base + here.url, there.link_from(here))
    assert followed.startswith(base)
    assert read(followed.removeprefix(base)) == there


@pytest.mark.parametrize(
    "url",
    [
        "a/../b/",
        "a/%2e%2e/b/",
        "%2e%2e/",
        "a//b/",
        "a%2fb/@1/",
        "a/@1/b/c",
        "a/@1/@2",
        "a/@/",
        "a%00b/",
        "a/%ff/",
        "a" * 20_000,
        "a/@1/?" + "&".join(f"x{number}=1" for number in range(50)),
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(Missing):
        read(url)
