"""Claims and citations: a figure, how it comes from what is stored, and the places in files where that stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from statistics import median
from typing import Any, Literal

from lakelens.display import Displayable, Named

Kind = Literal["document", "record", "footer", "length", "absence"]


#: Any value: that there is one is enough; of a claim, whatever its places say.
ANY: Any = ...


@dataclass(frozen=True, slots=True)
class Match:
    """A step of a place that is found by what it holds: the first item whose `key` is `value`, or that has the key."""

    key: str
    value: Any = ANY


Step = str | int | Match


@dataclass(frozen=True, slots=True)
class Address:
    """Where a fact stands: a file, and the way in it. A `document` is JSON, a `record` one of Avro, Parquet or JSON lines.

    The `length` of a file is that of the listing, as is its `absence`. Of several `files` the first that has the place is
    meant, and of several places this one before the `others`. `how` and `names` say what the stored value means.
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


@dataclass(frozen=True, slots=True)
class Claim(Named):
    """Something that is said: `says` in words of lakelens, `about` which thing, and the value or `ANY`.

    `how` is how the value comes from its places: it is what one of them means (empty), or their sum, count, median, …
    """

    says: str
    value: Any
    places: tuple[Address, ...]
    how: str = ""
    about: Any = None


@dataclass(frozen=True, slots=True)
class Cited(Named):
    """A claim with its citations, which were read again: `left` is how many of them are not listed."""

    says: str
    value: Any
    citations: tuple[Citation, ...]
    how: str = ""
    about: Any = None
    left: int = 0
    number: int = 0

    @property
    def is_quoted(self) -> bool:
        """Whether its value is in words of the lake."""
        return isinstance(self.value, str) and not self._is_named

    @property
    def _is_named(self) -> bool:
        return any(self.value in citation.names.values() for citation in self.citations)


class Evidence(Displayable):
    """What is said, each with its places: `claims` in figures, `quoted` in words of the table.

    `left` claims come after these, and `unsaid` of these were left out: their places do not bear them out.
    """

    def __init__(self, cited: Iterable[Cited], left: int, unsaid: int) -> None:
        self.cited = tuple(cited)
        self.left, self.unsaid = left, unsaid

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


def _read_time(value: Any) -> Any:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(value))


#: How a stored bound of a type is to be read, for the types that need no other fact.
BOUNDS = {
    "int": "an integer, little-endian",
    "long": "an integer, little-endian",
    "string": "text in UTF-8",
    "date": "days since 1970, little-endian",
}
_READS: dict[str, Callable[[Any], Any]] = {
    "": lambda value: value,
    BOUNDS["int"]: lambda value: int.from_bytes(value, "little", signed=True),
    BOUNDS["date"]: lambda value: date(1970, 1, 1) + timedelta(int.from_bytes(value, "little", signed=True)),
    BOUNDS["string"]: lambda value: value.decode(),
    "milliseconds since 1970": _read_time,
    "a number as text": int,
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
    "there": lambda values: len(values) == 1,
    "equal": lambda values: values[0] if len(set(values)) == 1 else None,
}


def read_stored(how: str, value: Any, names: Mapping[Any, Any]) -> Any:
    """Read what a stored value means. Raises `ValueError` and `TypeError` for one that means nothing.

    >>> read_stored("a number as text", "23", {}), read_stored("", 1, {0: "EXISTING", 1: "ADDED"})
    (23, 'ADDED')
    """
    return names.get(value) if names else _READS[how](value)


def derive(how: str, meanings: Iterable[Any]) -> Any:
    """Derive the value of a claim from what its places mean; None where it does not follow.

    >>> derive("sum", [957, 956]), derive("", [5]), derive("equal", [3, 4])
    (1913, 5, None)
    """
    values = list(meanings)
    try:
        return _DERIVES[how](values)
    except (TypeError, ValueError, ArithmeticError, IndexError):
        return None
