"""The folder of a tab in Chromium: pages of samples and of folders, links, keys, and what leaves the page: nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lakelens.explorer.shelf import LISTED_FOR
from lakelens.samples import read_samples, unpack_table
from tests.tab.hosts import serve_folder
from tests.tab.parts import ROOT
from tests.tab.visiting import READY, Visitor


@pytest.mark.exhaustive
def test_a_sample_opens_by_a_click_and_leads_to_a_byte(visitor: Visitor) -> None:
    visitor.open()
    page = visitor.page
    assert not any(url.endswith(".packed") for url in visitor.requests), (
        "nothing is fetched before it is asked for"
    )
    page.click("a:has-text('paimon-deletion-vectors')")
    page.wait_for_selector(READY)
    assert visitor.fragment == "#sample/paimon-deletion-vectors/@7/"
    page.click(".lx-nav a:has-text('Manifests')")
    page.wait_for_selector(".lx-nav [aria-current]:has-text('Manifests')")
    page.click("main table tbody tr a")
    page.wait_for_selector(".lx-crumbs [aria-current]:has-text('manifest-')")
    manifest = visitor.fragment
    page.click("main a[href*='/bytes?']")
    page.wait_for_selector("main .ll-y, main :text('Avro')")
    assert "/bytes?" in visitor.fragment
    page.go_back()
    page.wait_for_selector(".lx-crumbs [aria-current]:has-text('manifest-')")
    page.reload()
    page.wait_for_selector(READY)
    assert visitor.fragment == manifest


def test_a_folder_opens_by_the_keyboard_and_again_after_a_reload(visitor: Visitor, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse"
    for name in ("paimon", "iceberg", "hive"):
        unpack_table(name, warehouse)
    visitor.open()
    page = visitor.page
    visitor.choose(warehouse)
    page.wait_for_selector(READY)
    assert visitor.fragment == "#folder/warehouse/"
    assert "folder of yours: read" in page.inner_text(".lt-read") and "nothing was sent" in page.inner_text(
        ".lt-read"
    )
    for key in ("j", "j", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("h1:has-text('paimon')")
    page.keyboard.press("g")
    page.keyboard.press("f")
    page.wait_for_selector(".lx-nav [aria-current]:has-text('Files')")
    page.keyboard.press("?")
    page.wait_for_selector("dialog.lx-layer[open]")
    page.keyboard.press("Escape")
    # a filter is a form, whose answer is an address
    page.fill("main input[type=search]", "rows > 5")
    page.keyboard.press("Enter")
    page.wait_for_selector("main input[type=search][value='rows > 5']")
    there = visitor.fragment
    assert there.endswith("/files?q=rows+%3E+5")
    page.reload()
    page.wait_for_selector("#lt-notice:has-text('a page of a folder of yours')")
    visitor.choose(warehouse)
    page.wait_for_selector(READY)
    assert visitor.fragment == there


_READ_PAGES = """async ({ site, samples, roots }) => {
  const { Python, fetchParts } = await import(`${site}python.mjs`);
  const { takeChosen } = await import(`${site}source.mjs`);
  const python = new Python();
  await python.start(await fetchParts(JSON.parse(document.body.dataset.known), () => {}));
  const answers = {}, seconds = {};
  for (const [name, addresses] of Object.entries(samples)) {
    const { files } = document.getElementById(`chosen-${name}`);
    const { paths } = takeChosen(files);
    const lake = { source: "folder", name, root: roots[name], prefix: `folder/${name}`, paths, files: [...files] };
    await python.ask({ kind: "open", ...lake });
    const begun = performance.now();
    answers[name] = {};
    for (const address of addresses) {
      let made = await python.ask({ kind: "answer", address });
      if (made.location) {
        made = await python.ask({ kind: "answer", address: made.location.slice(`folder/${name}/`.length) });
      }
      answers[name][address] = made;
    }
    seconds[name] = (performance.now() - begun) / 1000;
  }
  python.stop();
  return { answers, seconds };
}"""
_ADD_INPUT = """id => {
  const input = document.createElement("input");
  Object.assign(input, { id, type: "file", webkitdirectory: true });
  document.body.append(input);
}"""
_LINK = re.compile(r' (href|action|src)="[^"]*"')
#: `make test` looks at these, `make tab-test` at the others too.
FEW = ("delta", "hive-orc", "iceberg-merge-on-read", "paimon-deletion-vectors")
OTHERS = tuple(sorted(set(read_samples().keys()) - set(FEW)))
_TIME = 1_700_000_000


@pytest.mark.parametrize(
    "names", [pytest.param(FEW, id="few"), pytest.param(OTHERS, id="others", marks=pytest.mark.exhaustive)]
)
def test_pages_of_a_tab_are_those_of_a_server(visitor: Visitor, tmp_path: Path, names: Sequence[str]) -> None:
    visitor.open()
    roots = {name: unpack_table(name, tmp_path) for name in names}
    for name, root in roots.items():
        for path in (root, *root.rglob("*")):
            os.utime(path, (_TIME, _TIME))
        visitor.page.evaluate(_ADD_INPUT, f"chosen-{name}")
        visitor.page.set_input_files(f"#chosen-{name}", str(root))
    command = [sys.executable, "-m", "tests.tab.pages", *map(str, roots.values())]
    walked = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    asked = {name: list(walked[str(root)]) for name, root in roots.items()}
    read = visitor.page.evaluate(
        _READ_PAGES,
        {"site": visitor.site, "samples": asked, "roots": {name: str(root) for name, root in roots.items()}},
    )
    answers, differing, same, late = read["answers"], [], 0, 0
    for name, root in roots.items():
        if name.startswith("hive") and read["seconds"][name] >= LISTED_FOR:
            late += 1  # on a busy machine: it was listed again, and knows less of what was read before
            continue
        for address, markup in walked[str(root)].items():
            made = answers[name][address]
            here = _LINK.sub(r" \1", markup)
            there = _LINK.sub(r" \1", made["markup"])
            if here == there:
                same += 1
            elif not (" more from " in here and "/bytes?" in address):
                # a page of bytes is cut where it is long enough, and links, which are of other lengths, count
                at = next((n for n, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), 0)
                differing.append(
                    f"{name} {address}: {here[at - 60 : at + 60]!r} and {there[at - 60 : at + 60]!r}"
                )
    assert differing == []
    assert same > 10 * (len(names) - late)


@pytest.mark.exhaustive
def test_a_tab_works_offline_once_it_was_open(visitor: Visitor) -> None:
    visitor.open("#sample/hive-orc/")
    visitor.context.set_offline(True)
    visitor.page.reload()
    visitor.page.wait_for_selector(READY)
    assert "hive-orc" in visitor.read()
    other = visitor.add_page()  # a second tab of the same browser has a Python of its own
    other.goto(f"{visitor.site}#sample/delta-basic/")
    other.wait_for_selector(READY)
    assert "delta-basic" in other.inner_text("#lt-page main")


_REACH_OUT = """async (address) => {
  const script = `fetch(${JSON.stringify(address)}).then(() => postMessage("reached"), () => postMessage("refused"))`;
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })), { type: "module" });
  const fromWorker = await new Promise((done) => { worker.onmessage = ({ data }) => done(data); });
  const fromPage = await fetch(address).then(() => "reached", () => "refused");
  const script2 = document.createElement("script");
  script2.textContent = "window.ran = 1";
  document.body.append(script2);
  return [fromWorker, fromPage, window.ran ?? "did not run"];
}"""


def test_the_policy_forbids_other_addresses_and_scripts(browser: Any, site: str, tmp_path: Path) -> None:
    visiting = Visitor(browser, site)
    visiting.open()
    with serve_folder(tmp_path) as other:
        seen = visiting.page.evaluate(_REACH_OUT, other)
    visiting.context.close()
    assert seen == ["refused", "refused", "did not run"]


@pytest.mark.exhaustive
def test_what_cannot_be_opened_is_said_in_words(visitor: Visitor, tmp_path: Path) -> None:
    visitor.open()
    page = visitor.page
    exports = tmp_path / "exports"
    exports.mkdir()
    (exports / "notes.txt").write_text("nothing of a table")
    visitor.choose(exports)
    page.wait_for_selector(READY)
    assert "0 tables" in visitor.read() or "no table" in visitor.read().lower()
    # a zip that says that it holds more than there is memory for
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"t/data-{number}.parquet", bytes(100_000_000))
    page.set_input_files("#lt-zip-input", str(bomb))
    page.wait_for_selector("#lt-page .lt-keys")
    assert "this zip would unpack to 3 files of 286 MiB" in visitor.read()
    # a file that goes while its folder is open
    table = unpack_table("iceberg", tmp_path)
    visitor.choose(table)
    page.wait_for_selector(f"{READY}:has-text('folder of yours')")
    for file in table.rglob("*.parquet"):
        file.unlink()
    page.click(".lx-nav a:has-text('Files')")
    page.wait_for_selector(".lx-nav [aria-current]:has-text('Files')")
    page.click("main table a[href*='/file?']")
    page.wait_for_selector(".lx-crumbs [aria-current]:has-text('parquet')")
    page.click("main a[href*='/bytes?']")
    page.wait_for_selector("main :text('Missing')")
    assert "parquet" in visitor.read()
    # a table whose names are an attacker's
    hostile = unpack_table("hive", tmp_path)
    (hostile / "dt=<img src=x onerror=document.title=1>").mkdir()
    (hostile / "dt=<img src=x onerror=document.title=1>" / "<script>alert(1)<\u2044script>").write_bytes(
        b"PAR1"
    )
    visitor.choose(hostile)
    page.wait_for_selector(f"{READY}:has-text('folder of yours')")
    page.click(".lx-nav a:has(b:text-is('Files'))")
    page.wait_for_selector(".lx-nav [aria-current]:has(b:text-is('Files'))")
    assert "<img src=x" in visitor.read()
    assert page.query_selector_all("#lt-page img, #lt-page script") == []


@pytest.mark.exhaustive
def test_a_phone_shows_all_of_it(browser: Any, site: str) -> None:
    visiting = Visitor(browser, site, viewport={"width": 390, "height": 844}, color_scheme="dark")
    visiting.open()
    wide = "document.documentElement.scrollWidth"
    assert visiting.page.evaluate(wide) <= 390
    assert not visiting.page.is_visible("a:has-text('iceberg-v4')")
    visiting.page.click("#lt-all")
    visiting.page.click("a:has-text('iceberg-v4')")
    visiting.page.wait_for_selector(READY)
    assert visiting.page.evaluate(wide) <= 390
    visiting.context.close()
