"""The browser that the machine has."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome")


class NoBrowser(Exception):
    """The machine has none; the message says how to get one."""


@contextmanager
def launch_browser() -> Iterator[Any]:
    """Debian's Chromium, headless. Raises `NoBrowser` where there is none."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise NoBrowser("no Chromium on this machine (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Chromium refuses its sandbox to root, as which containers run; pages here are our own
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-quic"])
        for name in ("new_context", "new_page"):
            setattr(browser, name, _make_patient(getattr(browser, name)))
        yield browser
        browser.close()


def _make_patient(make: Callable[..., Any]) -> Callable[..., Any]:
    """Wait longer than Playwright's half a minute: a machine with other work to do is no fault of a page."""

    def make_patiently(**options: Any) -> Any:
        made = make(**options)
        made.set_default_timeout(180_000)
        return made

    return make_patiently
