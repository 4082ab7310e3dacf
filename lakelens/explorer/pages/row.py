"""Every version of the rows that a condition is about, over all states that are left."""

from __future__ import annotations

from lakelens.analysis.life.rows import RowLife
from lakelens.errors import Corrupt, LakeError
from lakelens.explorer.answers import ask, write_example
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.listing import make_listing
from lakelens.explorer.page import Field, Form, Page, Part
from lakelens.explorer.place import Place
from lakelens.model.schema import Schema
from lakelens.views.card import named, wording
from lakelens.views.card.model import Card, Note
from lakelens.views.listing import make_source
from lakelens.views.present import present


@page("row")
def make_row(visit: Visit) -> Page:
    """The lives of rows; all their versions in pages."""
    where = visit.place.get("where").strip()
    form = make_row_form(visit.place, visit.table.schema)
    if not where:
        words = "Every version of a row: where it was, since when, and what ended it, over all states."
        return Page(visit.place, "Row", [Card("Row", words), form])
    parts: list[Part] = [form]
    try:
        life = ask(visit.table, ("row", where), lambda: visit.table.row(where))
        parts += _show(visit, life)
    except Corrupt:
        raise
    except LakeError as error:  # of the condition: said beside the form, which keeps it
        parts.append(present(error.without_frames()))
    return Page(visit.place, "Row", parts)


def make_row_form(place: Place, schema: Schema) -> Form:
    """What asks for the life of a row, with what was asked already."""
    where = place.get("where").strip() if place.page == "row" else ""
    field = Field("where", "row", where, "search", write_example(schema))
    return Form(
        place.with_page("row"), (field,), "who wrote it, who deleted it", "reads the files that may hold it"
    )


def _show(visit: Visit, life: RowLife) -> list[Part]:
    where, count = visit.place.get("where"), len(life.versions)
    words = f"{wording.plural(count, 'version')}, in a list"
    if visit.place.get("part") == "versions":
        back = Note("The lives of these rows", "mute", target=named.page("row", where=where))
        head = Card("Row", f"{words}: {wording.clean(where, 200)}", body=(back,))
        return [head, make_listing(make_source(life.versions), visit.place)]
    shown: list[Part] = [present(life)]
    if count:
        target = named.page("row", where=where, part="versions")
        shown.append(Card("", "", body=(Note(words, "mute", target=target),)))
    return shown
