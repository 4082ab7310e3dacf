"""A lake at an address, in Chromium: who is asked, and when; what cannot be read; and a page of a table in another page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

import lakelens as ll
from lakelens.samples import unpack_table
from tests.browser.test_explorer_safety import MARKUP
from tests.cli import test_hostile
from tests.support.web_lakes import WebLake, serve_lake
from tests.tab.hosts import serve_folder
from tests.tab.test_trouble import _FOREIGN
from tests.tab.visiting import READY, Visitor


@contextmanager
def visit(browser: Any, site: str, *hosts: str, **options: Any) -> Iterator[Visitor]:
    """A reader whose browser may have asked the site and some other hosts, and no more."""
    visiting = Visitor(browser, site, **options)
    try:
        yield visiting
        assert visiting.list_origins() <= {urlsplit(address).netloc for address in (site, *hosts)}
    finally:
        visiting.context.close()


def open_address(visitor: Visitor, address: str) -> None:
    """Type an address and press Open."""
    visitor.page.fill("#lt-url", address)
    visitor.page.click("#lt-address button")


@pytest.mark.parametrize(
    "listing",
    ["s3", *(pytest.param(kind, marks=pytest.mark.exhaustive) for kind in ("python", "nginx", "azure"))],
)
def test_an_address_opens_once_it_was_typed(browser: Any, site: str, tmp_path: Path, listing: str) -> None:
    for name in ("iceberg", "paimon"):
        unpack_table(name, tmp_path / "shop.db")
    lake = WebLake(tmp_path, listing)
    with serve_lake(lake) as host, visit(browser, site, host) as visitor:
        address = f"{host}bucket/shop.db" if listing in ("s3", "azure") else f"{host}shop.db"
        visitor.open()
        page = visitor.page
        open_address(visitor, address)
        page.wait_for_selector(READY)
        assert page.url.startswith(f"{site}wide.html#url/{quote(address, safe='')}/")
        assert "requests" in page.inner_text(".lt-read") and "nobody else was asked" in page.inner_text(
            ".lt-read"
        )
        page.click("main table a[href*='/iceberg/']")
        page.wait_for_selector("h1:has-text('iceberg')")
        page.click(".lx-nav a:has(b:text-is('Files'))")
        page.wait_for_selector(".lx-nav [aria-current]:has(b:text-is('Files'))")
        page.click("main table a[href*='/file?']")
        page.wait_for_selector(".lx-crumbs [aria-current]:has-text('parquet')")
        visitor.go(page.get_attribute("main a[href*='/bytes?']", "href"))
        assert "/bytes?" in visitor.fragment and "footer" in visitor.read()
        assert any(wanted for _, path, wanted in lake.requests if ".parquet" in path), "by ranges"
        assert visitor.faults == []
        # a reload goes on in the same tab of the browser; the link alone, in another one, asks nobody
        page.reload()
        page.wait_for_selector(READY)
        before = len(lake.requests)
        other = browser.new_context().new_page()
        other.goto(page.url)
        other.wait_for_selector("#lt-notice:has-text('Nothing was asked yet')")
        assert len(lake.requests) == before
        other.click("#lt-notice button")
        other.wait_for_selector(READY)
        assert len(lake.requests) > before
        other.context.close()


def test_what_cannot_be_read_at_an_address_is_said(browser: Any, site: str, tmp_path: Path) -> None:
    unpack_table("iceberg", tmp_path)
    lake = WebLake(tmp_path, has_cors=False)
    with serve_lake(lake) as host, serve_folder(tmp_path) as other, visit(browser, site, host) as visitor:
        page = visitor.page
        visitor.page.goto(f"{site}wide.html")
        page.fill("#lt-url", "https://me:secret@bucket.example/t")
        page.click("#lt-address button")
        assert page.evaluate("location.hash") == "", "an address with a password is none of something public"
        open_address(visitor, f"{host}iceberg")
        page.wait_for_selector("#lt-page main:has-text('does not let pages of other sites read it (CORS)')")
        lake.has_cors, lake.has_ranges = True, False
        page.click("#lt-page button:text-is('try again')")
        page.wait_for_selector(READY)
        page.click(".lx-nav a:has(b:text-is('Files'))")
        page.wait_for_selector(".lx-nav [aria-current]:has(b:text-is('Files'))")
        assert "parquet" in visitor.read()
        # what leads elsewhere is not followed: the other host is asked by nobody (the context knows its requests)
        lake.has_ranges, lake.leads = True, other.rstrip("/")
        visitor.page.goto(f"{site}wide.html")
        open_address(visitor, f"{host}iceberg/metadata/")
        page.wait_for_selector("#lt-page main")
        lake.leads, lake.listing = "", "nothing"
        visitor.page.goto(f"{site}wide.html")
        open_address(visitor, f"{host}iceberg")
        page.wait_for_selector("#lt-page main:has-text('nothing here can be listed')")
        newest = max((tmp_path / "iceberg" / "metadata").glob("*.metadata.json")).name
        visitor.page.goto(f"{site}wide.html")
        open_address(visitor, f"{host}iceberg/metadata/{newest}")
        page.wait_for_selector(READY)
        page.click(".lx-nav a:has(b:text-is('Manifests'))")
        page.wait_for_selector(".lx-nav [aria-current]:has(b:text-is('Manifests'))")


@pytest.mark.exhaustive
def test_a_hostile_table_at_an_address_asks_nobody_else(
    browser: Any, site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_hostile, "NAME", MARKUP)
    test_hostile.make_hostile("iceberg", tmp_path / "hostile")
    table = unpack_table("iceberg", tmp_path / "hostile" / "led")
    with serve_lake(WebLake(tmp_path / "elsewhere")) as elsewhere:
        for document in (table / "metadata").glob("*.metadata.json"):
            text = document.read_text()
            document.write_text(text.replace(json.loads(text)["location"], f"{elsewhere}t"))
        lake = WebLake(tmp_path / "hostile")
        with serve_lake(lake) as host, visit(browser, site, host) as visitor:
            visitor.page.goto(f"{site}wide.html")
            open_address(visitor, host)
            visitor.page.wait_for_selector(READY)
            here = visitor.fragment
            links = visitor.page.eval_on_selector_all(
                "main a[href*='#url/']", "links => links.map(a => a.getAttribute('href'))"
            )
            for link in [link for link in links if link.startswith(here)][:6]:
                visitor.go(link)
                for name in ("files", "manifests", "snapshots", "map"):
                    visitor.go(visitor.fragment.split("/@")[0] + f"/@-/{name}")
                    assert visitor.page.evaluate(_FOREIGN) == [], (link, name)


def test_an_element_shows_a_page_of_a_table_when_it_is_scrolled_to(
    browser: Any, site: str, tmp_path: Path
) -> None:
    lake = WebLake(tmp_path / "lake")
    table = unpack_table("paimon", lake.folder)
    skeleton = tmp_path / "skeleton"
    ll.open(table).skeleton(skeleton)
    shutil.make_archive(str(lake.folder / "paimon-skeleton"), "zip", tmp_path, "skeleton")
    with (
        serve_lake(lake) as host,
        serve_folder(tmp_path) as page_host,
        visit(browser, site, host, page_host) as visitor,
    ):
        (tmp_path / "index.html").write_text(
            '<!doctype html><title>notes</title><link rel="icon" href="data:,">'
            f'<script src="{site}lakelens-view.js"></script>'
            f'<lakelens-view src="{host}paimon" page="files" load="click"></lakelens-view>'
            '<div style="height:3000px"></div>'
            f'<lakelens-view src="{host}paimon-skeleton.zip" page="manifests"></lakelens-view>'
        )
        page = visitor.page
        page.goto(page_host)
        page.wait_for_function("customElements.get('lakelens-view') !== undefined")
        assert not lake.requests and not any("embed.html" in url for url in visitor.requests), (
            "nothing before it is seen"
        )
        page.click("lakelens-view >> nth=0 >> button")
        frame = page.frame_locator("lakelens-view >> nth=0 >> iframe")
        frame.locator(".lt-read").wait_for()
        assert "data-" in frame.locator("main").inner_text()
        assert not any(".zip" in path for _, path, _ in lake.requests)
        page.locator("lakelens-view >> nth=1").scroll_into_view_if_needed()
        other = page.frame_locator("lakelens-view >> nth=1 >> iframe")
        other.locator(".lt-read").wait_for()
        assert "manifest-" in other.locator("main").inner_text()
        assert page.locator("lakelens-view >> nth=1 >> iframe").get_attribute("sandbox")
        assert page.evaluate("document.title") == "notes" and visitor.faults == []
