"""Why a condition reads these files of the snapshot, and no others."""

from __future__ import annotations

from lakelens.analysis.explain.explanation import Explanation
from lakelens.errors import Corrupt, LakeError
from lakelens.explorer.answers import ask
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.listing import make_listing
from lakelens.explorer.page import Field, Form, Page, Part
from lakelens.model.schema import Schema
from lakelens.views.card import cells, named, wording
from lakelens.views.card.model import Card, Note
from lakelens.views.listing import make_source
from lakelens.views.present import present

_LISTS = ("kept", "skipped")


@page("explain")
def make_explain(visit: Visit) -> Page:
    """A condition, and level by level what it rules out."""
    where, has_groups = visit.place.get("where").strip(), visit.place.get("row_groups") == "yes"
    parts: list[Part] = [_make_form(visit, where, has_groups)]
    if not where:
        words = (
            "Which files a condition reads, level by level, and what rules the others out. No row is read."
        )
        return Page(visit.place, "Explain", [Card("Explain", words), *parts])
    try:
        parts += _answer(visit, where, has_groups)
    except Corrupt:
        raise
    except LakeError as error:  # of the condition: said beside the form, which keeps it
        parts.append(present(error.without_frames()))
    return Page(visit.place, "Explain", parts)


def _answer(visit: Visit, where: str, has_groups: bool) -> list[Part]:
    state = visit.snapshot
    key = ("explain", None if state is None else state.id, where, has_groups)
    is_listing = state is None or state.id is None
    found: Explanation = ask(
        visit.table,
        key,
        lambda: visit.table.explain(where, snapshot=None if is_listing else state, row_groups=has_groups),
    )
    chosen = visit.place.get("part")
    if chosen not in _LISTS:
        return [present(found)]
    files = found.kept if chosen == "kept" else found.skipped
    back = named.page("explain", where=where, row_groups="yes" if has_groups else None)
    said = "read" if chosen == "kept" else "not read"
    words = f"{wording.plural(len(files), 'file')} {said} for {wording.clean(where, 200)}"
    head = Card("Explain", words, body=(Note("The whole answer", "mute", target=back),))
    return [head, make_listing(make_source(files), visit.place)]


def _make_form(visit: Visit, where: str, has_groups: bool) -> Form:
    fields = (
        make_where(visit.table.schema, where),
        Field(
            "row_groups",
            "row groups too (opens the files that are left)",
            "yes" if has_groups else "",
            "check",
        ),
    )
    return Form(visit.place.with_page("explain"), fields, "explain")


def make_where(schema: Schema, where: str) -> Field:
    """The field for a condition, with an example over a column of the table."""
    columns = [name for name, _ in schema.leaves()]
    example = f"{cells.text(columns[0]).text} IS NOT NULL" if columns else ""
    return Field("where", "condition", where, "search", example)
