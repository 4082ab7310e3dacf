"""A reader of a tab: a browser of their own, what it asked for, and what it complained of."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

#: What stands on every page of a lake that is open.
READY = "#lt-page .lt-read"


class Visitor:
    """A reader with a browser of their own: what it asked for and what it complained of is kept."""

    def __init__(self, browser: Any, site: str, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(60_000)
        self.site = site
        self.requests: list[str] = []
        self.faults: list[str] = []
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.page = self.add_page()

    def add_page(self) -> Any:
        """Open another tab of the same browser."""
        page = self.context.new_page()
        page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        return page

    def open(self, fragment: str = "") -> None:
        """Go to a fragment and wait for its page."""
        self.page.goto(self.site + fragment)
        if fragment:
            self.page.wait_for_selector(READY)

    def go(self, fragment: str) -> None:
        """Follow a link to a fragment, and wait for its page."""
        self.page.evaluate(
            "hash => { document.querySelector('#lt-page .lt-read').remove(); location.hash = hash }", fragment
        )
        self.page.wait_for_selector(READY)

    def choose(self, folder: Path) -> None:
        """Choose a folder, as with the button."""
        self.page.set_input_files("#lt-folder-input", str(folder))

    def list_origins(self) -> set[str]:
        """List where requests went."""
        return {urlsplit(url.removeprefix("blob:")).netloc for url in self.requests}

    @property
    def fragment(self) -> str:
        """What the address says now."""
        said: str = self.page.evaluate("location.hash")
        return said

    def read(self) -> str:
        """Read the main part of the page that is shown."""
        text: str = self.page.inner_text("#lt-page main")
        return text

    def drop(self, path: Path) -> None:
        """Drop a file or a folder onto the page, as from a file manager."""
        devices = self.context.new_cdp_session(self.page)
        for kind in ("dragEnter", "dragOver", "drop"):
            dragged = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
            devices.send("Input.dispatchDragEvent", {"type": kind, "x": 200, "y": 200, "data": dragged})

    def save(self, words: str, folder: Path) -> Path:
        """Press a button that makes a file, and keep the file in a folder."""
        with self.page.expect_download() as waiting:
            self.page.click(f".lt-read button:has-text('{words}')")
        target = folder / str(waiting.value.suggested_filename)
        waiting.value.save_as(target)
        return target
