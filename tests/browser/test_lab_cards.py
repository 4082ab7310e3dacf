"""Every card in a real JupyterLab: light and dark, trusted and untrusted."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image

from tests.browser.lab import Lab
from tests.browser.looks import find_faults, find_overflow, open_folds
from tests.browser.objects import list_objects, make_cells

OUTPUT = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output"


_HOSTS = [(theme, trusted) for theme in ("light", "dark") for trusted in (True, False)]


@pytest.fixture(
    scope="module", params=_HOSTS, ids=lambda host: f"{host[0]}-{'trusted' if host[1] else 'untrusted'}"
)
def cards(request: pytest.FixtureRequest, lab: Lab, browser: Any) -> Iterator[tuple[Any, bool]]:
    """A page with every card in one notebook, and whether JupyterLab trusts it."""
    theme, trusted = request.param
    objects = list_objects()
    lab.write("cards.ipynb", make_cells(objects), trusted=trusted)
    page = browser.new_page(viewport={"width": 900, "height": 1000})
    lab.open(page, "cards.ipynb", theme)
    page.locator(OUTPUT).nth(len(objects) - 1).wait_for()
    yield page, trusted
    page.close()


def test_every_card_fits_and_has_no_serious_fault(cards: tuple[Any, bool]) -> None:
    page, trusted = cards
    assert page.locator(OUTPUT).count() == len(list_objects())
    assert bool(page.locator(f"{OUTPUT} style").count()) == trusted
    for fold in ("as first shown", "opened"):
        if fold == "opened":
            open_folds(page, OUTPUT)
        # without its sheet a card may be wider than its cell; then it scrolls inside of itself, and nothing else does
        wide = [words for words in find_overflow(page, OUTPUT) if trusted or ".ll-root" not in words]
        assert not wide, f"{fold}: {wide}"
        faults = find_faults(page, OUTPUT)
        assert not faults, f"{fold}: {faults}"


def test_folds_open_by_keyboard(cards: tuple[Any, bool]) -> None:
    page, _ = cards
    summary = page.locator(f"{OUTPUT} summary").first
    details = summary.locator("xpath=..")
    before = details.evaluate("d => d.open")
    summary.focus()
    assert summary.evaluate("s => s === document.activeElement")
    page.keyboard.press("Space")
    assert details.evaluate("d => d.open") != before
    page.keyboard.press("Space")
    assert details.evaluate("d => d.open") == before
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.tagName") == "SUMMARY"


def test_a_plot_is_seen_on_the_ground_of_the_page(cards: tuple[Any, bool]) -> None:
    page, _ = cards
    is_dark = page.evaluate("document.body.dataset.jpThemeLight") == "false"
    names = [*list_objects()]
    for name in ("iceberg plot", "paimon plot of files"):
        picture = page.locator(OUTPUT).nth(names.index(name)).locator("img")
        picture.scroll_into_view_if_needed()
        assert picture.evaluate("image => image.complete && image.naturalWidth > 800")
        assert "by size" in picture.get_attribute("alt") or "snapshots" in picture.get_attribute("alt")
        shot = Image.open(io.BytesIO(picture.screenshot())).convert("L")
        darkest, lightest = shot.getextrema()
        # trusted or not: without its sheet a card has the colours of the page all the same
        assert abs(shot.getpixel((1, 1)) - (0x11 if is_dark else 0xFF)) <= 1
        assert lightest > 200 if is_dark else darkest < 60
