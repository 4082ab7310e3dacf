"""The map of a table on its pages: drawn where it reads little, else a link that draws it."""

from __future__ import annotations

from dataclasses import replace

from lakelens.analysis.diff.diff import Diff
from lakelens.analysis.map import Map, is_quick, map_table
from lakelens.errors import LakeError
from lakelens.explorer.answers import ask
from lakelens.explorer.explorer import Visit
from lakelens.explorer.page import Link, Links, Section, Wide
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table
from lakelens.views.card import wording
from lakelens.views.card.model import Card, Fold, Picture
from lakelens.views.present import present

#: What is asked where a map that reads much is wanted all the same.
ASKED = "map"


def show_map(visit: Visit, after: Snapshot | None, diff: Diff | None = None) -> Section:
    """How the files of a state hang together, with what its commit made new, or what a diff that leads to it says is."""
    table = visit.table
    if not is_quick(after) and visit.place.get(ASKED) != "yes":
        link = Link("draw it", visit.place.ask(map="yes"))
        return Section("Map", "of many files: drawn when asked for", (Links((link,)),))
    since = "parent" if diff is None else None if diff.before is None else diff.before.id
    key = ("map", since, None if after is None else after.id)
    try:
        card = ask(table, key, lambda: present(_map(table, after, diff)))
    except LakeError as error:
        return Section("Map", f"cannot be drawn: {wording.clean(error, 300)}")
    pictures = tuple(body for body in card.body if isinstance(body, Picture))
    drawn = tuple(Wide(Card("", "", body=(picture,)), picture.words) for picture in pictures)
    rest = replace(card, noun="", sentence="", body=tuple(body for body in card.body if body not in pictures))
    # the picture says it already: its words are for those who want whole names, and who do not see it
    words = Fold("in words", "every box of the picture with its whole name", lambda: (rest,))
    return Section("Map", card.sentence, (*drawn, Card("", "", folds=(words,))))


def _map(table: Table, after: Snapshot | None, diff: Diff | None) -> Map:
    """A map that counts no rows, as the figures of a page do: both say the same."""
    drawn = map_table(table, diff, after)
    return Map(drawn.table, drawn.since, drawn.statement, counts=False)
