"""Figures of a tab in Chromium, on this machine: how long it takes to start, and its pages.

    python -m tests.tab.figures

Prints one line for each; `docs/tab.md` has those of a run.
"""

from __future__ import annotations

import gzip
import os
import re
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
_HELD = re.compile(r"^Vm(?:HWM|RSS):\s+(\d+)", re.MULTILINE)
_SETTLED = 5_000  # milliseconds: what is kept for the next visit is written after a first page
_PATIENCE = 600_000  # milliseconds


def time_opening(visitor: Visitor, folder: Path, way: str = "choose") -> float:
    """Time from when a folder is chosen, or dropped, to its page; Python starts in between."""
    visitor.open()
    began = time.perf_counter()
    (visitor.drop if way == "drop" else visitor.choose)(folder)
    visitor.page.wait_for_selector(READY, timeout=_PATIENCE)
    return time.perf_counter() - began


def time_page(visitor: Visitor, fragment: str) -> float:
    """Time from a link to its page."""
    began = time.perf_counter()
    visitor.go(fragment)
    return time.perf_counter() - began


def weigh(visitor: Visitor) -> str:
    """Weigh the process that shows the page, with Python in it: now, and at most since it was weighed before."""
    devices = visitor.context.browser.new_browser_cdp_session()
    processes = devices.send("SystemInfo.getProcessInfo")["processInfo"]
    shown = [process["id"] for process in processes if process["type"] == "renderer"]
    statuses = [Path(f"/proc/{shown_id}/status").read_text() for shown_id in shown]
    held = [[int(kilobytes) / 1e3 for kilobytes in _HELD.findall(status)] for status in statuses]
    for shown_id in shown:
        Path(f"/proc/{shown_id}/clear_refs").write_text("5")  # the most that it held is counted anew
    most, now = max(held)
    return f"{now:.0f} MB in memory, {most:.0f} at most"


def measure(visitor: Visitor, folder: Path) -> None:
    """Print what a visitor sees."""
    for words in ("start to the first page of a sample, nothing kept", "the same, all kept"):
        visitor.page.goto("about:blank")
        began = time.perf_counter()
        visitor.open("#sample/paimon/")
        print(f"{words}: {time.perf_counter() - began:.1f} s", flush=True)
        visitor.page.wait_for_timeout(_SETTLED)
    here = visitor.fragment
    seen = [time_page(visitor, here + name) for _ in range(_TIMES) for name in _PAGES]
    print(f"a page of that table, median of {len(seen)}: {statistics.median(seen) * 1e3:.0f} ms", flush=True)
    print(f"then {weigh(visitor)}", flush=True)
    warehouse = folder / "warehouse"
    first = unpack_table("iceberg", warehouse)
    for number in range(1, _TABLES):
        shutil.copytree(first, warehouse / f"t{number:03}")
    print(f"start and a list of {_TABLES} tables: {time_opening(visitor, warehouse):.1f} s", flush=True)
    print(f"then {weigh(visitor)}", flush=True)
    large = Tables(folder).grow("iceberg", files=_FILES).target.path
    print(f"start and overview of {_FILES:,} files: {time_opening(visitor, large):.1f} s", flush=True)
    print(f"then {weigh(visitor)}", flush=True)
    small = make_small_files(folder / "small")
    for way in ("drop", "choose"):
        seconds = time_opening(visitor, small, way)
        print(f"start and overview of {_FILES:,} small files ({way}): {seconds:.1f} s", flush=True)
        print(f"then {weigh(visitor)}; load {os.getloadavg()[0]:.1f}", flush=True)


def make_small_files(table: Path) -> Path:
    """Make a Hive table of many files of a few bytes."""
    for day in range(100):
        partition = table / f"day={day:03}"
        partition.mkdir(parents=True)
        for number in range(_FILES // 100):
            (partition / f"part-{number:05}.csv").write_bytes(b"1,a\n")
    return table


def main() -> None:
    """Build a tab and measure it."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        built = build(folder / "site", gather(ROOT / "build" / "tab"))
        files = len(list(built.path.iterdir()))
        packed = sum(len(gzip.compress(path.read_bytes(), 9)) for path in built.path.iterdir())
        sizes = f"{built.size / 1e6:.1f} MB in {files} files, {packed / 1e6:.2f} MB where a server compresses"
        print(f"the folder: {sizes}; load {os.getloadavg()[0]:.1f}", flush=True)
        with serve_folder(built.path) as address, launch_browser() as browser:
            measure(Visitor(browser, address), folder)


if __name__ == "__main__":
    main()
