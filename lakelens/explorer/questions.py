"""The page of a question: its form, its card, and its lists in pages, as its declaration says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakelens.answers.parts import find
from lakelens.answers.question import Listed, Option, Question, load
from lakelens.answers.question import Page as Shown
from lakelens.errors import Corrupt, LakeError, Missing
from lakelens.explorer.answers import ask, list_words
from lakelens.explorer.listing import FILTER, FROM, SORT, lead_out, make_listing
from lakelens.explorer.page import Field, FieldKind, Form, Listing, Page, Part, widen
from lakelens.explorer.place import Place
from lakelens.model.table import Table
from lakelens.views.card import named
from lakelens.views.card.model import Card, Note
from lakelens.views.listing import make_source
from lakelens.views.present import present

if TYPE_CHECKING:
    from lakelens.explorer.explorer import Visit

_PART = "part"
_KINDS: dict[str, FieldKind] = {"condition": "search", "file": "search", "query": "code"}


def make_page(question: Question, shown: Shown, visit: Visit) -> Page:
    """Make the page of a question: its answer or one of its lists; before that what it is asked with."""
    place, title = visit.place, question.title
    if shown.offer and place.get("run") != "yes":
        return Page(place, title, load(shown.offer)(visit))
    given = {option.name: _read(option, visit) for option in question.options} | dict(shown.sets)
    guide: list[Part] = load(shown.guide)(visit) if shown.guide else []
    forms: list[Part] = []
    if shown.forms:
        forms = load(shown.forms)(visit)
    elif shown.form != "below" or visit.table.traits.has_snapshots or not shown.needs_snapshots:
        form = make_form(question, place, visit.table)
        forms = [] if form is None else [form]
    is_asked = not shown.forms or place.get("run") == "yes"
    labelled = [option for option in question.options if option.label]
    if not shown.forms and shown.words and not any(option.is_required for option in labelled):
        # a question that says first what it is for waits for one of its options
        is_asked = any(place.get(_name(option)).strip() for option in labelled) or not labelled
    if not is_asked or any(option.is_required and not given[option.name] for option in question.options):
        return Page(place, title, [Card(title, shown.words), *forms, *guide])
    above = forms if shown.form == "above" else []
    try:
        answer = ask_question(visit.table, question, given)
        if place.get(_PART) in {rows.name for rows in shown.lists} or (
            place.get(_PART) and shown.form != "above"
        ):
            return _make_list(question, shown, visit, given, answer, above)
        parts = [*above, *_show(question, shown, visit, given, answer)]
        return Page(place, title, [*parts, *(forms if shown.form == "below" else ()), *guide])
    except Corrupt:
        raise
    except LakeError as error:  # of what was asked: said beside the form, which keeps it
        if shown.form == "alone" or not any(place.get(_name(option)) for option in question.options):
            raise
        if isinstance(error, Missing) and place.get(_PART) and shown.form != "above":
            raise
        return Page(place, title, [*forms, present(error.without_frames()), *guide])


def ask_question(table: Table, question: Question, given: dict[str, Any]) -> Any:
    """Ask a question about an open table, once for as long as it stays as it is."""
    values = [
        getattr(given[option.name], "id", None) if option.kind == "snapshot" else given[option.name]
        for option in question.options
    ]
    key = (question.name, *(tuple(value.items()) if isinstance(value, dict) else value for value in values))
    return ask(table, key, lambda: table.ask(question.name, **given))


def make_form(question: Question, place: Place, table: Table) -> Form | None:
    """Make what asks a question, with what was asked already; None where a page asks for nothing."""
    shown = question.page
    if shown is None:
        return None
    fields = tuple(
        _make_field(option, place if place.page == question.name else None, table)
        for option in question.options
        if option.label
    )
    return Form(place.with_page(question.name), fields, shown.button, shown.small) if fields else None


def _make_field(option: Option, place: Place | None, table: Table) -> Field:
    name = _name(option)
    value = "" if place is None else place.get(name).strip()
    if option.kind == "flag":
        return Field(name, option.label, "yes" if value == "yes" else "", "check")
    example = load(option.example)(table.schema) if ":" in option.example else option.example
    # the values of a table are looked for on the page of a question alone
    words = list_words(table, has_values=place is not None) if option.kind == "condition" else ()
    return Field(name, option.label, value, _KINDS.get(option.kind, "text"), example, words=words)


def _name(option: Option) -> str:
    return option.address or option.name


def _read(option: Option, visit: Visit) -> Any:
    """Read what the address of a page says of an option, as its answer takes it."""
    if option.kind == "snapshot":
        is_listing = visit.snapshot is None or visit.snapshot.id is None
        return None if is_listing else visit.snapshot
    if option.kind == "pairs":
        begin = f"{_name(option)}."
        asked = (
            (name.removeprefix(begin), held) for name, held in visit.place.asked if name.startswith(begin)
        )
        return {name: held for name, held in asked if held.strip()} or option.default
    text = visit.place.get(_name(option)).strip()
    if option.kind == "flag":
        return text == "yes"
    if not (option.label or option.address) or not text:
        return option.default
    if option.kind == "number":
        return visit.place.get_number(_name(option))
    # anything without a slash may be the name of a file
    return visit.inside.expand(text) if option.kind == "file" and "/" in text else text


def _show(question: Question, shown: Shown, visit: Visit, given: dict[str, Any], answer: Any) -> list[Part]:
    """Show an answer: its card, what leads to lists that the card does not name, and what can be asked next."""
    parts: list[Part] = list(widen(present(answer)))
    exports = lead_out(visit.place)
    if exports is not None and hasattr(answer, "to_arrow"):
        parts.append(Listing(Card("", ""), "", exports=exports, whole=answer.to_arrow))
    for rows in shown.lists:
        if rows.is_below and len(find(answer, rows.of or rows.name)):
            target = named.page(question.name, **dict(_leave(visit.place).ask(part=rows.name).asked))
            parts.append(Card("", "", body=(Note(_word(rows, answer, None), "mute", target=target),)))
    if shown.after:
        parts += load(shown.after)(visit, answer)
    return parts


def _make_list(
    question: Question, shown: Shown, visit: Visit, given: dict[str, Any], answer: Any, above: list[Part]
) -> Page:
    """Make a page of a list of an answer."""
    by_name, chosen, title = (
        {rows.name: rows for rows in shown.lists},
        visit.place.get(_PART),
        question.title,
    )
    if chosen not in by_name:
        raise Missing(f"no part {chosen!r} of a {question.name}", hint=", ".join(by_name))
    rows = by_name[chosen]
    words = _word(rows, answer, given)
    back = Note(shown.back, "mute", target=named.page(question.name, **dict(_leave(visit.place).asked)))
    head = Card(title, words, body=(back,))
    if any(option.kind == "file" for option in question.options):
        whole = present(answer)
        head = Card(title, words, whole.place, body=(back,), target=whole.target)
    listing = make_listing(make_source(find(answer, rows.of or rows.name)), visit.place)
    titled = title if ":" in rows.words else f"{title}, {words}"
    return Page(visit.place, titled, [*above, head, listing])


def _leave(place: Place) -> Place:
    """Leave a list for what it is a list of."""
    return place.ask(**{_PART: None, FROM: None, SORT: None, FILTER: None})


def _word(rows: Listed, answer: Any, given: dict[str, Any] | None) -> str:
    return str(load(rows.words)(answer, given)) if ":" in rows.words else rows.words
