"""Examples that run when the site is made: a block of code in a page, and below it the card of what it gives.

A block with the language `show` is one. `tab="iceberg/explain?where=p = 1"` adds where the tab shows the same, `detail="2"`
shows more, `view="card"` the card alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import wraps
from html import escape
from typing import Any
from urllib.parse import quote

from pymdownx.superfences import SuperFencesException

import lakelens as ll
from lakelens.display import Displayable
from lakelens.model.bytes_view import BytesView
from lakelens.options import display
from lakelens.views.card.markup import read_style
from lakelens.views.hexdump.html import render_bytes
from lakelens.views.render.html import common_style, render_card

#: A sample is in a directory that has another name each time, in which a line may break, and so does what an example makes.
PLACE = re.compile(r"/(?:<wbr>|[^\s<>\"'=])*lakelens-(?:<wbr>)?(?:sample-(?:<wbr>)?)?\w(?:(?:<wbr>)?\w){7}\b")
STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_MOST = 120_000
#: What a link begins with that leads into the tab, or to a notebook that runs in the browser.
TAB, LAB = "tab:", "lab:"


def read_sheet() -> str:
    """Read the sheet of all cards, which the site has once."""
    return f"{common_style()}\n{read_style('bytes.css')}"


def run(source: str) -> object:
    """Run the lines of an example, which are ours, and give what its last one is."""
    *before, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        raise ValueError(f"an example shows its last line: {source!r}")
    known: dict[str, Any] = {"ll": ll}
    exec(compile(ast.Module(before, []), "<example>", "exec"), known)  # noqa: S102 - pages of the site
    return eval(compile(ast.Expression(last.value), "<example>", "eval"), known)  # noqa: S307


def draw(thing: Any, detail: int = 1) -> str:
    """Draw the card of something, without the sheet that the site has, and without the place of a sample."""
    with display.using(strict_views=True):
        if isinstance(thing, BytesView):
            markup = render_bytes(thing, detail, _MOST, style=False)
        elif hasattr(thing, "_repr_mimebundle_") and not isinstance(thing, Displayable):
            data, _ = thing._repr_mimebundle_()  # a widget: its still picture
            markup = STYLE.sub("", data["text/html"])
        else:
            markup = render_card(thing, detail, style=False)
    return PLACE.sub("warehouse", markup)


def lead_to_tab(address: str) -> str:
    """Give the address of a page of a sample in the tab, as links of a page have it.

    >>> lead_to_tab("iceberg/explain?where=id > 15")
    'tab:#sample/iceberg/explain?where=id%20%3E%2015'
    """
    return f"{TAB}#sample/{quote(address, safe='/?=&@~:,-')}"


def accept(
    language: str, inputs: dict[str, str], options: dict[str, Any], attrs: dict[str, Any], md: Any
) -> bool:
    """Take the options of a block that is an example."""
    options.update(inputs)
    return True


def strict(write: Callable[..., str]) -> Callable[..., str]:
    """Have a block that fails end the making of the site; an error of any other kind leaves the block as text."""

    @wraps(write)
    def write_or_end(source: str, *given: Any, **named: Any) -> str:
        try:
            return write(source, *given, **named)
        except Exception as error:
            raise SuperFencesException(f"{source}\n{type(error).__name__}: {error}") from error

    return write_or_end


@strict
def show(source: str, language: str, class_name: str, options: dict[str, Any], md: Any, **_: object) -> str:
    """Write a block that is an example: its code, its card, and the way to the same page in the tab."""
    card = draw(run(source), int(options.get("detail", 1)))
    code = "" if options.get("view") else highlight(md, source)
    link = ""
    if options.get("tab"):
        href = escape(lead_to_tab(options["tab"]))
        link = f'<p class="ls-live"><a href="{href}">Open this in the tab</a></p>'
    return f'{code}<div class="ls-out">{card}</div>{link}'


def highlight(md: Any, source: str) -> str:
    """Write lines of Python as the blocks of all pages are written."""
    fences = md.preprocessors["fenced_code_block"]
    written: str = fences.highlight(
        source, "python", {}, md, class_name="highlight", classes=[], id_value="", attrs={}
    )
    return written
