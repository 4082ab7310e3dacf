"""Ways through a tab in Chromium: a folder that is dropped, to a byte by clicks and by keys, stopping, and taking away."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.samples import unpack_table
from tests.browser.looks import find_faults
from tests.tab.parts import ROOT
from tests.tab.visiting import READY, Visitor

_BARE_REPORT = """
import sys
from tests.support.light import take_away
take_away()
import lakelens as ll
ll.open(sys.argv[1]).to_html(sys.argv[2])
"""
# Python never answers again: it is ended from outside or not at all
_HANG = "setTimeout(() => { for (;;) { } }, 0)"
_FIELD = "main :text('RowKind')"


def make_warehouse(folder: Path, *names: str) -> Path:
    """Make a warehouse of samples, in one database."""
    for name in names:
        unpack_table(name, folder / "warehouse" / "shop.db")
    return folder / "warehouse"


@pytest.mark.exhaustive
def test_a_warehouse_that_is_dropped_leads_by_clicks_to_a_byte_of_a_row(
    visitor: Visitor, tmp_path: Path
) -> None:
    visitor.open()
    page = visitor.page
    visitor.drop(make_warehouse(tmp_path, "paimon", "paimon-append"))
    page.wait_for_selector(READY)
    assert visitor.fragment == "#folder/warehouse/"
    page.click("main table a[href*='/paimon/']")
    page.wait_for_selector("h1:has-text('paimon')")
    page.click(".lx-nav a:has-text('Manifests')")
    page.wait_for_selector(".lx-nav [aria-current]:has-text('Manifests')")
    page.click("main table tbody tr a[href*='/manifest?']")
    page.wait_for_selector(".lx-crumbs [aria-current]:has-text('manifest-')")
    page.click("main a[href*='/bytes?']")
    page.wait_for_selector("main :text('BinaryRow')")
    page.click("main a[href*='/bytes?']:near(:text('BinaryRow'))")
    page.wait_for_selector(_FIELD)
    there = visitor.fragment
    assert there.startswith("#folder/warehouse/shop.db/paimon/@") and "/bytes?" in there
    page.go_back()
    page.wait_for_selector("main :text('avro.schema')")
    page.go_forward()
    page.wait_for_selector("main :text('avro.schema')", state="detached")
    page.wait_for_selector(_FIELD)
    assert visitor.fragment == there


@pytest.mark.exhaustive
def test_keys_alone_lead_to_a_byte_of_a_row(visitor: Visitor, tmp_path: Path) -> None:
    warehouse = make_warehouse(tmp_path, "paimon", "paimon-append")
    page = visitor.page
    page.on("filechooser", lambda chooser: chooser.set_files(str(warehouse)))
    visitor.open()
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.id") != "lt-folder":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(READY)
    for key in ("j", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector(".lx-nav [aria-current]:has-text('Overview')")
    for key in ("g", "m"):
        page.keyboard.press(key)
    page.wait_for_selector(".lx-nav [aria-current]:has-text('Manifests')")
    for key in ("j", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector(".lx-crumbs [aria-current]:has-text('manifest-')")
    page.keyboard.press("Tab")
    while not page.evaluate("document.activeElement.matches(\"main a[href*='/bytes?']\")"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(_FIELD)
    assert "/bytes?" in visitor.fragment


@pytest.mark.exhaustive
def test_a_page_that_takes_long_is_stopped_and_the_folder_goes_on(visitor: Visitor, tmp_path: Path) -> None:
    visitor.open()
    page = visitor.page
    visitor.choose(make_warehouse(tmp_path, "paimon", "iceberg"))
    page.wait_for_selector(READY)
    page.click("main table a[href*='/iceberg/']")
    page.wait_for_selector("h1:has-text('iceberg')")
    for _ in range(2):  # what was started again can be stopped again
        (worker,) = page.workers
        worker.evaluate(_HANG)
        page.click(".lx-nav a:has(b:text-is('Files'))")
        page.wait_for_selector(".lt-busy:has-text('This page takes a while')")
        with worker.expect_event("close"):
            page.click(".lt-busy button:text-is('stop')")
        page.wait_for_selector("h1:text-is('Stopped')")
        page.click("button:text-is('go on')")
        page.wait_for_selector(".lx-nav [aria-current]:has(b:text-is('Files'))")
        assert visitor.fragment.endswith("/files") and "folder of yours: read" in page.inner_text(".lt-read")
        page.click(".lx-nav a:has(b:text-is('Overview'))")
        page.wait_for_selector(".lx-nav [aria-current]:has(b:text-is('Overview'))")


@pytest.mark.exhaustive
def test_what_is_taken_away_is_what_lakelens_writes(visitor: Visitor, tmp_path: Path) -> None:
    table = unpack_table("iceberg-merge-on-read", tmp_path)
    visitor.open()
    visitor.choose(table)
    visitor.page.wait_for_selector(READY)
    report = visitor.save("report as one page", tmp_path).read_text("utf-8")
    command = [sys.executable, "-c", _BARE_REPORT, str(table), str(tmp_path / "here.html")]
    subprocess.run(command, cwd=ROOT, check=True)
    here = (tmp_path / "here.html").read_text("utf-8")
    words = [re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", text)) for text in (report, here)]
    assert words[0].replace("/lake/", "") == words[1].replace(f"{tmp_path}/", "")
    assert "<script" not in report
    archive = visitor.save("skeleton as a zip", tmp_path)
    with zipfile.ZipFile(archive) as held:
        held.extractall(tmp_path / "skeletons")
    (skeleton,) = (tmp_path / "skeletons").iterdir()
    made, known = ll.open(skeleton), ll.open(table)
    assert len(made.snapshots) == len(known.snapshots)
    assert [file.record_count for file in made.files] == [file.record_count for file in known.files]


@pytest.mark.exhaustive
def test_a_missing_package_is_asked_for_and_nothing_is_fetched(visitor: Visitor) -> None:
    visitor.open("#sample/delta-checkpoints/")
    page = visitor.page
    assert "ERROR" not in page.inner_text(".lx-nav")
    notes = page.locator("main tr:has-text('notinstalled')")
    assert notes.count() == 0, "a checkpoint in Parquet needs no package"
    visitor.go(visitor.fragment + "files?q=record_count+%3E+1")
    assert "filter" in visitor.read()
    visitor.go("#sample/iceberg/")
    page.click(".lx-nav a:has(b:text-is('Health'))")
    page.wait_for_selector("h1:text-is('health')")
    page.click("button:text-is('go to the page that may fetch them')")
    page.wait_for_url("**/wide.html#sample/iceberg/*/health")
    page.wait_for_selector("main button:text-is('fetch them from there')")


@pytest.mark.exhaustive
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_pages_of_a_tab(visitor: Visitor, scheme: str) -> None:
    page = visitor.page
    page.emulate_media(color_scheme=scheme)
    visitor.open()
    faults = {"open": find_faults(page, "body")}
    visitor.open("#sample/paimon/")
    faults["overview"] = find_faults(page, "body")
    here = visitor.fragment
    for name in ("files", "manifests", "health", "bytes?path=snapshot/snapshot-1"):
        visitor.go(here + name)
        faults[name] = find_faults(page, "body")
    page.goto(visitor.site + "licences.html")
    faults["licences"] = find_faults(page, "body")
    assert {name: said for name, said in faults.items() if said} == {}
