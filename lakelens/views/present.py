"""From an object to its view-model: one function for each kind of object, found by its class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from lakelens.views import cells, wording
from lakelens.views.card import Body, Card, Fold
from lakelens.views.meanings import add_meanings

if TYPE_CHECKING:
    from lakelens.views.report import Section


@singledispatch
def describe(thing: Any, detail: int = 1) -> Card:
    """The card of an object that has no card of its own: its public fields, one a line."""
    from lakelens.views.stats_cards import describe_stats, is_stats

    if is_stats(thing):
        return describe_stats(thing)
    shown = [(name, cells.value(held)) for name, held in list_fields(thing)]
    fold = Fold(
        "Fields", wording.plural(len(shown), "field"), lambda: [cells.pairs(shown, is_open=True)], opened=True
    )
    return Card(type(thing).__name__, wording.clean(repr(thing)), folds=(fold,) if shown else ())


def present(thing: Any, detail: int = 1) -> Card:
    """The view-model of an object."""
    _load_cards()
    return add_meanings(describe(thing, detail), detail)


def present_page(thing: Any, detail: int) -> Sequence[Section]:
    """The sections of a page: the object itself and, for a table, what it is made of."""
    from lakelens.views.report import make_report

    _load_cards()
    # one list of meanings stands at the end of the page, instead of one in each section
    return make_report(thing, lambda part: add_meanings(describe(part, detail), 1))


def list_fields(thing: Any) -> list[tuple[str, Any]]:
    """The public data of an object by name; what cannot be read is said in its place."""
    if is_dataclass(thing) and not isinstance(thing, type):
        names = [field.name for field in fields(thing)]
    else:
        names = [name for name in getattr(thing, "__dict__", {}) if not name.startswith("_")]
    return [(name, getattr(thing, name)) for name in names if not name.startswith("_")]


def one(body: Body) -> Sequence[Body]:
    """A fold that holds one thing."""
    return (body,)


def _load_cards() -> None:
    # each registers its cards with `describe` when it is imported
    from lakelens.views import (  # noqa: F401
        bounds_cards,
        catalog_cards,
        delete_cards,
        diff_cards,
        evidence_cards,
        file_cards,
        fileset_cards,
        finding_cards,
        footer_cards,
        index_cards,
        manifest_cards,
        query_cards,
        ref_cards,
        schema_cards,
        snapshot_cards,
        table_cards,
        timeline_cards,
        trace_cards,
        tree_cards,
    )
