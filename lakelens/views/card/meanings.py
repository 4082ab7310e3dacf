"""Meanings on request: every label of a card gets its sentence from the glossary, and a fold at the end lists them.

A reader hovers over a label to see its meaning. With `options.display.meanings` it is also in the open, for paper and for
hosts that know of no hovering: a column of a table of names and values, a list below a table whose columns have names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from lakelens.options import display
from lakelens.views.card import wording
from lakelens.views.card.glossary import find_meaning
from lakelens.views.card.model import About, Body, Card, Cell, Column, Fold, Grid, Pairs

_OURS = "lakelens.formats."
_MEANING = "meaning"
_FORMATS = ("iceberg", "paimon", "hive")


def list_sections(thing: Any, *sections: str) -> About:
    """List where the labels of an object are explained: the sections of its format, then those that all formats share.

    The format is the one whose package has the object's class. For a class that all formats share every glossary of this
    package is searched.
    """
    home = type(thing).__module__
    is_shared = home.startswith("lakelens.") and not home.startswith(_OURS)
    formats = _FORMATS if is_shared else (home.removeprefix(_OURS).split(".")[0],)
    return tuple(f"{one}.{section}" for section in sections for one in (*formats, "common"))


def add_meanings(card: Card, detail: int) -> Card:
    """Add the card with a meaning where a label first appears and, where it is opened, with the list of them at its end."""
    explained = _Explainer(display.meanings).explain_card(card, card.about)
    if detail < 2:
        return explained

    def make() -> Sequence[Body]:
        known = dict(list_meanings(explained))
        return (Pairs(tuple((name, Cell(meaning, "mute")) for name, meaning in known.items()), is_open=True),)

    fold = Fold("Meanings", "what each name on this card stands for, in one sentence", make, level=3)
    return replace(explained, folds=(*explained.folds, fold))


class _Explainer:
    """Looks up the labels of one card, from its top down: what was explained above is not explained again."""

    def __init__(self, in_columns: bool) -> None:
        self._met: set[tuple[str, str]] = set()
        self._in_columns = in_columns

    def explain_card(self, card: Card, about: About) -> Card:
        facts = tuple(replace(fact, meaning=self._find(fact.label, about)) for fact in card.facts)
        legend = list_names((fact.label, fact.meaning) for fact in facts) if self._in_columns else ()
        return replace(
            card,
            facts=facts,
            body=(*legend, *self._explain_bodies(card.body, about)),
            folds=tuple(self._explain_fold(fold, about) for fold in card.folds),
        )

    def _explain_bodies(self, bodies: Sequence[Body], about: About) -> tuple[Body, ...]:
        """Bodies with meanings; in the open where that is asked for."""
        explained: list[Body] = []
        for body in bodies:
            found = self._explain_body(body, about)
            explained += self._open_meanings(found, about) if self._in_columns else (found,)
        return tuple(explained)

    def _open_meanings(self, body: Body, about: About) -> Sequence[Body]:
        if isinstance(body, Pairs) and not body.is_open:
            return (add_column(body, lambda name: find_meaning(name, (*body.about, *about)), body.meanings),)
        if isinstance(body, Grid) and any(cell.meaning for row in body.rows for cell in row[:1]):
            column = Column(_MEANING)
            rows = tuple((*row, _cell_of_meaning(row[0].meaning)) for row in body.rows)
            totals = tuple((*row, Cell("")) for row in body.totals)
            return (replace(body, columns=(*body.columns, column), rows=rows, totals=totals),)
        if isinstance(body, Grid) and not body.is_open:
            return (body, *list_names((column.name, column.title) for column in body.columns))
        return (body,)

    def _explain_fold(self, fold: Fold, about: About) -> Fold:
        # made once, although several look at it: markup, sizes, the list of meanings
        return replace(fold, make=cache(lambda: self._explain_bodies(fold.make(), about)))

    def _explain_body(self, body: Body, about: About) -> Body:
        if isinstance(body, Card):
            return self.explain_card(body, (*body.about, *about))
        if isinstance(body, Grid) and not body.is_open:
            columns = (
                column
                if column.title or not column.name
                else replace(column, title=self._find(column.name, (*body.about, *about)))
                for column in body.columns
            )
            return replace(body, columns=tuple(columns))
        if isinstance(body, Pairs) and not body.is_open and not body.meanings:
            found = ((name, self._find(name, (*body.about, *about))) for name, _ in body.items)
            return replace(body, meanings={name: meaning for name, meaning in found if meaning})
        return body

    def _find(self, name: str, about: About) -> str:
        meaning = find_meaning(name, about)
        if (name, meaning) in self._met:
            return ""
        self._met.add((name, meaning))
        return meaning


def add_column(pairs: Pairs, find: Callable[[str], str], hovered: Mapping[str, str]) -> Pairs | Grid:
    """Names and values as a table with a column of meanings; a name that repeats has its meaning once.

    Where no name has a meaning there is nothing to add. What is `hovered` over stays so.
    """
    rows, before = [], ""
    for name, cell in pairs.items:
        meaning = find(name) if name != before else ""
        head = Cell(name, meaning=hovered.get(name, "") if name != before else "")
        rows.append((head, cell, _cell_of_meaning(meaning)))
        before = name
    if not any(row[2].text for row in rows):
        return pairs
    return Grid((Column("name", is_short=True), Column("value"), Column(_MEANING)), tuple(rows))


def list_names(names: Iterable[tuple[str, str]]) -> tuple[Body, ...]:
    """List a table of names with what they mean, of those that have a meaning; nothing where none has."""
    rows = tuple((Cell(name), _cell_of_meaning(meaning)) for name, meaning in names if meaning)
    return (Grid((Column("name", is_short=True), Column(_MEANING)), rows),) if rows else ()


def _cell_of_meaning(meaning: str) -> Cell:
    return Cell(wording.clean(meaning), "mute") if meaning else Cell("")


def list_meanings(card: Card) -> Iterator[tuple[str, str]]:
    """List the names that a card explains, each with its sentence, in order."""
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
