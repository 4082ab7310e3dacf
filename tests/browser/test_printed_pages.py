"""The pages of the course that are for printing: each is one sheet of A4."""

from __future__ import annotations

import re
from typing import Any

import pytest

from notebooks import pages


@pytest.mark.parametrize("key", pages.FORMATS)
def test_a_page_is_one_sheet(browser: Any, key: str) -> None:
    page = browser.new_page(color_scheme="dark")
    try:
        page.goto((pages.PAGES / f"{key}.html").as_uri())
        assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == 1
        width = "[...document.querySelectorAll('body, table, svg')].map(one => one.scrollWidth || one.clientWidth)"
        page.set_viewport_size({"width": 794, "height": 1123})
        assert max(page.evaluate(width)) <= 794
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    finally:
        page.close()
