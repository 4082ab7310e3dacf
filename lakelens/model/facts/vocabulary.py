"""What the values of a format's JSON documents are, by their keys, and what its lists hold, in words.

Each format gives a vocabulary of its own with its documents, so that a view need not guess from the digits of a number
whether it is a time or an id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

#: "time": milliseconds since 1970; "duration": milliseconds; "id": a long number that identifies something.
ValueKind: TypeAlias = Literal["", "time", "duration", "id"]
#: The keys and positions that lead to a value.
Place: TypeAlias = tuple[str | int, ...]


def _without_words(place: Place, items: Sequence[Any], document: Any) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the specification says of a document's keys.

    `kinds` says what the numbers under a key are, `special` which of them stand for something else. Below the keys in `free`
    the keys are a lake's own, and mean nothing. `words` describes what is at a place of a document: neighbouring items
    of a list, or one thing; empty where it has no words for it.

    >>> known = Vocabulary({"at-ms": "time"}, {("at-ms", -1): "never"}, frozenset({"properties"}))
    >>> [known.find_kind(place, 5) for place in (("log", 0, "at-ms"), ("properties", "at-ms"), ("other",))]
    ['time', '', '']
    >>> known.find_special(("at-ms",), -1)
    'never'
    """

    kinds: Mapping[str, ValueKind] = field(default_factory=dict)
    special: Mapping[tuple[str, int], str] = field(default_factory=dict)
    free: frozenset[str] = frozenset()
    words: Callable[[Place, Sequence[Any], Any], str] = _without_words

    def find_kind(self, place: Place, value: Any) -> ValueKind:
        """What a value is; empty for all but numbers of a known key."""
        key = self._find_key(place, value)
        return self.kinds.get(key, "")

    def find_special(self, place: Place, value: Any) -> str:
        """What a number stands for that is none; empty for every other."""
        key = self._find_key(place, value)
        return self.special.get((key, value), "") if key else ""

    def _find_key(self, place: Place, value: Any) -> str:
        if type(value) is not int or not place or not self.free.isdisjoint(place[:-1]):
            return ""
        return str(place[-1])


#: Of a document that belongs to no format that is known.
UNKNOWN = Vocabulary()
