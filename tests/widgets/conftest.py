"""The browser and the JupyterLab of the other tests, for widgets."""

from tests.browser.conftest import browser, lab, page

__all__ = ["browser", "lab", "page"]
