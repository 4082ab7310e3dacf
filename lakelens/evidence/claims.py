"""Claims and citations: a figure, how it comes from what is stored, and the places in files where that stands."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from statistics import median
from typing import Any, Literal

from lakelens.display import Displayable, Named

Kind = Literal["document", "record", "footer", "length", "digest", "absence"]


#: Any value: that there is one is enough; of a claim, whatever its places say.
ANY: Any = ...


@dataclass(frozen=True, slots=True)
class Match:
    """A step of a place that is found by what it holds: the first item whose `key` is `value`, or that has the key."""

    key: str
    value: Any = ANY


#: What finds some of the bytes that are reached, where a format keeps several values in them.
Cut = Callable[[bytes], slice]
Step = str | int | Match | Cut


@dataclass(frozen=True, slots=True)
class Address:
    """Where a fact stands: a file, and the way in it. A `document` is JSON, a `record` one of Avro, Parquet or JSON lines.

    The `length` of a file is that of the listing, as is its `absence`; its `digest` is SHA-256 over all bytes. Of several
    `files` the first that has the place is meant, and of several places this one before the `others`. `how` and `names` say
    what the stored value means.
    """

    files: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    kind: Kind = "document"
    clause: str = ""
    how: str = ""
    names: Mapping[Any, Any] = field(default_factory=dict)
    others: tuple[Address, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation(Named):
    """A place as it was read: `value` is what stands there, `at` the bytes of it, from the first to behind the last.

    Within a compressed block `at` counts in what the block unpacks to, and `block` are the bytes of the block in the file.
    """

    file: str
    path: str
    value: Any
    at: tuple[int, int] | None = None
    block: tuple[int, int] | None = None
    octets: bytes = b""
    clause: str = ""
    how: str = ""
    names: Mapping[Any, Any] = field(default_factory=dict)

    @property
    def meaning(self) -> Any:
        """What the stored value means: a time, a number that was written as text, the word of a code."""
        return read_stored(self.how, self.value, self.names)


Sense = Literal["≤", "≥", "<", ">", "=", "≠", "∉", "∈"]


@dataclass(frozen=True, slots=True)
class Rule(Named):
    """What decides: a figure is compared with a limit; `kept` is said where it stands so to it, `broken` where not.

    A limit that is `ANY` is what the last place of the claim means. `source` is whose it is: a `predicate`, a `property` of
    the table, which stands at `place`, a `default` of an engine, `lakelens`, what is `recorded`, or another file that it is
    `compared` with; `words` name it there.

    >>> Rule("<", 0.3, "good", "act", "default").decide(0.4, 0.3)
    'act'
    """

    sense: Sense
    limit: Any
    kept: str
    broken: str
    source: str
    words: str = ""
    place: Address | None = None

    def decide(self, figure: Any, limit: Any) -> str:
        """Say what follows from a figure and a limit. Raises `TypeError` for those that do not compare."""
        return self.kept if _SENSES[self.sense](figure, limit) else self.broken


@dataclass(frozen=True, slots=True)
class Claim(Named):
    """Something that is said: `says` in words of lakelens, `about` which thing, and the value or `ANY`.

    `how` is how the value comes from its places: it is what one of them means (empty), or their sum, count, median, …
    With a `rule` the value is the figure that it decides on, and what follows is said.
    """

    says: str
    value: Any
    places: tuple[Address, ...]
    how: str = ""
    about: Any = None
    rule: Rule | None = None


@dataclass(frozen=True, slots=True)
class Cited(Named):
    """A claim with its citations, which were read again: `left` is how many of them are not listed.

    Where a `rule` decided, `value` is what it says of the `figure`; `limit` is what it was compared with, and `set_at` the
    place of the property that sets it.
    """

    says: str
    value: Any
    citations: tuple[Citation, ...]
    how: str = ""
    about: Any = None
    left: int = 0
    number: int = 0
    rule: Rule | None = None
    figure: Any = None
    limit: Any = None
    set_at: Citation | None = None

    @property
    def is_quoted(self) -> bool:
        """Whether its value is in words of the lake."""
        return isinstance(self.value, str) and self.rule is None and not self._is_named

    @property
    def _is_named(self) -> bool:
        return any(self.value in citation.names.values() for citation in self.citations)


class Evidence(Displayable):
    """What is said, each with its places: `claims` in figures, `quoted` in words of the table.

    `left` claims come after these, and `unsaid` of these were left out: their places do not bear them out. Where `is_cut`
    there is more to be claimed than was looked at.
    """

    def __init__(self, cited: Iterable[Cited], left: int, unsaid: int, is_cut: bool = False) -> None:
        self.cited = tuple(cited)
        self.left, self.unsaid, self.is_cut = left, unsaid, is_cut

    @property
    def claims(self) -> tuple[Cited, ...]:
        """Those in figures, times and words of lakelens."""
        return tuple(cited for cited in self.cited if not cited.is_quoted)

    @property
    def quoted(self) -> tuple[Cited, ...]:
        """Those whose value is in words of the table."""
        return tuple(cited for cited in self.cited if cited.is_quoted)

    @property
    def places(self) -> int:
        """How many places are cited."""
        return sum(len(cited.citations) + cited.left for cited in self.cited)

    def __repr__(self) -> str:
        return f"<Evidence: {len(self.cited)} claims, {self.places} places>"


@dataclass(frozen=True, slots=True, repr=False)
class Answered(Displayable):
    """An answer with its evidence, which its card has as a fold."""

    answer: Any
    evidence: Evidence

    def __repr__(self) -> str:
        return f"<Answered {self.answer!r}, {self.evidence!r}>"


def _read_time(value: Any) -> Any:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(value))


_SENSES: dict[str, Callable[[Any, Any], bool]] = {
    "≤": operator.le,
    "≥": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
    "≠": operator.ne,
    "∉": lambda figure, limit: figure not in limit,
    "∈": lambda figure, limit: figure in limit,
}
_LITTLE, _DAYS, _UTF8 = "an integer, little-endian", "days since 1970, little-endian", "text in UTF-8"
_NUMBER, _ISO = "a number as text", "a date as text"
_INTEGERS = ("int8", "int16", "int32", "int64")
#: How stored values of types are to be read, by how a format stores them; values of other types need more facts.
TYPED: Mapping[str, Mapping[str, str]] = {
    "bytes": {"int32": _LITTLE, "int64": _LITTLE, "string": _UTF8, "date": _DAYS},
    "json": {**dict.fromkeys(_INTEGERS, ""), "string": "", "date": _ISO},
    "text": {**dict.fromkeys(_INTEGERS, _NUMBER), "string": "", "date": _ISO},
    "avro": {"int32": "", "int64": "", "string": "", "date": "days since 1970"},
}
_READS: dict[str, Callable[[Any], Any]] = {
    "": lambda value: value,
    _LITTLE: lambda value: int.from_bytes(value, "little", signed=True),
    _DAYS: lambda value: date(1970, 1, 1) + timedelta(int.from_bytes(value, "little", signed=True)),
    _UTF8: lambda value: value.decode(),
    "milliseconds since 1970": _read_time,
    "days since 1970": lambda value: date(1970, 1, 1) + timedelta(value),
    _NUMBER: int,
    _ISO: date.fromisoformat,
    "the number of its items": len,
    "not": lambda value: not value,
}
_DERIVES: dict[str, Callable[[Sequence[Any]], Any]] = {
    "": lambda values: values[0] if len(values) == 1 else None,
    "sum": sum,
    "count": len,
    "median": lambda values: float(median(values)),
    "least": min,
    "greatest": max,
    "share": lambda values: values[0] / values[1],
    "greatest share": lambda values: max(map(operator.truediv, values[::2], values[1::2])),
    "seconds between": lambda values: (values[1] - values[0]).total_seconds(),
    "there": lambda values: len(values) == 1,
}


def read_stored(how: str, value: Any, names: Mapping[Any, Any]) -> Any:
    """Read what a stored value means. Raises `ValueError` and `TypeError` for one that means nothing.

    >>> read_stored("a number as text", "23", {}), read_stored("", 1, {0: "EXISTING", 1: "ADDED"})
    (23, 'ADDED')
    """
    return names.get(value) if names else _READS[how](value)


def derive(how: str, meanings: Iterable[Any]) -> Any:
    """Derive the value of a claim from what its places mean; None where it does not follow.

    >>> derive("sum", [957, 956]), derive("", [5]), derive("", [3, 4]), derive("greatest share", [4, 10, 1, 5])
    (1913, 5, None, 0.4)
    """
    values = list(meanings)
    try:
        return _DERIVES[how](values)
    except (TypeError, ValueError, ArithmeticError, IndexError):
        return None
