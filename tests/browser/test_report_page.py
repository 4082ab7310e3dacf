"""A table's report in a browser: light and dark, wide and narrow, by keyboard, and printed with its folds opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from tests.browser.looks import find_faults, open_folds

_NAMES = ("iceberg", "paimon-branches", "hive")


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report of a table of each format."""
    folder = tmp_path_factory.mktemp("reports")
    made = {name: folder / f"{name}.html" for name in _NAMES}
    for name, path in made.items():
        ll.sample(name).to_html(path)
    return made


@pytest.fixture(params=["light", "dark"])
def page(request: pytest.FixtureRequest, browser: Any) -> Iterator[Any]:
    """A page of each colour scheme, without any script of its own."""
    context = browser.new_context(viewport={"width": 900, "height": 1000}, color_scheme=request.param)
    yield context.new_page()
    context.close()


@pytest.mark.exhaustive(keep=6)
@pytest.mark.parametrize("name", _NAMES)
def test_a_report_fits_and_has_no_serious_fault(reports: dict[str, Path], page: Any, name: str) -> None:
    for width in (900, 600):
        page.set_viewport_size({"width": width, "height": 1000})
        page.goto(reports[name].as_uri())
        for fold in ("as first shown", "opened"):
            if fold == "opened":
                open_folds(page, "main")
            # a wide grid scrolls inside of its section, the page never does
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (width, fold)
    # what is folded is looked at too once it is open; of its width a fault does not depend
    assert find_faults(page, "body") == []


def test_the_contents_lead_to_sections_by_keyboard(reports: dict[str, Path], page: Any) -> None:
    page.goto(reports["iceberg"].as_uri())
    link = page.locator("nav a").nth(4)
    wanted = link.get_attribute("href")
    link.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == wanted
    section = page.locator(f"section{wanted}")
    box = section.bounding_box()
    assert box is not None
    assert -5 <= box["y"] <= 1000


def test_folds_are_opened_in_print(reports: dict[str, Path], page: Any) -> None:
    page.goto(reports["paimon-branches"].as_uri())
    grid = page.locator("details:not([open]) table").first
    assert grid.evaluate("e => e.checkVisibility({contentVisibilityAuto: true})") is False
    height = page.evaluate("document.documentElement.scrollHeight")
    page.emulate_media(media="print")
    assert grid.evaluate("e => e.getBoundingClientRect().height") > 0
    assert page.evaluate("document.documentElement.scrollHeight") > 2 * height
    paper = page.evaluate(
        "getComputedStyle(document.body).color + getComputedStyle(document.documentElement).colorScheme"
    )
    assert paper.endswith("light")
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
