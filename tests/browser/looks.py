"""What is asked of every page that shows cards."""

from __future__ import annotations

from typing import Any

# each element that is wider inside than outside, with its words; a folded part has no size and is opened first
_WIDER = """root => [root, ...root.querySelectorAll('*')]
  .filter(e => e.clientWidth && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible')
  .filter(e => !e.classList.contains('ll-id'))
  .map(e => `${e.tagName}.${e.className}: ${e.scrollWidth} > ${e.clientWidth}: ${e.textContent.trim().slice(0, 60)}`)"""

# a card cannot know the headings of the page that it is put into
_OF_THE_PAGE = ("heading-order",)


def open_folds(page: Any, root: str) -> None:
    """Open every fold below a selector."""
    page.evaluate("css => document.querySelectorAll(`${css} details`).forEach(d => { d.open = true })", root)


def find_overflow(page: Any, root: str) -> list[str]:
    """What is cut off or scrolls sideways below a selector."""
    found: list[str] = []
    for element in page.locator(root).all():
        found += element.evaluate(_WIDER)
    return found


def find_faults(page: Any, root: str | dict[str, Any]) -> list[str]:
    """What axe holds to be more than a minor fault of accessibility below a selector, or in a context as axe knows it."""
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(page, context=root).response["violations"]
    return [
        f"{v['impact']} {v['id']}: {v['help']}: {[n['html'][:120] for n in v['nodes'][:3]]}"
        for v in violations
        if v["impact"] != "minor" and v["id"] not in _OF_THE_PAGE
    ]
