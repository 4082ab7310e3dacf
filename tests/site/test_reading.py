"""Pages in a real browser: whom they ask, whether they fit, and what axe finds, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.browser.looks import find_faults
from tests.site.built import Built
from tests.tab.hosts import serve_folder
from website.__main__ import make_site

#: A page of each kind, for the short run.
_KINDS = (
    "index.html",
    "tasks/why-read/index.html",
    "formats/paimon/index.html",
    "course/00-start/index.html",
    "reference/spark/index.html",
)
_PHONE, _DESK = 390, 1200


class Reader:
    """A browser of its own, with what its pages asked for and complained of."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.address = address
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(60_000)
        self.page = self.context.new_page()
        self.asked: list[str] = []
        self.faults: list[str] = []
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda said: self.faults.append(f"{said.type}: {said.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))

    def read(self, page: str) -> None:
        """Open a page and wait until it is quiet."""
        self.page.goto(self.address + page.removesuffix("index.html"), wait_until="networkidle")

    def list_origins(self) -> set[str]:
        """List where the pages went."""
        return {
            urlsplit(url.removeprefix("blob:")).netloc for url in self.asked if not url.startswith("data:")
        }


@pytest.fixture(scope="session")
def address(built: Built) -> Iterator[str]:
    """The address of the site, below a path."""
    with serve_folder(built.folder.parent) as root:
        yield f"{root}{built.folder.name}/"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_ask_no_other_origin_and_fit_and_axe_finds_nothing_serious(
    browser: Any, address: str, scheme: str
) -> None:
    read_all(browser, address, _KINDS, scheme)


def read_all(browser: Any, address: str, pages: tuple[str, ...], scheme: str) -> None:
    """Read pages in a wide and in a narrow window, and say of all of them what is wrong."""
    faults: dict[str, object] = {}
    for width in (_DESK, _PHONE):
        reader = Reader(browser, address, viewport={"width": width, "height": 900}, color_scheme=scheme)
        for page in pages:
            reader.read(page)
            over = reader.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            if over > 0:
                faults[f"{page} at {width}"] = f"{over} pixels too wide"
            # cards have tests of their own; one is looked at where it is on a page
            cards = [] if page == "index.html" else [[".ll-root"]]
            if width == _DESK and (said := find_serious(reader.page, cards)):
                faults[page] = said
        assert reader.list_origins() == {urlsplit(address).netloc}
        assert reader.faults == []
        reader.context.close()
    assert faults == {}


def find_serious(page: Any, left_out: list[list[str]]) -> list[str]:
    """Find what axe holds to be serious; the theme's landmarks are less."""
    found = find_faults(page, {"include": [["body"]], "exclude": left_out})
    return [fault for fault in found if fault.startswith(("serious", "critical"))]


def test_search_finds_a_page_without_asking_anybody(browser: Any, address: str) -> None:
    reader = Reader(browser, address, viewport={"width": _DESK, "height": 900})
    reader.read("index.html")
    reader.page.locator(".md-search__input").click()
    reader.page.keyboard.type("deletion vector")
    reader.page.wait_for_selector(".md-search-result__item")
    assert reader.page.locator(".md-search-result__item").count() > 1
    assert reader.list_origins() == {urlsplit(address).netloc} and reader.faults == []
    reader.context.close()


def test_a_theme_that_was_chosen_is_that_of_the_cards_too(browser: Any, address: str) -> None:
    """A reader whose system is light chooses dark: the card of the start page is dark with the page around it."""
    reader = Reader(browser, address, viewport={"width": _DESK, "height": 900}, color_scheme="light")
    reader.read("index.html")
    seen = {reader.page.evaluate(_COLOURS)}
    for _ in range(2):
        reader.page.locator("form[data-md-component=palette] label:visible").click()
        seen.add(reader.page.evaluate(_COLOURS))
    assert seen == {"light rgb(27, 27, 27)", "dark rgb(230, 230, 230)"}
    reader.context.close()


_COLOURS = """(() => { const style = getComputedStyle(document.querySelector('.ll-root'));
    return style.colorScheme + ' ' + style.color })()"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_whole_site(browser: Any, tmp_path: Path, scheme: str) -> None:
    """Every page, with all chapters of the course."""
    make_site(tmp_path / "site")
    built = Built(tmp_path / "site")
    assert list(built.find_faults()) == []
    with serve_folder(tmp_path) as root:
        pages = tuple(page for page in built.pages if not page.startswith("one-insert/"))
        read_all(browser, f"{root}site/", pages, scheme)
