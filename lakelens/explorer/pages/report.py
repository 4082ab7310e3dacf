"""A report of a fault, as a zip: what it contains, what it is asked with, and what gives it away."""

from __future__ import annotations

from lakelens.answers.question import load
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.listing import AS, ZIP
from lakelens.explorer.page import Field, Form, Page
from lakelens.views.card import cells
from lakelens.views.card.model import Card, Cell, Note


@page("report")
def make_report(visit: Visit) -> Page:
    """Offer a report: nothing is made before it is asked for."""
    contents: dict[str, str] = load("lakelens.answers.bug:CONTENTS")
    rows = [(cells.code(name), Cell(words)) for name, words in contents.items()]
    notes = (
        Note("It begins with a README that says what is in it: look through it before you pass it on."),
        Note(
            "No data file is in it, and no name, value or path of the table: the skeleton has others in their place."
        ),
    )
    grid = cells.grid(("file", "what it is"), rows, is_open=True)
    card = Card("Report a fault", "everything that a report needs, in one zip", body=(grid, *notes))
    call = Field("call", "the question that fails", visit.place.get("call"), "text", 'explain "id > 5"')
    form = Form(
        visit.place.with_page("report", **{AS: ZIP}), (call,), "make the zip", "empty: none in particular"
    )
    return Page(visit.place, "Report a fault", [card, form])
