"""`Question`: an answer declared once, from which its method, verb, JSON, page, inventory figures and docs row are made.

It is plain data that loads nothing: what it needs is named as `module:name`, and loaded when it is asked for. A question
of another package is named by an entry point of the group `lakelens.questions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Literal

from lakelens.errors import LakeError, Missing, list_nearest
from lakelens.installed import list_entry_points
from lakelens.lazy import dataclass

GROUP = "lakelens.questions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """Something that a question asks for beside the table; without `flags` its value stands by itself on the command line.

    A `snapshot` is the page's own in the explorer, a `file` is shortened in addresses, a `place` is another table's. Of
    `pairs` each is NAME=VALUE.
    """

    name: str
    kind: Literal[
        "text", "condition", "query", "file", "place", "snapshot", "flag", "number", "texts", "pairs"
    ] = "text"
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    help: str = ""
    default: Any = None
    is_required: bool = False
    #: what completes it in a shell
    complete: str = ""
    #: what is written before its field on a page; empty where a page does not ask for it
    label: str = ""
    #: what it is called in the address of a page, where that is another name
    address: str = ""
    #: an example for its field: in words, or made from the table's schema
    example: str = ""


@dataclass(frozen=True, slots=True)
class Datum:
    """A part of an answer as data: where it is, and what is described of it or, where it is several things, of each.

    `of` is a path of attributes, keys, positions and calls (`severities.error`, `calls.0.why`, `missing.__len__()`), `.`
    for the answer itself, or the function that makes it. `names` are attributes or parts in their turn, `*` all facts of
    an item of a collection.
    """

    name: str
    of: str = ""
    names: tuple[str | Datum, ...] = ()
    #: what its column holds, where it is a figure of many tables
    kind: str = "int64"


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of an answer that the explorer shows in pages: its name in addresses, what it is in words, and where it is.

    The words may be made: `module:name` of a function of the answer and of what was asked. A list `below` is offered
    below the card, where the card itself does not lead to it.
    """

    name: str
    words: str
    of: str = ""
    is_below: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """How an answer is shown by the explorer: what is said before it is asked, its form, and its entry beside the page."""

    lists: tuple[Listed, ...] = ()
    #: what stands on the page as long as nothing is asked
    words: str = ""
    #: where the form stands once it is answered: above, below, or nowhere
    form: Literal["above", "below", "alone"] = "alone"
    button: str = "show"
    small: str = ""
    #: what leads from a list back to the answer
    back: str = ""
    #: what is shown of a visit until the answer is wanted, for one that costs much
    offer: str = ""
    #: what is shown below the answer, of the visit and the answer
    after: str = ""
    #: what it is called there, where that is not its name
    title: str = ""
    #: what makes its forms, of the visit, where fields for its options do not say it
    forms: str = ""
    #: what is shown below all of it, made of the visit: what can be asked
    guide: str = ""
    #: options that the page sets, whatever is asked
    sets: tuple[tuple[str, Any], ...] = ()
    #: in which group of the pages of a table it stands; empty for none
    group: Literal["", "bytes", "care"] = "care"
    #: what is said beside its name there: in words, or made of the table and what finds answers that are known already
    beside: str = ""
    #: whether it takes a table that keeps snapshots to have something to ask for
    needs_snapshots: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One answer: what it is called, how it is worked out, and how each way of asking takes and shows it.

    `ask` is called with the table and the options by name.
    """

    name: str
    ask: str
    #: what its verb says it does; the first sentence stands in the list of verbs
    summary: str
    #: what the table of verbs in the docs says of it
    about: str
    options: tuple[Option, ...] = ()
    epilog: str = ""
    #: the answer as data, in the order of its JSON
    parts: tuple[str | Datum, ...] = ()
    #: the figures of an inventory of many tables, and the data sets with a row for each of several things
    figures: tuple[str | Datum, ...] = ()
    rows: tuple[Datum, ...] = ()
    page: Page | None = None
    #: what the answer claims with places in files, of the table and the answer; without it nothing of it is cited
    claims: str = ""
    #: the attributes of the answer that are other tables, whose files are cited too
    others: tuple[str, ...] = ()
    #: what it does not look at, in sentences of lakelens
    unseen: tuple[str, ...] = ()
    #: says in a line why the answer is that the table is damaged, of the table and the answer; empty where it is not
    damage: str = ""
    #: what can be asked, where the first option is left out
    menu: str = ""

    @property
    def verb(self) -> str:
        """What it is called on the command line."""
        return self.name.replace("_", "-")

    @property
    def title(self) -> str:
        """What its page is called.

        >>> from lakelens.answers.own import QUESTIONS
        >>> QUESTIONS["dry_run"].title, QUESTIONS["sql"].title
        ('Dry run', 'SQL')
        """
        own = "" if self.page is None else self.page.title
        return own or self.name.replace("_", " ").capitalize()

    @property
    def row(self) -> str:
        """Its row in the docs' table of verbs.

        >>> from lakelens.answers.own import QUESTIONS
        >>> QUESTIONS["explain"].row[:40]
        '| `explain PATH PREDICATE` | which files'
        """
        asked = (option.metavar or option.name.upper() for option in self.options if not option.flags)
        return f"| `{' '.join((self.verb, 'PATH', *(name.strip('[]') for name in asked)))}` | {self.about} |"


def load(place: str) -> Any:
    """Load what is named as `module:name`.

    >>> load("posixpath:join")("a", "b")
    'a/b'
    """
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


@cache
def load_questions() -> Mapping[str, Question]:
    """Load every question by name: lakelens's own, and those of other packages, which take no name that is taken."""
    return {**_load_own(), **{question.name: question for question in _load_others()}}


def _load_own() -> Mapping[str, Question]:
    known: Mapping[str, Question] = load("lakelens.answers.own:QUESTIONS")
    return known


def _load_others() -> Iterator[Question]:
    own = _load_own()
    for point in list_entry_points(GROUP):
        question = point.load()
        if not isinstance(question, Question) or not question.name.isidentifier():
            raise LakeError(
                f"the entry point {point.name!r} of {GROUP} names no Question whose name is an identifier",
                hint=f"{point.value} = Question(name=…, ask=…)",
            )
        if question.name not in own:
            yield question


def list_added() -> frozenset[str]:
    """List the names of the questions that other packages added."""
    others = list_entry_points(GROUP)  # without any, not even those of lakelens are loaded
    return frozenset(load_questions()) - frozenset(_load_own()) if others else frozenset()


def find_question(name: str) -> Question:
    """Find a question by its name; the metadata of other packages is read only where it is none of lakelens's own.

    Raises `Missing`.
    """
    known = _load_own()
    if name not in known:
        known = load_questions()
    if name not in known:
        raise Missing(f"no question {name!r}", hint=list_nearest(name, known))
    return known[name]


def ask(table: Any, name: str, **options: Any) -> Any:
    """Ask a question about a table by its name; an option that is left out has its default. Raises `LakeError`.

    >>> import lakelens as ll
    >>> ask(ll.sample("iceberg"), "check").ok
    True
    """
    question = find_question(name)
    known = [option.name for option in question.options]
    for given in options:
        if given not in known:
            raise LakeError(f"{name} has no option {given!r}", hint=list_nearest(given, known))
    for option in question.options:
        if option.name not in options:
            if option.is_required:
                raise LakeError(
                    f"{name} asks for {option.name!r}", hint=f"table.ask({name!r}, {option.name}=…)"
                )
            options[option.name] = option.default
    load("lakelens.arrays.memory:release_memory")()
    return load(question.ask)(table, **options)
