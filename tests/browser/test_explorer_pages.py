"""The explorer's pages in a browser: light and dark, on a phone and on a wide screen, in print, without any script."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

import lakelens as ll
from lakelens.explorer.explorer import Explorer
from tests.browser.looks import find_faults, find_overflow, open_folds
from tests.explorer.site import serve

_SAMPLES = {
    "shop.db/orders": "paimon-deletion-vectors",
    "web/clicks": "iceberg",
    "web/branches": "iceberg-branches",
    "finance/rates": "hive",
}
#: Every page of these rooms: without a snapshot the address leads to the newest one.
_PAGES = (
    "",
    "?q=iceberg&sort=-files",
    "search?q=id&deep=yes",
    "shop.db/orders/",
    "web/clicks/",
    "finance/rates/",
    "web/branches/timeline",
    "shop.db/orders/@3/snapshots",
    "shop.db/orders/@99/",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an explorer over a small warehouse; one table in it is broken, and one directory is no table."""
    root = tmp_path_factory.mktemp("explored") / "warehouse"
    for name, sample in _SAMPLES.items():
        shutil.copytree(ll.sample(sample).location, root / name)
    shutil.copytree(root / "web" / "clicks", root / "lab" / "restored")
    for path in (root / "lab" / "restored" / "metadata").glob("*.metadata.json"):
        path.write_text("{", "utf-8")
    (root / "exports").mkdir()
    with serve(Explorer(root)) as address:
        yield address


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    """Both colour schemes."""
    return str(request.param)


@pytest.fixture
def opened(browser: Any, scheme: str) -> Iterator[Any]:
    """A page that keeps what its policy refused."""
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.refused = []
    page.on(
        "console", lambda said: page.refused.append(said.text) if "Content Security" in said.text else None
    )
    yield page
    context.close()


def go(page: Any, site: str, path: str) -> None:
    """Open a page of the site, at the newest snapshot where none is named."""
    if path.startswith("web/branches/timeline"):
        page.goto(site + "web/branches/")
        path = page.url.removeprefix(site) + "timeline"
    page.goto(site + path)


@pytest.mark.exhaustive(keep=16)
@pytest.mark.parametrize("path", _PAGES)
def test_pages_fit_and_have_no_fault(site: str, opened: Any, scheme: str, path: str) -> None:
    # what is folded is looked at too once it is open; every width in one of the schemes
    for width in (1900, 1000) if scheme == "light" else (700, 390):
        opened.set_viewport_size({"width": width, "height": 900})
        if width in (1900, 700):
            go(opened, site, path)
            open_folds(opened, "main")
        assert opened.evaluate("document.documentElement.scrollWidth") <= width, width
    assert find_faults(opened, "body") == []
    assert opened.refused == []


def test_from_the_warehouse_to_a_snapshot_in_clicks_without_scripts(site: str, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site)
    page.get_by_role("searchbox").fill("orders")
    page.get_by_role("searchbox").press("Enter")
    assert page.url.endswith("?q=orders")
    page.get_by_role("link", name="shop.db/orders").click()
    newest = page.url
    assert newest.endswith("/shop.db/orders/@7/")
    page.locator("svg a").first.click()
    assert page.url.endswith("/shop.db/orders/@1/")
    assert "newer snapshots" in page.locator(".lx-new").inner_text()
    page.get_by_role("link", name="Show 7").click()
    assert page.url == newest
    page.get_by_role("link", name="Snapshots").click()
    assert page.locator("tr[aria-current]").count() == 1
    page.get_by_role("link", name="snapshot", exact=True).click()
    assert page.url.endswith("snapshots?sort=snapshot")
    assert page.locator("[aria-sort]").get_attribute("aria-sort") == "ascending"
    page.go_back()
    page.get_by_role("navigation", name="Where you are").get_by_role("link", name="shop.db").click()
    assert page.locator("tbody tr").count() == 1
    context.close()


def test_a_phone_begins_the_timeline_at_its_newest_end(site: str, opened: Any) -> None:
    opened.set_viewport_size({"width": 390, "height": 900})
    go(opened, site, "shop.db/orders/")
    box = opened.locator("svg a").last.bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= 390
    first = opened.locator("svg a").first.bounding_box()
    assert first is not None
    assert first["x"] < 0  # it scrolls there
    # cells have their column's word before them
    time = opened.locator("td[data-h='committed, UTC']").first
    assert "committed, UTC" in time.evaluate("e => getComputedStyle(e, '::before').content")


def test_figures_add_up_by_eye(site: str, opened: Any) -> None:
    go(opened, site, "web/clicks/")
    amounts = opened.locator(".lx-adds").first.locator(".lx-sum > :nth-child(odd)").all_inner_texts()
    live, *parts = (int(text.replace(",", "").replace("\u2212", "-")) for text in amounts)
    assert live == sum(parts)
    edges = (
        opened.locator(".lx-adds")
        .first.locator(".lx-sum > :nth-child(odd)")
        .evaluate_all("all => all.map(e => Math.round(e.getBoundingClientRect().right))")
    )
    assert len(set(edges)) == 1  # one right-aligned column


def test_what_leads_elsewhere_is_not_printed(site: str, opened: Any, scheme: str) -> None:
    go(opened, site, "shop.db/orders/")
    grid = opened.locator("details:not([open]) table").first
    opened.emulate_media(media="print")
    assert grid.evaluate("e => e.getBoundingClientRect().height") > 0
    assert opened.locator(".lx-nav").is_hidden()
    assert opened.pdf(prefer_css_page_size=True).startswith(b"%PDF")


@pytest.mark.parametrize(
    "path", ["", "shop.db/orders/", "web/clicks/", "web/clicks/space", "web/clicks/diff"]
)
def test_what_scrolls_on_a_phone_is_reached_by_tab(site: str, page: Any, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 900})
    table, slash, name = path.rpartition("/")
    page.goto(site + table + slash)
    page.goto(page.url + name)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert find_faults(page, "body") == []


def test_the_space_of_a_table_is_dark_in_the_dark_and_legible_on_a_phone(site: str, browser: Any) -> None:
    context = browser.new_context(color_scheme="dark", viewport={"width": 390, "height": 900})
    page = context.new_page()
    page.goto(site + "web/clicks/")
    page.goto(page.url + "space")
    picture = page.locator("main img").first
    assert picture.bounding_box()["width"] >= 600, "it scrolls in its box"
    light = page.evaluate(
        """async () => {
          const image = document.querySelector("main img");
          const shown = document.createElement("canvas");
          shown.width = 760; shown.height = 84;
          const pen = shown.getContext("2d");
          pen.drawImage(image, 0, 0, 760, 84);
          const data = pen.getImageData(0, 0, 760, 84).data;
          let light = 0;
          for (let at = 0; at < data.length; at += 4) light += data[at + 3] > 0 && data[at] > 150 && data[at + 1] > 150;
          return light / (data.length / 4);
        }"""
    )
    assert light < 0.1, "letters alone"
    context.close()


@pytest.mark.parametrize("width", [705, 800, 950, 1200])
def test_what_was_found_is_in_sight_in_a_narrow_window(site: str, page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(site + "?sort=-findings")
    assert find_overflow(page, "main") == []
    first = page.locator("tbody tr").first
    assert "1 ERROR" in first.inner_text()
    box, line = first.bounding_box(), page.locator("tbody tr", has_text="shop.db/orders").bounding_box()
    assert box is not None
    assert line is not None
    assert box["height"] < 80, "not one word a line"
    assert line["height"] < 50


def test_the_life_of_a_row_is_asked_for_on_the_overview_without_scripts(site: str, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site + "web/clicks/")
    newest = page.url
    page.get_by_role("searchbox", name="row").fill("idd = 3")
    page.get_by_role("button", name="who wrote it, who deleted it").click()
    assert page.url.endswith("row?where=idd+%3D+3")
    assert "did you mean id?" in page.locator("main").inner_text()
    box = page.get_by_role("searchbox", name="row")
    assert box.input_value() == "idd = 3", "the question stays, its error below it"
    box.fill("id = 3")
    box.press("Enter")
    assert "deleted" in page.locator("main").inner_text()
    page.goto(newest)
    page.get_by_role("link", name="Row who deleted id = 3?").click()
    assert page.get_by_role("searchbox", name="row").get_attribute("placeholder") == "id = 3"
    context.close()


def test_what_a_script_adds_fits_and_has_no_fault(site: str, opened: Any) -> None:
    """The buttons, the lists of favourites and recent tables, the layer of the keys and the field that jumps to a table."""
    opened.set_viewport_size({"width": 390, "height": 900})
    go(opened, site, "shop.db/orders/")
    opened.get_by_role("button", name="favourite").click()
    opened.goto(site)
    assert opened.locator(".lx-kept").count() == 2
    for key in ("", "t", "Escape", "?"):
        if key:
            opened.keyboard.press(key)
        assert opened.evaluate("document.documentElement.scrollWidth") <= 390, key
        assert find_faults(opened, "body") == [], key
    assert opened.refused == []
