"""The browser of the other tests, for widgets."""

from tests.browser.conftest import browser, page

__all__ = ["browser", "page"]
