"""The view-model of a page: numbered sections whose titles are answers, with links from one to another.

A link leads from what a cell names (a snapshot's id, a manifest's or a file's name) to the section of that object. Links
hold the number of a section and nothing else; nothing of them is made from a lake's own strings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lakelens.analysis.diff.diff import Diff
from lakelens.analysis.timeline.timeline import Timeline
from lakelens.errors import LakeError
from lakelens.options import display
from lakelens.views.card import wording
from lakelens.views.card.meanings import list_meanings
from lakelens.views.card.model import Card, Cell, Fold, Note, Pairs, Picture, Target
from lakelens.views.report.parts import SIZES, PagePart, list_parts

# figures whose label stands after them, in the singular
_COUNTED = {
    "added": "added",
    "existing": "existing",
    "deleted": "deleted",
    "rows": "row",
    "entries": "entry",
    "columns": "column",
    "rows deleted": "row deleted",
}
_BEFORE = {"bucket": "bucket", "snapshot": "snapshot", "sequence": "sequence", "data file": "of"}
# folds of a table's own card that have a section of their own below it
_BELOW = ("Changes",)
_MOST_WORDS = 220
# kinds whose sentence is but a name: their answer is put together from figures
_NAMED = ("list", "manifest", "file", "index", "statistics", "deletes")


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its number, what its title says, its card, the section above it and those right below.

    `numbers` are those of the sections of the page by what they are about.
    """

    number: int
    noun: str
    answer: str
    card: Card
    most: int
    depth: int = 0
    alert: str = ""
    above: int = 0
    below: tuple[int, ...] = ()
    name: str = ""  # of the file that it is about: what distinguishes it from others of its noun
    numbers: Mapping[Target, int] = field(default_factory=dict, repr=False)

    def lead(self, target: Target) -> str:
        """The link to the section of what a cell of this one names; empty where there is none, or it is this one."""
        number = self.numbers.get(target, self.number)
        return "" if number == self.number else f"#s{number}"


def make_report(thing: Any, describe: Callable[[Any], Card]) -> Sequence[Section]:
    """The sections of a page about an object, the object itself first."""
    parts = list_parts(thing)
    # what sums up the rest is described after it
    cards = {part: _describe(part, describe) for part in parts if not part.is_deferred}
    parts = [part for part in parts if part.kind != "findings" or len(part.thing)]
    cards |= {part: _describe(part, describe) for part in parts if part.is_deferred}
    _begin_with_history(parts, cards)
    if len(parts) > 1:
        last = PagePart(None, noun="Meanings")
        cards[last] = _describe_meanings(cards.values())
        parts = [*parts, last]
    numbers = {part: number for number, part in enumerate(parts, 1)}
    targets = {part.target: numbers[part] for part in reversed(parts) if part.target is not None}
    return [
        Section(
            number,
            cards[part].noun,
            _format_answer(part, cards[part]),
            _leave_out_answer(part, cards[part]),
            SIZES[part.kind],
            part.depth,
            cards[part].alert,
            numbers[part.above] if part.above is not None else 0,
            tuple(numbers[other] for other in parts if other.above is part),
            wording.name(part.target.key) if part.target is not None and part.kind in _NAMED else "",
            targets,
        )
        for part, number in numbers.items()
    ]


def _begin_with_history(parts: Sequence[PagePart], cards: dict[PagePart, Card]) -> None:
    """The picture of a table's history stands on its own card, above everything that is folded."""
    drawn = next((part for part in parts if isinstance(part.thing, Timeline)), None)
    if drawn is None:
        return
    first, card = cards[parts[0]], cards[drawn]
    picture = tuple(body for body in card.body if isinstance(body, Picture))
    # the sentence below the picture goes with it; what to type for a widget is of no use on a page
    story = card.body[len(picture) : len(picture) + 1] if picture else ()
    folds = tuple(fold for fold in first.folds if fold.label not in _BELOW)
    cards[parts[0]] = replace(first, body=(*picture, *story, *first.body), folds=folds)
    cards[drawn] = replace(card, body=())


def _describe(part: PagePart, describe: Callable[[Any], Card]) -> Card:
    """The card of a part; an error stands where the part would."""
    if part.left_out is not None:
        reason, typed = part.left_out
        return Card(part.noun, f"left out: {reason}", body=(Note("to see it", "mute", typed),))
    if isinstance(part.thing, LakeError):
        return Card(part.noun, f"cannot be read: {wording.clean(part.thing)}", alert="ERROR")
    if isinstance(part.thing, Exception):
        line = f"view failed: {type(part.thing).__name__}: {wording.clean(part.thing)}"
        return Card(part.noun, line, alert="ERROR")
    try:
        return describe(part.thing)
    except Exception as error:
        if display.strict_views:
            raise
        line, _, reason = wording.format_failure(part.thing, error).partition("\n")
        return Card(type(part.thing).__name__, line, alert=reason)


def _describe_meanings(cards: Iterable[Card]) -> Card:
    """Every name of the page with its sentence, once."""
    found = {(name, meaning) for card in cards for name, meaning in list_meanings(card)}
    items = tuple((name, Cell(meaning, "mute")) for name, meaning in sorted(found))
    sentence = f"{wording.plural(len(items), 'name')} of this page, each in one sentence"
    return Card(
        "Meanings", sentence, folds=(Fold("Names", "by the alphabet", lambda: (Pairs(items, is_open=True),)),)
    )


def _format_answer(part: PagePart, card: Card) -> str:
    """What the title says beside the noun: the card's sentence; figures before it where that is but a name."""
    if isinstance(part.thing, Diff):
        note = next((body.text for body in card.body if isinstance(body, Note)), "")
        return wording.clean(
            f"{note.removesuffix('.')}; {card.sentence}" if note else card.sentence, _MOST_WORDS
        )
    words = [card.sentence]
    if part.kind in _NAMED or not card.sentence:
        figures = [_format_fact(fact.label, fact.value.text) for fact in card.facts[:4]]
        words.insert(0, ", ".join(filter(None, figures)))
    if not any(words) and card.folds:
        words.append(card.folds[0].answer)
    return wording.clean(": ".join(filter(None, words)), _MOST_WORDS)


def _leave_out_answer(part: PagePart, card: Card) -> Card:
    """The card without the note that its section's title says already."""
    is_said = isinstance(part.thing, Diff) and card.body and isinstance(card.body[0], Note)
    return replace(card, body=card.body[1:]) if is_said else card


def _format_fact(label: str, value: str) -> str:
    """A figure in the line of a title; none for what is not there.

    >>> _format_fact("added", "2"), _format_fact("deleted", "0"), _format_fact("bucket", "3")
    ('2 added', '', 'bucket 3')
    """
    if value in ("0", "unknown", "absent"):
        return ""
    if label in _COUNTED:
        return f"{value} {_COUNTED[label] if value == '1' else label}"
    return f"{_BEFORE[label]} {value}" if label in _BEFORE else value
