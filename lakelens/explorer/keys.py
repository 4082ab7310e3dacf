"""The keys of the explorer, in words; each follows a link that is on the page, or goes to its filter."""

from __future__ import annotations

from dataclasses import replace

from lakelens.explorer.frame import list_crumbs
from lakelens.explorer.page import Link, Page, Section
from lakelens.explorer.place import Place
from lakelens.file_lives import list_lifetimes
from lakelens.views.card.model import Card, Cell, Column, Grid, Note
from lakelens.views.present import present

#: What each key does; a key is what a browser calls it, unless it is shown as a word.
KEYS = (
    ("?", "these keys, over the page that you are at; Esc closes them"),
    ("/", "to the filter of a list; Esc leaves it"),
    ("u", "up: the crumb before the last one"),
    ("j", "the next row of a list, Enter opens it; ↓ as well"),
    ("k", "the row before; ↑ as well"),
    (",", "what is beside this page, before it: the entry, the part, the same of the entry before"),
    (".", "what is beside this page, after it"),
    ("e", "the record of an entry or of a file, as it is stored"),
    ("t", "to a table: a field over the page for its name, with favourites and recent ones"),
    ("n", "the next rows of a long list"),
    ("p", "the rows before them"),
    ("→", "the next mark of a timeline, Enter opens it"),
    ("←", "the mark before"),
)
#: What g and then a key leads to: the name of the page.
PAGES = (
    *(("w", "all tables"), ("o", "overview"), ("t", "timeline"), ("s", "snapshots"), ("f", "files")),
    *(("m", "manifests"), ("d", "deletes"), ("b", "metadata"), ("y", "schema"), ("r", "refs")),
    *(("i", "row"), ("q", "sql"), ("x", "dry_run")),
    *(("n", "findings"), ("c", "check"), ("h", "health"), ("p", "space"), ("e", "explain")),
)


def list_keys() -> list[tuple[str, str]]:
    """List every key with what it does, those after g last.

    >>> list_keys()[0][0], list_keys()[-1]
    ('?', ('g e', 'explain'))
    """
    return [*KEYS, *((f"g {key}", text) for key, text in PAGES)]


def describe_keys(place: Place) -> Page:
    """Describe the page of the keys, and below them the life of every file of each format.

    >>> describe_keys(Place(None, "", "help")).title
    'Keys'
    """
    columns = (Column("key", is_short=True), Column("what it does"))
    rows = [(Cell(key, "code"), Cell(text)) for key, text in list_keys()]
    notes = (
        Note(
            "A key follows a link of the page, and does nothing where there is none. Without scripts every link works."
        ),
        Note(
            "Keys below a page are access keys of its links: the letter alone, or as your browser has it, often with Alt."
        ),
        Note("No key is taken while you type into a field, or with Ctrl, Alt or Meta."),
    )
    crumbs = (*list_crumbs(replace(place, page="")), Link("keys"))
    keys = Card("Keys", "", body=(Grid(columns, tuple(rows)), *notes))
    lives = present(list_lifetimes())
    every = Section(lives.noun, lives.sentence, (replace(lives, noun="", sentence=""),))
    return Page(place, "Keys", [keys, every], crumbs=crumbs)
