"""Figures of a tab in Chromium, on this machine: how long it takes to start, and its pages.

    python -m tests.tab.figures

Prints one line for each; `docs/tab.md` has those of a run.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from pathlib import Path

from lakelens.samples import unpack_table
from lakelens.tab.building import build
from lakelens.tab.parts import gather
from tests.benchmarks.tables import Tables
from tests.browser.browsers import launch_browser
from tests.tab.hosts import serve_folder
from tests.tab.parts import ROOT
from tests.tab.visiting import READY, Visitor

_PAGES = ("timeline", "snapshots", "files", "manifests", "schema", "refs", "findings", "")
_TABLES, _FILES, _TIMES = 400, 100_000, 3


def time_opening(visitor: Visitor, folder: Path) -> float:
    """Time from the choice of a folder to its page; Python starts in between."""
    visitor.open()
    began = time.perf_counter()
    visitor.choose(folder)
    visitor.page.wait_for_selector(READY)
    return time.perf_counter() - began


def time_page(visitor: Visitor, fragment: str) -> float:
    """Time from a link to its page."""
    began = time.perf_counter()
    visitor.go(fragment)
    return time.perf_counter() - began


def measure(visitor: Visitor, folder: Path) -> None:
    """Print what a visitor sees."""
    for words in ("start to the first page of a sample, nothing kept", "the same, all kept"):
        visitor.page.goto("about:blank")
        began = time.perf_counter()
        visitor.open("#sample/paimon/")
        print(f"{words}: {time.perf_counter() - began:.1f} s", flush=True)
    here = visitor.fragment
    seen = [time_page(visitor, here + name) for _ in range(_TIMES) for name in _PAGES]
    print(f"a page of that table, median of {len(seen)}: {statistics.median(seen) * 1e3:.0f} ms", flush=True)
    warehouse = folder / "warehouse"
    first = unpack_table("iceberg", warehouse)
    for number in range(1, _TABLES):
        shutil.copytree(first, warehouse / f"t{number:03}")
    print(f"start and a list of {_TABLES} tables: {time_opening(visitor, warehouse):.1f} s", flush=True)
    large = Tables(folder).grow("iceberg", files=_FILES).target.path
    print(f"start and overview of {_FILES:,} files: {time_opening(visitor, large):.1f} s", flush=True)


def main() -> None:
    """Build a tab and measure it."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        built = build(folder / "site", gather(ROOT / "build" / "tab"))
        files = len(list(built.path.iterdir()))
        print(f"the folder: {built.size / 1e6:.1f} MB in {files} files", flush=True)
        with serve_folder(built.path) as address, launch_browser() as browser:
            measure(Visitor(browser, address), folder)


if __name__ == "__main__":
    main()
