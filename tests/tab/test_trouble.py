"""What goes wrong in a tab is said in words, on a page that leads on: damage, hostile names, zips, folders of nothing."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from lakelens.explorer.explorer import _MAKERS, Explorer, _load_pages
from lakelens.explorer.place import Place
from lakelens.samples import unpack_table
from tests.browser.test_explorer_safety import LISTEN, MARKUP
from tests.browser.test_hostile_browser import Alarm
from tests.cli import test_hostile
from tests.tab.visiting import READY, Visitor

# what the pages of a tab are made of; anything else, or any handler, came from the lake
_FOREIGN = """() => [...document.querySelectorAll('#lt-page *')].filter(e =>
  (e.tagName === 'IMG' && !e.src.startsWith('data:image/svg+xml;base64,'))
  || ['SCRIPT', 'IFRAME', 'OBJECT', 'EMBED', 'BASE', 'LINK', 'STYLE', 'META'].includes(e.tagName.toUpperCase())
  || (e.tagName.toUpperCase() === 'A' && !/^(#|blob:)/.test(e.getAttribute('href') ?? e.getAttribute('xlink:href') ?? '#'))
  || [...e.attributes].some(a => a.name.startsWith('on') || /^\\s*javascript:/i.test(a.value)))
  .map(e => e.outerHTML.slice(0, 200))"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("sample", ["iceberg", "paimon", "hive"])
def test_nothing_of_a_hostile_table_runs(
    visitor: Visitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sample: str
) -> None:
    monkeypatch.setattr(test_hostile, "NAME", MARKUP)
    root = tmp_path / "hostile"
    test_hostile.make_hostile(sample, root)
    _load_pages()
    explorer = Explorer(str(root))
    (table,) = map(explorer.name, explorer.catalog)
    page = visitor.page
    page.add_init_script(LISTEN)
    alarm = Alarm(page)
    visitor.open()
    visitor.choose(root)
    page.wait_for_selector(READY)
    assert "<img src=x" in visitor.read()
    for name in sorted(_MAKERS):
        visitor.go("#folder/hostile/" + Place(table, "-", name).url)
        assert page.inner_text("#lt-page h1, #lt-page h2"), name
        assert page.evaluate(_FOREIGN) == [], name
    assert page.evaluate("window.refused") == []
    # what is made for a file's name and for the page's title is text as well
    page.evaluate("document.querySelectorAll('#lt-page details').forEach(d => { d.open = true })")
    assert alarm.heard == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("sample", "pattern"), [("iceberg", "metadata/*-m0.avro"), ("paimon", "manifest/manifest-*-0")]
)
def test_a_damaged_manifest_is_said_on_every_page(
    visitor: Visitor, tmp_path: Path, sample: str, pattern: str
) -> None:
    table = unpack_table(sample, tmp_path)
    for manifest in table.glob(pattern):
        content = manifest.read_bytes()
        manifest.write_bytes(content[: len(content) // 2] + b"\xff" * (len(content) // 2))
    visitor.open()
    visitor.choose(table)
    page = visitor.page
    page.wait_for_selector(READY)
    assert "ERROR" in page.inner_text(".lx-nav")
    here = visitor.fragment
    for name in ("files", "manifests", "timeline", "snapshots", "findings", "map", "diff", "explain"):
        visitor.go(here + name)
        assert len(visitor.read()) > 40, name
    visitor.go(here + "findings")
    assert "corrupt" in visitor.read().lower()


@pytest.mark.exhaustive
def test_zips_and_folders_of_nothing_are_named(visitor: Visitor, tmp_path: Path) -> None:
    visitor.open()
    page = visitor.page
    table = unpack_table("hive", tmp_path)
    whole = Path(shutil.make_archive(str(tmp_path / "whole"), "zip", table.parent, table.name))
    cut = tmp_path / "cut.zip"
    cut.write_bytes(whole.read_bytes()[:-40])
    outside = tmp_path / "outside.zip"
    with zipfile.ZipFile(outside, "w") as archive:
        archive.writestr("../outside.txt", "out")
    for chosen, words in (
        (cut, "no zip that can be read"),
        (outside, "a name that leads out of the zip"),
    ):
        page.set_input_files("#lt-zip-input", str(chosen))
        page.wait_for_selector(f"#lt-page main:has-text('{words}')")
        page.click("#lt-page button:text-is('open something else')")
        page.wait_for_selector("#lt-open")
    page.set_input_files("#lt-zip-input", str(whole))
    page.wait_for_selector(READY)
    assert "hive" in visitor.read()
    page.click(".lt-read a:text-is('open something else')")
    page.wait_for_selector("#lt-open")
    (tmp_path / "empty").mkdir()
    visitor.drop(tmp_path / "empty")
    page.wait_for_selector("#lt-notice:has-text('empty has no files')")
    loose = tmp_path / "notes.txt"
    loose.write_text("nothing of a table")
    visitor.drop(loose)
    page.wait_for_selector("#lt-notice:has-text('Drop one folder, or one zip')")
    for fragment, words in (
        ("#sample/none-such/", "none-such"),
        ("#sample/iceberg/@999/", "999"),
        ("#sample/iceberg/@-/nothing", "nothing"),
    ):
        page.evaluate("hash => { location.hash = hash }", fragment)
        page.wait_for_selector(f"#lt-page main:has-text('{words}')")
