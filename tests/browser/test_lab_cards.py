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


@pytest.mark.exhaustive(keep=4)
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
    # opened, all is there that is there when folds are closed
    assert find_faults(page, OUTPUT) == []


# each part that is wider inside than outside: whether it is one that is to scroll, and whether it says that there is more
WIDE = """outputs => outputs.flatMap(output => [...output.querySelectorAll('*')]
  .filter(e => e.clientWidth && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible')
  .filter(e => !e.classList.contains('ll-id'))
  .map(e => [e.matches('.ll-root, .ll-i'),
    / -9px 0px 9px/.test(getComputedStyle(e).boxShadow), e.outerHTML.slice(0, 60)]))"""
# how far it is scrolled, whether it is where the keyboard is, and whether it says that there is more
BOX = """box => [box.scrollLeft, document.activeElement === box,
  / -9px 0px 9px/.test(getComputedStyle(box).boxShadow)]"""


@pytest.mark.exhaustive(keep=4)
def test_on_a_phone_nothing_is_lost(cards: tuple[Any, bool]) -> None:
    """What does not fit scrolls in its own place, says so, and is reached and scrolled by keyboard."""
    page, trusted = cards
    page.set_viewport_size({"width": 390, "height": 1000})
    try:
        open_folds(page, OUTPUT)
        page.wait_for_timeout(300)  # until what follows the scroll has been drawn
        found = page.locator(OUTPUT).evaluate_all(WIDE)
        assert len(found) > 20
        assert [words for is_meant, _, words in found if not is_meant] == []
        if (
            not trusted
        ):  # without the sheet there is no cue; and JupyterLab keeps the arrows, whatever is in an output
            return
        assert [words for _, has_cue, words in found if not has_cue] == []
        names = [*list_objects()]
        for name, way in (("iceberg snapshots", ".ll-root"), ("iceberg", ".ll-d.ll-i >> nth=3")):
            output = page.locator(OUTPUT).nth(names.index(name))
            box = output.locator(way)
            before = output.locator("summary").nth(3)  # of the fold that holds the box
            before.focus() if before.count() else box.focus()
            if before.count():
                page.keyboard.press("Tab")
            assert box.evaluate(BOX) == [0, True, True], name
            cell = page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex")
            for _ in range(30):
                page.keyboard.press("ArrowRight")
            page.wait_for_timeout(600)
            most = box.evaluate("box => box.scrollWidth - box.clientWidth")
            assert box.evaluate(BOX) == [most, True, False], name
            assert page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex") == cell
    finally:
        page.set_viewport_size({"width": 900, "height": 1000})


@pytest.mark.exhaustive(keep=4)
def test_text_stands_left_and_numbers_right_trusted_or_not(cards: tuple[Any, bool]) -> None:
    page, _ = cards
    names = [*list_objects()]
    for name in ("iceberg files", "paimon snapshots", "hive files", "iceberg diff.metadata"):
        cells = page.locator(OUTPUT).nth(names.index(name)).locator("tbody td:not(.ll-b)")
        sides = cells.evaluate_all("all => all.map(e => [e.className, getComputedStyle(e).textAlign])")
        assert len(sides) > 8, name
        for classes, side in sides:
            assert (side in ("right", "end")) == ("ll-n" in classes), (name, classes, side)


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


@pytest.mark.exhaustive(keep=4)
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
