"""The keys of the explorer in Chromium: each follows a link that is on the page, and none is taken from a field."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.analysis.explain.completing import complete_condition
from lakelens.explorer.assets import read_assets
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.keys import KEYS, PAGES, list_keys
from tests.explorer.site import serve
from tests.serving.running import Running, serving

# a page as those of the explorer are: crumbs, navigation, a picture of links, a list in pages, keys of its own
PAGE = """<!DOCTYPE html><body><div class="ll-root">
<ol class="lx-crumbs"><li><a href="#all">all</a></li><li><a href="#table">t</a></li><li>here</li></ol>
<nav class="lx-nav"><a href="timeline">timeline</a><a href="./">overview</a>
<a href="files?q=1">few</a><a href="files">files</a></nav>
<svg width="90" height="20"><a href="#1"><title>one</title><rect width="9" height="9"/></a>
<a href="#2" aria-current="true"><title>two</title><rect x="20" width="9" height="9"/></a></svg>
<form><input type="search" name="q" value="old"></form>
<ul class="lx-pager"><li>0 to 2 of 9</li><li><a href="#next">next 3</a></li></ul>
<table><thead><tr><th><a href="#sort">name</a></th></tr></thead><tbody><tr><th><a href="#a">a</a></th></tr>
<tr><th>no link</th></tr><tr><th><a href="#b">b</a></th><td><a href="#b2">b2</a></td></tr></tbody></table>
<details><summary>more</summary><table><tbody><tr><td><a href="#hidden">x</a></td></tr></tbody></table></details>
<footer><a href="#min" accesskey="m">minimum</a><a href="#help" rel="help">keys</a></footer></div></body>"""
FOCUSED = "document.activeElement.getAttribute('href')"


@pytest.fixture
def made(page: Any) -> Any:
    page.route("**/t/@1/**", lambda route: route.fulfill(body=PAGE, content_type="text/html"))
    page.goto("http://explorer.invalid/t/@1/page")
    page.add_script_tag(content=read_assets()["explorer.js"].decode())
    return page


def press(page: Any, *keys: str) -> str:
    for key in keys:
        page.keyboard.press(key)
    return str(page.evaluate("location.href")).rpartition("/t/@1/")[2]


def test_rows(made: Any) -> None:
    press(made, "j")
    assert made.evaluate(FOCUSED) == "#a"
    assert made.locator("[role=status]").inner_text() == "row 1 of 2 · Enter opens it"
    press(made, "ArrowDown")
    assert made.evaluate(FOCUSED) == "#b", "a row without a link is passed over"
    press(made, "j")
    assert "last row" in made.locator("[role=status]").inner_text()
    press(made, "k", "ArrowUp")
    assert made.evaluate(FOCUSED) == "#a"
    assert press(made, "Enter") == "page#a"


def test_marks_of_a_timeline(made: Any) -> None:
    press(made, "ArrowRight")
    assert made.evaluate(FOCUSED) == "#2", "from the one that is pinned, which is the last"
    assert made.locator("[role=status]").inner_text() == "mark 2 of 2: two · Enter opens it"
    press(made, "ArrowLeft")
    assert made.evaluate(FOCUSED) == "#1"
    assert press(made, "Enter") == "page#1"
    made.locator("svg a").last.hover()
    assert made.locator("[role=status]").inner_text() == "two"


def test_filter_and_fields(made: Any) -> None:
    press(made, "/")
    assert made.evaluate("document.activeElement.name") == "q"
    made.keyboard.type("j/gu?")
    assert made.locator("input").input_value() == "j/gu?", "what was there is chosen, and keys are letters"
    assert made.url.endswith("page")
    press(made, "Escape", "j")
    assert made.evaluate(FOCUSED) == "#a"


def test_links_by_keys(made: Any) -> None:
    assert press(made, "u") == "page#table"
    assert press(made, "n") == "page#next"
    assert press(made, "m") == "page#min"
    assert press(made, "p") == "page#min", "there are no rows before"
    assert "no link" in made.locator("[role=status]").inner_text()
    for keys in ("Control+j", "Alt+u", "Meta+n", "Shift+J"):
        assert press(made, keys) == "page#min"
    assert made.evaluate(
        "document.activeElement === document.body || document.activeElement.accessKey === 'm'"
    )
    assert press(made, "g", "x", "u") == "page#table", "g and a key that is none is nothing"


def test_the_keys_lie_over_the_page(made: Any) -> None:
    was = press(made, "j")
    layer = made.get_by_role("dialog", name="Keys")
    for close in ("Escape", "?"):
        assert press(made, "?") == was, "the page stays"
        assert layer.is_visible()
        assert layer.locator("dt").all_inner_texts() == [key for key, _ in list_keys()]
        assert press(made, "u", "j", "g") == was, "no key leads away below it"
        press(made, close)
        assert not layer.is_visible()
    made.get_by_role("link", name="keys", exact=True).click()
    assert layer.is_visible()
    assert layer.get_by_role("link").get_attribute("href").endswith("#help"), "and a page of them"


def test_what_is_beside_has_keys_of_its_own(tmp_path: Path, page: Any) -> None:
    shutil.copytree(ll.sample("iceberg").location, tmp_path / "t")
    table = ll.open(tmp_path / "t")
    manifest = next(one for one in table.current.manifests if len(one.entries) > 1)
    with serve(Explorer(tmp_path)) as address:
        page.goto(f"{address}t/@{table.current.id}/manifest?path={manifest.path}&entry=0")
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement.href").endswith("entry=1"), "a row, as everywhere"
        assert page.url.endswith("entry=0")
        page.keyboard.press(".")
        page.wait_for_url("**entry=1")
        page.keyboard.press("e")
        page.wait_for_url("**/entry?**entry=1")
        page.keyboard.press(",")
        page.wait_for_url("**/entry?**entry=0")


def test_the_page_of_the_keys_leads_back(tmp_path: Path, page: Any) -> None:
    shutil.copytree(ll.sample("iceberg").location, tmp_path / "db" / "t")
    with serve(Explorer(tmp_path)) as address:
        page.goto(f"{address}db/t/")
        page.goto(page.url + "files")
        was = page.url
        page.keyboard.press("?")
        page.get_by_role("link", name="as a page").click()
        page.wait_for_url("**/help")
        assert page.locator(".lx-crumbs a").all_inner_texts() == ["warehouse", "db", "t"]
        page.keyboard.press("Escape")
        page.wait_for_url(was)


@pytest.mark.parametrize(("key", "where"), [("t", "timeline"), ("o", ""), ("f", "files"), ("w", "page#all")])
def test_going_to_a_page(made: Any, key: str, where: str) -> None:
    press(made, "g")
    assert "t timeline" in made.locator("[role=status]").inner_text()
    made.keyboard.press(key)
    made.wait_for_url(f"**/t/@1/{where}")


def test_the_help_lists_what_there_is() -> None:
    script = read_assets()["explorer.js"].decode()
    names = {"→": "ArrowRight", "←": "ArrowLeft"}
    for key, _ in KEYS:
        name = names.get(key, key)
        assert f"    {name}: (" in script or f'    "{name}": ' in script or f"    {name}: {{" in script, key
    for key, name in PAGES:
        if key != "w":
            assert f'{key}: "{"" if name == "overview" else name}"' in script, key


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    root: Path = tmp_path_factory.mktemp("keys")
    for name in ("iceberg", "paimon"):
        shutil.copytree(ll.sample(name).location, root / "db" / name)
    with serving(root) as started:
        yield started


def test_keys_of_the_server(page: Any, running: Running) -> None:
    """The script as it is served, with what the policy of the server lets it do."""
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.goto(running.address)
    page.keyboard.press("?")
    assert page.get_by_role("dialog").get_by_text("to the filter of a list").is_visible()
    page.keyboard.press("Escape")
    page.goto(page.get_by_role("link", name="all keys").evaluate("link => link.href"))
    assert page.get_by_role("cell", name="to the filter of a list").count() == 1
    page.goto(f"{running.pages}db/iceberg/")
    page.wait_for_url("**/@*/")
    page.goto(page.url + "files")
    page.keyboard.press("g")
    box = page.locator(".lx-say").bounding_box()
    assert box and box["y"] + box["height"] <= 1001, "where it is seen"
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.type") == "search"
    page.keyboard.type("p=1")
    page.keyboard.press("Enter")
    page.wait_for_url("**/files?q=p%3D1")
    assert faults == []


def test_what_a_browser_keeps_of_a_reader(page: Any, running: Running) -> None:
    """Favourites and recent tables stand on the first page, `t` jumps to one, and a list has the order that it had last."""
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(running.address)
    assert page.locator(".lx-kept").count() == 0
    page.keyboard.press("t")
    assert page.get_by_role("dialog", name="Jump to a table").is_visible()
    page.keyboard.type("paimon")
    page.keyboard.press("Enter")
    page.wait_for_url("**/db/paimon/@*/")
    star = page.get_by_role("button", name="favourite")
    assert star.get_attribute("aria-pressed") == "false"
    star.click()
    assert star.get_attribute("aria-pressed") == "true"
    page.get_by_role("link", name="Files").click()
    page.wait_for_url("**/files")
    page.locator("thead").get_by_role("link", name="rows", exact=True).click()
    page.wait_for_url("**/files?sort=-rows")
    page.keyboard.press("g")
    page.keyboard.press("o")
    page.wait_for_url("**/db/paimon/@*/")
    page.keyboard.press("g")
    page.keyboard.press("f")
    page.wait_for_url("**/files?sort=-rows")
    page.get_by_role("link", name="not sorted").click()
    page.wait_for_url("**/files")
    page.reload()
    assert page.get_by_role("link", name="not sorted").count() == 0
    page.goto(running.pages)
    assert page.locator(".lx-kept").all_inner_texts() == ["Favourites: db/paimon", "Recent: db/paimon"]
    page.keyboard.press("t")
    page.get_by_role("dialog").get_by_role("link", name="db/paimon").first.click()
    page.wait_for_url("**/db/paimon/@*/")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="copy link").click()
    page.get_by_text("copied: ").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    assert faults == []


def test_words_are_offered_below_a_condition(page: Any, running: Running) -> None:
    """A script offers the same words as Tab in a notebook; they are chosen by keys or by a click."""
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(running.address)
    page.get_by_role("link", name="db/paimon", exact=True).click()
    page.wait_for_url("**/@*/")
    page.goto(f"{page.url}explain")
    field, offered = page.get_by_role("combobox"), page.get_by_role("listbox")
    table = ll.sample("paimon")
    texts = (
        *(
            "",
            "i",
            "id ",
            "id i",
            "n = ",
            "n = 2",
            "name = '",
            "id IS ",
            "id IS NOT ",
            "id in (",
            "id IN (2 ",
            "id IN (2, ",
        ),
        *(
            "n BETWEEN 4 ",
            "n BETWEEN 4 AND ",
            "n between 4 and 20 ",
            "NOT (id = 2) a",
            "id = 2 AND ",
            "nothing ",
            '"id" ',
        ),
    )
    for text in texts:
        field.fill(f"{text}x")
        field.press("End")
        field.press("Backspace")
        assert offered.get_by_role("option").all_inner_texts() == complete_condition(table, text)[1], text
        assert offered.is_visible() == bool(complete_condition(table, text)[1])
    field.fill("")
    page.keyboard.type("n")
    page.keyboard.press("ArrowDown")
    assert page.get_by_role("option", selected=True).inner_text() == "name"
    page.keyboard.press("Enter")
    page.get_by_role("option", name="IS NOT NULL").click()
    page.keyboard.type("AND id = ")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    assert field.input_value() == "name IS NOT NULL AND id = 4 "
    page.keyboard.press("Escape")
    assert not offered.is_visible() and field.evaluate("field => field === document.activeElement")
    page.keyboard.press("Enter")
    page.wait_for_url("**/explain?where=*")
    assert page.get_by_role("combobox").input_value() == "name IS NOT NULL AND id = 4"
    assert faults == []


def test_a_browser_that_keeps_nothing_misses_nothing_else(page: Any, running: Running) -> None:
    """Where storage is forbidden, keys and lists are as they were, and no error is said."""
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })"
    )
    page.goto(running.address)
    page.goto(f"{running.pages}db/iceberg/files")
    assert page.get_by_role("button", name="copy link").is_visible()
    assert page.get_by_role("button", name="favourite").count() == 0
    page.locator("thead").get_by_role("link", name="rows", exact=True).click()
    page.wait_for_url("**/files?sort=-rows")
    page.keyboard.press("t")
    page.keyboard.type("paimon")
    page.keyboard.press("Enter")
    page.wait_for_url("**/db/paimon/@*/")
    assert faults == []
