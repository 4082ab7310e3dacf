"""The explorer in a real JupyterLab below a base URL: its tile, the menu of the file browser, and what a cell shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from typing import Any
from urllib.parse import unquote

import nbformat
import pytest

from tests.browser.lab import Lab

# a minute of them altogether: `make test-all`
pytestmark = pytest.mark.exhaustive

OUTPUT = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output"
WAIT = 120_000
CELLS = """import lakelens as ll
ll.open("wh/shop.db/orders").explore(height=300)
---
shown = ll.sample("hive").explore(height=300)
shown
---
print("address", shown, ll.explore("wh"), ll.explore("."))
shown.stop()"""


@pytest.fixture(scope="module")
def desk(hub: Lab, browser: Any) -> Iterator[Any]:
    """JupyterLab with nothing open but its launcher."""
    entries = metadata.entry_points(group="jupyter_serverproxy_servers").names
    assert "lakelens" in entries, "lakelens is to be installed again (make): its entry point is not known"
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.set_default_timeout(WAIT)
    page.goto(f"{hub.url}lab?reset")
    page.locator(".jp-LauncherCard").first.wait_for(timeout=WAIT)
    yield page
    page.close()


def find_frame(page: Any) -> Any:
    """The page in the tab in front, once it is there."""
    frame = page.frame_locator(".jp-MainAreaWidget:not(.lm-mod-hidden) iframe[name=lakelens]")
    frame.locator("main").wait_for(timeout=WAIT)
    return frame


def read_address(frame: Any) -> str:
    """Where a frame is, decoded, without the server."""
    found: str = frame.locator("html").evaluate("() => location.pathname + location.search")
    place, mark, asked = found.partition("?")
    return unquote(place).replace("~q", "?").replace("~h", "#").replace("/~", "/") + mark + unquote(asked)


def find_brightness(frame: Any) -> int:
    """The sum of red, green and blue of a page's text."""
    color: str = frame.locator("main").evaluate("main => getComputedStyle(main).color")
    return sum(map(int, re.findall(r"\d+", color)[:3]))


def open_menu(page: Any, name: str) -> Any:
    """The menu of a name in the file browser."""
    item = page.locator(".jp-DirListing-item").filter(has=page.get_by_text(name, exact=True))
    item.click(button="right")
    menu = page.locator(".lm-Menu").last
    menu.wait_for()
    return menu


def go_to(page: Any, *folders: str) -> None:
    """Show a directory in the file browser."""
    page.evaluate(
        "path => window.jupyterapp.commands.execute('filebrowser:open-path', { path, dontShowBrowser: false })",
        "/" + "/".join(folders),
    )
    page.locator(f".jp-BreadCrumbs-item:has-text('{folders[-1]}')").wait_for()


def test_there_is_one_tile_and_it_opens_all_tables(desk: Any) -> None:
    tile = desk.locator(".jp-LauncherCard", has_text="lakelens")
    assert tile.count() == 1 and tile.locator("svg circle").count() == 1
    tile.click()
    frame = find_frame(desk)
    assert read_address(frame) == "/user/ada/lakelens/"
    links = frame.locator("a[href]").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert not [link for link in links if re.match(r"[a-z]+:|/", link)], "links are relative"


@pytest.mark.parametrize("name", ["orders", "clicks", "a b+é%41#1?"])
def test_a_table_is_opened_from_the_menu(desk: Any, name: str) -> None:
    go_to(desk, "wh", "shop.db")
    open_menu(desk, name).locator(".lm-Menu-item", has_text="Open with lakelens").click()
    desk.locator(".lm-TabBar-tab.lm-mod-current", has_text=name).wait_for()
    frame = find_frame(desk)
    assert re.fullmatch(rf"/user/ada/lakelens/wh/shop\.db/{re.escape(name)}/@[-\w]+/", read_address(frame))
    assert find_brightness(frame) < 300, "dark text in a light JupyterLab"


def test_a_file_is_opened_from_the_menu_and_others_are_not(desk: Any, hub: Lab) -> None:
    folder = hub.root / "wh" / "shop.db" / "orders" / "metadata"
    (folder / "notes.txt").write_text("none of a table's")
    go_to(desk, "wh", "shop.db", "orders", "metadata")
    desk.locator(".jp-DirListing-item", has_text="notes.txt").wait_for()
    menu = open_menu(desk, "notes.txt")
    assert menu.locator(".lm-Menu-item:visible", has_text="Open with lakelens").count() == 0
    desk.keyboard.press("Escape")
    name = max(path.name for path in folder.glob("*.metadata.json"))
    open_menu(desk, name).locator(".lm-Menu-item", has_text="Open with lakelens").click()
    address = read_address(find_frame(desk))
    assert re.match(r"/user/ada/lakelens/wh/shop\.db/orders/@\d+/\w+\?path=", address) and address.endswith(
        f"/{name}"
    )


def test_a_page_has_the_theme_around_it(desk: Any, hub: Lab) -> None:
    frame = find_frame(desk)
    assert find_brightness(frame) < 300
    hub.change_theme(desk, "dark")
    assert find_brightness(frame) > 500
    frame.locator("main a[href]:visible").first.click()
    desk.wait_for_timeout(300)
    assert find_brightness(find_frame(desk)) > 500
    assert desk.locator(".jp-MainAreaWidget:not(.lm-mod-hidden) iframe[name=lakelens]").is_visible()
    hub.change_theme(desk, "light")


def test_a_cell_shows_the_explorer(desk: Any, hub: Lab) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.split("\n---\n")]
    hub.open(desk, hub.write("explore.ipynb", cells))
    frames = []
    for index in range(2):
        hub.run_cell(desk, index)
        output = desk.locator(OUTPUT).nth(index)
        output.locator("iframe[name=lakelens]").wait_for(timeout=WAIT)
        output.scroll_into_view_if_needed()
        frame = output.frame_locator("iframe[name=lakelens]")
        frame.locator("main").wait_for(timeout=WAIT)
        assert output.locator("a").get_attribute("href") == output.locator("iframe").get_attribute("src")
        frames.append(frame)
    assert re.fullmatch(r"/user/ada/lakelens/wh/shop\.db/orders/@\d+/", read_address(frames[0]))
    inner = re.fullmatch(r"/user/ada/proxy/(\d+)/([\w-]{30,})/@-/", read_address(frames[1]))
    assert inner, "what is outside of Jupyter's directory is served by the kernel, behind the same proxy"
    hub.run_cell(desk, 2)
    said = desk.locator(OUTPUT).nth(2)
    said.filter(has_text="address").wait_for(timeout=WAIT)
    assert said.inner_text().split() == [
        "address",
        f"/user/ada/proxy/{inner[1]}/@-/",
        "/user/ada/lakelens/open?path=wh",
        "/user/ada/lakelens/",
    ]
