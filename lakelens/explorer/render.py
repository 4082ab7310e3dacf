"""A page of the explorer as HTML: whole without any script, in light and dark, for print and for a phone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from lakelens.explorer.linker import make_linker, make_part_links, name_plainly
from lakelens.explorer.page import Drawing, Page, Part, Split
from lakelens.explorer.place import Place
from lakelens.installed import has_arrays
from lakelens.model.bytes_view import BytesView
from lakelens.views.card.markup import template_environment
from lakelens.views.card.model import Card, Cell, Note, Target
from lakelens.views.hexdump.html import render_bytes
from lakelens.views.render.html import draw
from lakelens.views.timeline.picture import draw_linked

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_BYTES = 300_000


def render_page(page: Page, *, link: Callable[[Place], str] | None = None, assets: str | None = None) -> str:
    """Render the markup of a page of at most 300,000 bytes.

    `link` gives the address of a place; relative ones where it is None. `assets` is where the style sheet and the script
    are, without a slash at its end.
    """
    lead = link or (lambda place: place.link_from(page.place))

    def to(place: Place) -> str:
        return lead(name_plainly(place, page.inside))

    where = (Place().link_from(page.place).rstrip("/") or ".") + "/-" if assets is None else assets
    drawing = _Drawing(page.place, to, make_linker(page.place, to, page.inside))
    template = _environment().get_template("explorer.html")
    markup: str = template.render(
        page=page,
        # what is not there has no pages of its own
        keys_page=page.place.with_page("help") if page.status == 200 else Place(None, "", "help"),
        # a whole installation makes one
        report_page=page.place.with_page("report") if page.place.table is not None and has_arrays() else None,
        has_heading=not (page.parts and _has_heading(page.parts[0])),
        link=to,
        assets=where,
        draw=drawing.draw,
        cell=drawing.draw_cell,
        picture=drawing.draw_picture,
        bare=lambda place: replace(place, asked=()),
        kind=_name_kind,
    )
    return markup


def render_fitting(
    page: Page, *, link: Callable[[Place], str] | None = None, assets: str | None = None
) -> tuple[str, int]:
    """Render a page as `render_page` does, with its status; instead of one that is too large, which is not cut, words."""
    markup = render_page(page, link=link, assets=assets)
    size = len(markup.encode())
    if size <= MOST_BYTES:
        return markup, page.status
    why = f"This page has {size:,} bytes; one has at most {MOST_BYTES:,}, and none is cut."
    advice = "Ask for less: filter the list, choose one file or one snapshot, or a part of the bytes."
    parts = [Card("Too large", "", body=(Note(why), Note(advice)))]
    crumbs = page.crumbs if len(page.crumbs) < 100 else ()
    large = replace(page, parts=parts, status=500, crumbs=crumbs, navigation=page.navigation[:50])
    return render_page(large, link=link, assets=assets), large.status


class _Drawing:
    """How the parts of one page are drawn."""

    def __init__(self, here: Place, to: Callable[[Place], str], href: Callable[[Target], str]) -> None:
        self._here, self._to, self._href = here, to, href

    def draw(self, part: Card | BytesView, level: int) -> Any:
        """Draw the markup of a card or of bytes, made by our own templates."""
        from markupsafe import Markup

        if isinstance(part, BytesView):
            links = make_part_links(part, self._here, self._to, self._href)
            return Markup(render_bytes(part, 2, MOST_BYTES // 2, style=False, level=level, links=links))
        return Markup(draw(part, 1, style=False, link=self._href, level=level))

    def draw_cell(self, cell: Cell) -> Any:
        """Draw the markup of a value among figures."""
        from markupsafe import Markup, escape

        text = escape(cell.text)
        shown = Markup("<code>{}</code>").format(text) if cell.role in ("code", "exact") else text
        href = self._href(cell.target) if cell.target is not None else ""
        shown = Markup('<a href="{}">{}</a>').format(href, shown) if href else shown
        return Markup('<span title="{}">{}</span>').format(cell.title, shown) if cell.title else shown

    def draw_picture(self, part: Drawing) -> Any:
        """Draw the markup of a history, made of our own shapes; every text in it is escaped."""
        from markupsafe import Markup

        return Markup(draw_linked(part.layout, part.words, self._href, part.pinned))


def _has_heading(part: Part) -> bool:
    """Check whether a part begins with the heading of the page."""
    if isinstance(part, Split):
        return bool(part.main) and _has_heading(part.main[0])
    return isinstance(part, BytesView) or (isinstance(part, Card) and bool(part.noun))


def _name_kind(part: Part) -> str:
    return type(part).__name__


@cache
def _environment() -> Environment:
    from jinja2 import ChoiceLoader, PackageLoader

    made = template_environment()
    loader: Any = ChoiceLoader([PackageLoader("lakelens.explorer"), made.loader])  # type: ignore[list-item]
    return made.overlay(loader=loader)
