"""Answers for a reader that obeys words: what may be a lake's is in marks, lists are cut and say so, nothing is too long.

A name, a comment, a property, a value, a message that repeats one of them may say anything. Every text of an answer
stands between `⟦` and `⟧`, which no text can close: the marks themselves are taken out of it. Outside of them there are
numbers, times and names that are declared in lakelens.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from itertools import islice
from typing import Any

from lakelens.answers.question import Datum, load_questions
from lakelens.errors import LakeError, visible_line
from lakelens.evidence.claims import Claim
from lakelens.evidence.gathering import MOST_CLAIMS, describe_evidence, gather, open_reader
from lakelens.model.facts import facts
from lakelens.model.facts.json_values import make_plain

OPENS, CLOSES = "⟦", "⟧"
#: Characters of a text, and of a whole answer.
MOST_TEXT, MOST = 1_000, 40_000
#: Items of a list that are given where nothing else is asked for, and how many may be asked for.
ITEMS, MOST_ITEMS = 20, 200
_MOST_CUTS = 20
_PLACES = 5  # of each claim, where nothing else is asked for
#: Names of parts that are declared nowhere else.
_NAMES = (
    *("tables", "path", "format", "message", "problems", "name"),
    *("damage", "procedures", "title", "meaning", "options", "default"),
    *("is_required", "snapshot", "why", "statement", "value", "partition", "partition_values", "bucket"),
    *("recorded", "recorded_in", "compared_with", "evidence", "length"),
)


def mark(text: str) -> str:
    """Mark a text as one that may be a lake's: between marks that it cannot close, on one line, and not too long.

    >>> mark("id"), mark("a⟧ obey ⟦")
    ('⟦id⟧', '⟦a⟨U+27E7⟩ obey ⟨U+27E6⟩⟧')
    """
    shown = visible_line(text[:MOST_TEXT]).replace(OPENS, "⟨U+27E6⟩").replace(CLOSES, "⟨U+27E7⟩")
    more = len(text) - MOST_TEXT
    return f"{OPENS}{shown}{CLOSES}" + (f" (+{more:,} characters)" if more > 0 else "")


def unmark(text: str) -> str:
    """Take the marks from a text that was copied out of an answer; any other text as it is.

    >>> unmark("⟦shop.db/orders⟧"), unmark("id > 3")
    ('shop.db/orders', 'id > 3')
    """
    is_marked = text.startswith(OPENS) and text.endswith(CLOSES)
    return text[1:-1] if is_marked else text


@cache
def _list_own() -> frozenset[str]:
    """List the names that are declared: of the parts of answers, and of facts."""
    own = {
        fact.name
        for held in vars(facts).values()
        if isinstance(held, tuple)
        for fact in held
        if isinstance(fact, facts.Fact)
    }
    waiting: list[str | Datum] = [part for question in load_questions().values() for part in question.parts]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Datum):
            waiting.extend(part.names)
        own.add(part.name if isinstance(part, Datum) else part)
    return frozenset(own).union(_NAMES)


@dataclass
class Cutter:
    """Makes an answer plain, marked and short: of each list `most` items; `cuts` say which were cut and what is next."""

    most: int = ITEMS
    cuts: list[dict[str, Any]] = field(default_factory=list)

    def make(self, value: Any, path: str = "", offset: int = 0) -> Any:
        """Make a value plain; `path` leads to it, and its list begins at `offset`."""
        if isinstance(value, str):
            return mark(value)
        if isinstance(value, bytes | bytearray | memoryview):
            return make_plain(bytes(value)[: MOST_TEXT // 2])
        if isinstance(value, Mapping):
            return self._make_mapping(value, path, offset)
        if isinstance(value, Collection | Iterator):
            items = list(value)
            chosen = items[offset : offset + self.most]
            self._note(path, offset, len(chosen), len(items))
            return [self.make(item, f"{path}.{offset + at}") for at, item in enumerate(chosen)]
        if is_dataclass(value) and not isinstance(value, type):
            names = [known.name for known in fields(value) if not known.name.startswith("_")]
            return {name: self.make(getattr(value, name), f"{path}.{name}".lstrip(".")) for name in names}
        if value is None or isinstance(value, bool | int | float) or hasattr(value, "isoformat"):
            return make_plain(value)
        return mark(str(make_plain(value)))

    def _make_mapping(self, value: Mapping[Any, Any], path: str, offset: int) -> dict[str, Any]:
        """Make a mapping: all of a record, whose names are declared; of one whose keys are a lake's a piece."""
        items = list(value.items())
        is_record = all(key in _list_own() for key, _ in items if isinstance(key, str))
        if not is_record:
            count = len(items)
            items = list(islice(items, offset, offset + self.most))
            self._note(path, offset, len(items), count)
        return {
            key if key in _list_own() else mark(str(key)): self.make(item, f"{path}.{key}".lstrip("."))
            for key, item in items
        }

    def _note(self, path: str, offset: int, shown: int, count: int) -> None:
        left = count - offset - shown
        if left > 0 and len(self.cuts) < _MOST_CUTS:
            place = path if all(step in _list_own() or step.isdigit() for step in path.split(".")) else None
            following = {"part": place, "offset": offset + shown} if place else None
            self.cuts.append({"part": place, "shown": shown, "left": left, "next": following})


def follow(document: Any, part: str) -> Any:
    """Follow the path of a part in an answer: names and positions. Raises `LakeError` where it leads nowhere."""
    value = document
    for step in part.split("."):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list | tuple) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        elif is_dataclass(value) and step in {known.name for known in fields(value)} and step[0] != "_":
            value = getattr(value, step)
        else:
            raise LakeError("the answer has no such part", seen=part, hint="a part of the answer, as in kept")
    return value


def write_bounded(
    head: Mapping[str, Any], document: Mapping[str, Any], part: str, offset: int, limit: int
) -> str:
    """Write an answer as JSON that is no longer than `MOST` characters: with shorter lists where it has to be.

    `head` is of lakelens's own words. Raises `LakeError` where the answer is too long without any item of its lists.
    """
    whole = {name: list(held) if isinstance(held, Iterator) else held for name, held in document.items()}
    value = follow(whole, part) if part else whole
    for most in (limit, *(count for count in (10, 5, 2, 1, 0) if count < limit)):
        cutter = Cutter(most)
        answer = cutter.make(value, part, offset if part else 0)
        text = json.dumps({**head, "answer": answer, "cut": cutter.cuts}, ensure_ascii=False)
        if len(text) <= MOST:
            return text
    raise LakeError(
        "the answer is too long to be given at once", hint=f"a part of it: {', '.join(sorted(whole))}"
    )


def write_cited(
    head: Mapping[str, Any],
    table: Any,
    claims: Iterable[Claim],
    part: str,
    offset: int,
    limit: int,
    *,
    others: Sequence[Any] = (),
) -> str:
    """Write an answer of cited claims, no longer than `MOST` characters; with fewer claims and places where it has to be.

    `part` is `claims`, or `claims.N` for the places of one claim. Raises `LakeError` for another part.
    """
    name, _, number = part.partition(".")
    if name not in ("", "claims") or (number and not (number.isdigit() and int(number) > 0)):
        raise LakeError(
            "the answer has no such part", seen=part, hint="claims, or claims.3 for the places of one"
        )
    listed, first = list(islice(claims, MOST_CLAIMS + 1)), int(number) - 1 if number else offset
    reader = open_reader(table, *others)
    for most in (limit, *(count for count in (20, 10, 5, 2, 1) if count < limit)):
        amounts = (
            {"most": 1, "parts": most, "skip": offset}
            if number
            else {"most": most, "parts": min(most, _PLACES)}
        )
        evidence = gather(table, listed, offset=first, reader=reader, **amounts)
        cuts = [
            _cut(f"claims.{cited.number}", len(cited.citations), cited.left, amounts.get("skip", 0))
            for cited in evidence.cited
            if cited.left
        ]
        if evidence.left and not number:
            cuts.insert(0, _cut("claims", most, evidence.left, first))
        document = {**head, **describe_evidence(evidence, mark), "cut": cuts}
        text = json.dumps(document, ensure_ascii=False)
        if len(text) <= MOST:
            return text
    raise LakeError("a claim is too long to be given at once", hint="limit=1")


def _cut(part: str, shown: int, left: int, offset: int) -> dict[str, Any]:
    return {"part": part, "shown": shown, "left": left, "next": {"part": part, "offset": offset + shown}}
