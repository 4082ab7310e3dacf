"""The view-model of a page of the explorer: crumbs, navigation, a line of news, and parts in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from lakelens.explorer.place import Place
from lakelens.model.bytes_view import BytesView
from lakelens.views.card.model import Card, Cell, Picture
from lakelens.views.timeline.layout import Layout

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.explorer.inside import Inside


@dataclass(frozen=True, slots=True)
class Link:
    """A name that leads to a place; `small` is its answer beside it. Without a place it is where the reader is."""

    text: str
    place: Place | None = None
    small: str = ""
    is_current: bool = False
    #: above it a hairline begins a group
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class News:
    """What came since the snapshot that a page is pinned to: one line, with what it leads to; `lead` stands out."""

    text: str
    links: tuple[Link, ...] = ()
    lead: str = ""


FieldKind: TypeAlias = Literal["search", "text", "code", "check", "choice"]


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that a form asks for: of a `search` or `text` words, of `code` lines, of a `check` yes, of a `choice` one of
    `options`.
    """

    name: str
    label: str
    value: str = ""
    kind: FieldKind = "text"
    placeholder: str = ""
    options: tuple[str, ...] = ()
    #: what it means, in small print beside it
    small: str = ""
    #: what a script completes in it: columns, each with its operators and values
    words: tuple[tuple[str, Sequence[str], Sequence[str]], ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """A form that asks for a page: what it leads to, which keeps what is asked there already, its fields, and its button.

    `more` are fields that are folded. `slides` puts a slider before the fields: it sets the first of them to one of some
    values, each with what it comes to in words; without scripts there is none.
    """

    place: Place
    fields: tuple[Field, ...]
    button: str = "apply"
    small: str = ""
    more: tuple[Field, ...] = ()
    slides: tuple[tuple[str, str], ...] = ()


#: The forms in which a list leaves a page.
EXPORTS = {"csv": "CSV", "json": "JSON", "parquet": "Parquet"}


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a long list: what is shown of how many, links to its other pages, a filter, and the rows as a card.

    `whole` makes an Arrow table of all rows, filtered and sorted as they are shown; `exports` leads to it as files.
    """

    card: Card
    words: str
    pager: tuple[Link, ...] = ()
    form: Form | None = None
    exports: Exports | None = None
    whole: Callable[[], pa.Table] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Exports:
    """What leads to all of a list as files."""

    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """Parts and, beside them where there is room and above them where there is not, parts about what is chosen."""

    main: tuple[Part, ...]
    side: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: what it is of, its value with the noun that follows, below it a sum, and small print, one line each.

    The `sum` stands in the value's own column, so that it adds up by eye: the value is what its amounts come to.
    """

    label: str
    value: Cell
    noun: str = ""
    sum: tuple[tuple[Cell, str], ...] = ()
    small: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Figures:
    """A row of figures."""

    items: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """The picture of a history in which every snapshot, and every fold of several, is a link; `words` say what it shows.

    It scrolls in a box of its own, and begins at its newest end. `pinned` is the key of the snapshot that is marked.
    """

    layout: Layout
    words: str
    pinned: str = ""


@dataclass(frozen=True, slots=True)
class Wide:
    """A card that scrolls in a box of its own where the page is narrower than it; `words` say what it shows."""

    card: Card
    words: str


def widen(card: Card) -> tuple[Wide | Card, ...]:
    """Widen a card as parts of a page: what it says above its pictures, each picture in a box of its own, and the rest.

    >>> from lakelens.views.card.model import Note, Picture
    >>> card = Card("Space", "", body=(Note("first"), Picture("<svg/>", "boxes"), Note("last")))
    >>> [type(part).__name__ for part in widen(card)], len(widen(Card("Space", "")))
    (['Card', 'Wide', 'Card'], 1)
    """
    at = next((place for place, body in enumerate(card.body) if isinstance(body, Picture)), None)
    if at is None:
        return (card,)
    picture = card.body[at]
    assert isinstance(picture, Picture)
    head = replace(card, body=card.body[:at], folds=())
    rest = replace(card, noun="", sentence="", place="", alert="", facts=(), body=card.body[at + 1 :])
    return head, Wide(Card("", "", body=(picture,)), picture.words), rest


@dataclass(frozen=True, slots=True)
class Links:
    """A line of links, after some words."""

    links: tuple[Link, ...]
    words: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a heading, with what they come to in one sentence; `alert` stands out, `small` is said in small print."""

    heading: str
    words: str
    parts: tuple[Part, ...] = ()
    alert: str = ""
    is_small: bool = True


Part: TypeAlias = "Card | BytesView | Form | Listing | Split | Figures | Drawing | Wide | Links | Section"


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its title, where it is, what else there is about the same table, and its parts.

    `status` is that of HTTP: 200, 404 for what is not there, 500 for what is damaged so that nothing can be shown, 504 for
    what took too long.
    """

    place: Place
    title: str
    parts: Sequence[Part]
    crumbs: tuple[Link, ...] = ()
    navigation: tuple[Link, ...] = ()
    news: News | None = None
    #: what stands at the right above: the snapshot that the page is pinned to
    pinned: tuple[Link, ...] = ()
    status: int = 200
    #: access keys of links that are on the page: the key, what it does, and where it leads
    keys: tuple[tuple[str, Link], ...] = field(default=())
    #: what may be asked for: whatever else the page names is no link
    inside: Inside | None = None


@dataclass(frozen=True, slots=True)
class Redirect:
    """Another address, to which this one leads today: the newest snapshot of a table."""

    place: Place
