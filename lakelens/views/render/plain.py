"""A view-model as plain lines for a pipe: indented, nothing drawn, nothing cut to a width, so that grep finds it."""

from __future__ import annotations

from collections.abc import Iterator

from lakelens.options import display
from lakelens.views.card.model import Block, Body, Card, Grid, Note, Pairs, Picture
from lakelens.views.card.wording import format_failure, visible
from lakelens.views.present import present
from lakelens.views.render.text import write_body

_INDENT = "  "


def render_plain(thing: object, detail: int = 1) -> Iterator[str]:
    """The lines of an object's card; a view that fails says so in its place."""
    try:
        lines = [visible(line) for line in write_plain_card(present(thing, detail), detail)]
    except Exception as error:
        if display.strict_views:
            raise
        lines = visible(format_failure(thing, error)).split("\n")
    yield from lines


def write_plain_card(card: Card, detail: int) -> Iterator[str]:
    """The lines of a card."""
    yield f"{card.noun}: {card.sentence}" + (f" ({card.alert})" if card.alert else "")
    if card.place:
        yield f"{_INDENT}{card.place}"
    for fact in card.facts:
        small = f"  ({fact.small})" if fact.small else ""
        yield f"{_INDENT}{fact.label}: {fact.value.text}{small}"
    for part in card.body:
        yield from _indent(write_plain_body(part, detail))
    for fold in card.folds:
        alert = f"{fold.alert}: " if fold.alert and fold.answer else fold.alert
        yield f"{_INDENT}{fold.label}: {alert}{fold.answer}"
        if fold.is_open(detail):
            for body in fold.body():
                yield from _indent(_indent(write_plain_body(body, detail)))


def write_plain_body(body: Body, detail: int) -> Iterator[str]:
    """The lines of what a fold holds."""
    if isinstance(body, Grid | Pairs | Block | Note | Picture):
        yield from (visible(line) for line in write_body(body, detail))
    else:
        yield from write_plain_card(body, detail)


def _indent(lines: Iterator[str]) -> Iterator[str]:
    return (f"{_INDENT}{line}".rstrip() for line in lines)
