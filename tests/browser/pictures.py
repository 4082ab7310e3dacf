"""`make pictures`: photographs of six main cards in a real JupyterLab, and of the explorer, light and dark, for the README.

The tables are the samples that ship with the package, written by the engines themselves.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import nbformat

import lakelens as ll
from tests.browser.browsers import launch_browser
from tests.browser.lab import THEMES, Lab
from tests.serving.running import serving
from website.shown import PLACE

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
# name of the picture: the lines of its cell, of which the last is shown, and the fold that is opened by hand
PICTURES = {
    "table": ('table = ll.sample("iceberg")\ntable', "Changes"),
    "snapshot": ('table = ll.sample("paimon")\ntable.current', ""),
    "manifest": ('table = ll.sample("iceberg")\ntable.current.manifests[0]', ""),
    "file": ('table = ll.sample("iceberg")\nnext(iter(table.files))', ""),
    "diff": ('table = ll.sample("iceberg")\ntable.diff(table.snapshots[1], table.snapshots[-1])', ""),
    "bytes": (
        'table = ll.sample("paimon")\n'
        "entry = table.current.manifests[0].entries[0]\n"
        "entry.file.value_stats.max_values.bytes_view()",
        "",
    ),
}
_EDGE = 12  # pixels around a card
# the picture is the same on every machine
_HIDE_ROOT = """root => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT);
  for (let one = texts.currentNode; one; one = texts.nextNode())
    if (one.tagName === 'CODE' && one.textContent.startsWith(root)) one.textContent = one.textContent.slice(root.length + 1);
}"""


def make_cell(source: str) -> Any:
    """The cell with what it gives, run here: the picture shows what a reader gets."""
    names: dict[str, Any] = {"ll": ll}
    *before, last = source.split("\n")
    exec("\n".join(before), names)  # noqa: S102 (our own lines, above)
    shown = eval(last, names)  # noqa: S307
    html = PLACE.sub("warehouse", shown._repr_html_())
    output = nbformat.v4.new_output("execute_result", {"text/html": html}, execution_count=1)
    return nbformat.v4.new_code_cell(source, outputs=[output], execution_count=1)


def take_picture(page: Any, card: Any, target: Path) -> None:
    """A card with a little of its surroundings, once nothing fades any more: two shots in a row are the same."""
    box = card.bounding_box()
    clip = {
        "x": box["x"] - _EDGE,
        "y": box["y"] - _EDGE,
        "width": min(box["width"], 860) + 2 * _EDGE,
        "height": box["height"] + 2 * _EDGE,
    }
    before, shot = b"", page.screenshot(clip=clip)
    while shot != before:
        page.wait_for_timeout(400)
        before, shot = shot, page.screenshot(clip=clip)
    target.write_bytes(shot)


def take_pictures() -> None:
    """Write every picture in both themes."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as root, launch_browser() as browser:
        lab = Lab(Path(root))
        try:
            for name, (source, fold) in PICTURES.items():
                lab.write(f"{name}.ipynb", [make_cell(source)], trusted=True)
                for theme in THEMES:
                    page = browser.new_page(viewport={"width": 1100, "height": 1400}, device_scale_factor=2)
                    panel = lab.open(page, f"{name}.ipynb", theme)
                    card = panel.locator(".jp-OutputArea-output .ll-root").first
                    card.wait_for()
                    if fold:
                        card.locator("summary", has_text=fold).first.click()
                    page.add_style_tag(content=".jp-InputArea, .jp-OutputPrompt { visibility: hidden }")
                    page.evaluate("document.activeElement.blur()")
                    page.mouse.move(0, 0)
                    target = FOLDER / f"{name}-{theme}.png"
                    take_picture(page, card, target)
                    print(target.relative_to(Path.cwd()))
                    page.close()
        finally:
            lab.close()


def take_explorer() -> None:
    """The explorer's overview of a table, in both schemes."""
    with tempfile.TemporaryDirectory() as root, launch_browser() as browser:
        for name in ("paimon-deletion-vectors", "iceberg", "hive"):
            ll.sample()[name].unpack(Path(root) / "warehouse" / "shop.db")
        with serving(Path(root) / "warehouse") as running:
            for scheme in ("light", "dark"):
                page = browser.new_page(
                    viewport={"width": 1180, "height": 860}, device_scale_factor=2, color_scheme=scheme
                )
                page.goto(running.address)
                page.get_by_role("link", name="shop.db/paimon-deletion-vectors").click()
                page.get_by_role("heading", name="Last changes").wait_for()
                page.evaluate(_HIDE_ROOT, root)
                target = FOLDER / f"explorer-{scheme}.png"
                page.screenshot(path=target)
                print(target.relative_to(Path.cwd()))
                page.close()


if __name__ == "__main__":
    take_pictures()
    take_explorer()
