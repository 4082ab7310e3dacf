"""Meanings on request: every label of a card gets its sentence from the glossary, and a fold at the end lists them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from lakelens.views.card import wording
from lakelens.views.card.glossary import find_meaning
from lakelens.views.card.model import About, Body, Card, Cell, Column, Fold, Grid, Pairs

_OURS = "lakelens.formats."
_FORMATS = ("iceberg", "paimon", "hive")


def list_sections(thing: Any, *sections: str) -> About:
    """Where the labels of an object are explained: the sections of its format, then those that all formats share.

    The format is the one whose package has the object's class. For a class that all formats share every glossary of this
    package is searched.
    """
    home = type(thing).__module__
    is_shared = home.startswith("lakelens.") and not home.startswith(_OURS)
    formats = _FORMATS if is_shared else (home.removeprefix(_OURS).split(".")[0],)
    return tuple(f"{one}.{section}" for section in sections for one in (*formats, "common"))


def add_meanings(card: Card, detail: int) -> Card:
    """The card with a meaning where a label first appears and, where it is opened, with the list of them at its end."""
    explained = _Explainer().explain_card(card, card.about)
    if detail < 2:
        return explained

    def make() -> Sequence[Body]:
        known = dict(list_meanings(explained))
        return (Pairs(tuple((name, Cell(meaning, "mute")) for name, meaning in known.items()), is_open=True),)

    fold = Fold("Meanings", "what each name on this card stands for, in one sentence", make, level=3)
    return replace(explained, folds=(*explained.folds, fold))


class _Explainer:
    """Looks up the labels of one card, from its top down: what was explained above is not explained again."""

    def __init__(self) -> None:
        self._met: set[tuple[str, str]] = set()

    def explain_card(self, card: Card, about: About) -> Card:
        return replace(
            card,
            facts=tuple(replace(fact, meaning=self._find(fact.label, about)) for fact in card.facts),
            body=tuple(self._explain_body(body, about) for body in card.body),
            folds=tuple(self._explain_fold(fold, about) for fold in card.folds),
        )

    def _explain_fold(self, fold: Fold, about: About) -> Fold:
        # made once, although several look at it: markup, sizes, the list of meanings
        return replace(
            fold, make=cache(lambda: tuple(self._explain_body(body, about) for body in fold.make()))
        )

    def _explain_body(self, body: Body, about: About) -> Body:
        if isinstance(body, Card):
            return self.explain_card(body, (*body.about, *about))
        if isinstance(body, Grid) and not body.is_open:
            return replace(
                body, columns=tuple(self._explain_column(c, (*body.about, *about)) for c in body.columns)
            )
        if isinstance(body, Pairs) and not body.is_open and not body.meanings:
            found = ((name, self._find(name, (*body.about, *about))) for name, _ in body.items)
            return replace(body, meanings={name: meaning for name, meaning in found if meaning})
        return body

    def _explain_column(self, column: Column, about: About) -> Column:
        if column.title or not column.name:
            return column
        return replace(column, title=self._find(column.name, about))

    def _find(self, name: str, about: About) -> str:
        meaning = find_meaning(name, about)
        if (name, meaning) in self._met:
            return ""
        self._met.add((name, meaning))
        return meaning


def list_meanings(card: Card) -> Iterator[tuple[str, str]]:
    """The names that a card explains, each with its sentence, in order."""
    for fact in card.facts:
        if fact.meaning:
            yield wording.clean(fact.label), fact.meaning
    bodies = [*card.body, *(body for fold in card.folds for body in fold.body())]
    for body in bodies:
        if isinstance(body, Card):
            yield from list_meanings(body)
        elif isinstance(body, Grid):
            yield from ((column.name, column.title) for column in body.columns if column.title)
            yield from ((cell.text, cell.meaning) for row in body.rows for cell in row if cell.meaning)
        elif isinstance(body, Pairs):
            yield from body.meanings.items()
