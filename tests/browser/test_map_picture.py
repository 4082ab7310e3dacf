"""Maps in a real browser: every word is inside of the drawing and of its box, and no two of them touch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from tests.browser.looks import find_faults, open_folds

_LOOK = """() => {
  const found = [], texts = [...document.querySelectorAll('svg text')];
  const frames = [...document.querySelectorAll('svg path[class^="e-"]')].map(one => one.getBBox());
  const boxes = texts.map(one => one.getBBox());
  texts.forEach((one, at) => {
    const box = boxes[at];
    if (box.x < -2 || box.x + box.width > 687) found.push(['outside', one.textContent]);
    for (const frame of frames) {
      const inside = box.x >= frame.x && box.x < frame.x + frame.width
        && box.y >= frame.y - 3 && box.y + box.height <= frame.y + frame.height + 3;
      const ends = frame.x + frame.width + 1;
      if (inside && frame.height > 20 && box.x + box.width > ends) found.push(['over', one.textContent]);
    }
    boxes.slice(0, at).forEach((other, place) => {
      const across = Math.min(box.x + box.width, other.x + other.width) - Math.max(box.x, other.x);
      const down = Math.min(box.y + box.height, other.y + other.height) - Math.max(box.y, other.y);
      if (across > 1 && down > 4) found.push(['touch', one.textContent, texts[place].textContent]);
    });
  });
  return found;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_stay_where_they_belong(browser: Any, theme: str) -> None:
    page = browser.new_page(viewport={"width": 900, "height": 900}, color_scheme=theme)
    try:
        for name in (
            "iceberg",
            "iceberg-statistics",
            "iceberg-v4",
            "paimon-deletion-vectors",
            "paimon-changelog",
            "hive",
        ):
            page.set_content(ll.sample(name).map().to_svg())
            assert page.evaluate(_LOOK) == [], name
    finally:
        page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pages_have_no_faults(browser: Any, tmp_path: Path, theme: str) -> None:
    """The page of a map, and that of every file's life, which is one sheet of paper."""
    page = browser.new_page(viewport={"width": 820, "height": 900}, color_scheme=theme)
    try:
        for thing in (ll.sample("paimon-deletion-vectors").map(), ll.lifetimes()):
            thing.to_html(tmp_path / "page.html")
            page.goto((tmp_path / "page.html").as_uri())
            open_folds(page, ".ll-root")
            assert find_faults(page, "main, body") == []
    finally:
        page.close()


def test_every_files_life_is_one_sheet(browser: Any, tmp_path: Path) -> None:
    ll.lifetimes().to_html(tmp_path / "page.html")
    page = browser.new_page()
    try:
        page.goto((tmp_path / "page.html").as_uri())
        # both sides of one: the files of four formats take more than a page
        assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 2
    finally:
        page.close()
