"""`describe`: the card of any object, found by its class; each file of `cards` registers what it draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import singledispatch
from typing import Any

from lakelens.views.card import cells, wording
from lakelens.views.card.model import Body, Card, Fact, Fold, Target


@singledispatch
def describe(thing: Any, detail: int = 1) -> Card:
    """The card of an object that has no card of its own: its public fields, one a line."""
    shown = [(name, cells.value(held)) for name, held in list_fields(thing)]
    fold = Fold(
        "Fields", wording.plural(len(shown), "field"), lambda: [cells.pairs(shown, is_open=True)], opened=True
    )
    return Card(type(thing).__name__, wording.clean(repr(thing)), folds=(fold,) if shown else ())


def list_fields(thing: Any) -> list[tuple[str, Any]]:
    """The public data of an object by name; what cannot be read is said in its place."""
    if is_dataclass(thing) and not isinstance(thing, type):
        names = [field.name for field in fields(thing)]
    else:
        names = [name for name in getattr(thing, "__dict__", {}) if not name.startswith("_")]
    return [(name, getattr(thing, name)) for name in names if not name.startswith("_")]


def fold_document(raw: Mapping[str, Any], detail: int) -> list[Fold]:
    """A stored document key by key; at detail 2 as JSON too."""
    answer = f"{wording.plural(len(raw), 'key')}, as stored"
    keys = Fold("Document", answer, lambda: cells.fields(raw, how=".raw"))
    return [keys, fold_json(raw)] if detail >= 2 else [keys]


def fold_json(raw: Any, how: str = ".raw") -> Fold:
    """A stored document as JSON."""
    return Fold("JSON", "the complete document", lambda: one(cells.document(raw, how=how)), level=3)


def card_of_path(
    noun: str, path: str | None, facts: Iterable[Fact], folds: Iterable[Fold], about: Sequence[str]
) -> Card:
    """The card of a file of the table: under its name, with its path, which leads to its bytes."""
    name, place = wording.name(path), wording.clean(path)
    target = Target("bytes", path) if path else None
    return Card(noun, name, place, facts=tuple(facts), folds=tuple(folds), about=tuple(about), target=target)


def one(body: Body) -> Sequence[Body]:
    """A fold that holds one thing."""
    return (body,)
