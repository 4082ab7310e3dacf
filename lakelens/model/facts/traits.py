"""What a format says of its tables and snapshots in words of all formats: nothing outside asks for a format by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, TypeAlias
from urllib.parse import unquote

from lakelens.display import Named
from lakelens.lazy import dataclass

# Amounts: what is known of a number, and sizes in words, the same wherever they are said.


@dataclass(frozen=True, slots=True)
class Amount(Named):
    """A number of rows as far as it is known: at least `least`, at most `most`; None where nothing says how many at most.

    >>> Amount(3, 3).exact, Amount(0, 3).exact, Amount(1, 1) + Amount(0, None)
    (3, None, Amount(least=1, most=None))
    """

    least: int
    most: int | None

    @property
    def exact(self) -> int | None:
        """The number where it is known exactly."""
        return self.least if self.least == self.most else None

    def __add__(self, other: Amount) -> Amount:
        known = self.most is not None and other.most is not None
        return Amount(self.least + other.least, (self.most or 0) + (other.most or 0) if known else None)


#: None at all.
NO_ROWS = Amount(0, 0)


def format_size(number: float) -> str:
    """Bytes: exact below 10,000, else three digits and a binary unit.

    >>> format_size(9814), format_size(402653184), format_size(30_529_368_358)
    ('9,814 B', '384 MiB', '28.4 GiB')
    >>> format_size(10**400)
    'more than 1 YiB'
    """
    if number >= 1 << 80:  # no size of a file, but a document may say it
        return "more than 1 YiB"
    if number < 10_000:
        return f"{number:,.0f} B"
    amount, unit = float(number), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if amount < 1000 or unit == "PiB":
            break
        amount /= 1024
    return f"{amount:.{0 if amount >= 100 else 1 if amount >= 10 else 2}f} {unit}"


@dataclass(frozen=True, slots=True)
class Traits:
    """What is true of a table because of its format.

    `title` is the format's name in a sentence ("Iceberg"), `kind` says what the table is ("Apache Iceberg table, format
    version 2"), `buckets` how rows are divided into buckets (empty where they are not), `variant` what follows the title in
    a list of tables ("v2", "primary key"). Without `has_snapshots` the one state is a listing taken now; where
    `files_are_listed` only the directory says which files there are, and a metastore the rest. `numbers_branches`: each
    branch numbers its commits without a gap, so that the parent of 7 is 6. `draws_ids`: an id is a random number, which its
    first digits stand for. `has_versions`: older metadata documents can be opened. Without `has_branches` all snapshots
    are in one line, which has no name. `has_levels` and `has_sequence_numbers` are true of its files. `lists_referrers`:
    listing its objects names all that refers to them, entries too. `keeps_log`: what the newest entry says of a file counts,
    however often it was said. `unquote` decodes what the directory form of a partition escapes.
    """

    title: str
    kind: str
    buckets: str = ""
    variant: str = ""
    has_snapshots: bool = True
    files_are_listed: bool = False
    numbers_branches: bool = False
    draws_ids: bool = False
    has_versions: bool = False
    has_branches: bool = True
    has_levels: bool = False
    has_sequence_numbers: bool = True
    lists_referrers: bool = False
    keeps_log: bool = False
    unquote: Callable[[str], str] = unquote


@dataclass(frozen=True, slots=True)
class Figures(Named):
    """What one snapshot records of its changes and totals; None where it records nothing.

    `rows` are those of the live files, deleted ones included. `deleted` are the rows that the commit deleted in files that
    stay: by position, by vector or by value; `added_equality_deletes` are the values that it deletes rows by.
    """

    added_files: int | None = None
    removed_files: int | None = None
    added_rows: int | None = None
    removed_rows: int | None = None
    net_rows: int | None = None
    added_bytes: int | None = None
    removed_bytes: int | None = None
    rows: int | None = None
    files: int | None = None
    delete_files: int | None = None
    size_bytes: int | None = None
    partitions: int | None = None
    position_deletes: int | None = None
    equality_deletes: int | None = None
    deleted: Amount | None = None
    added_equality_deletes: int | None = None

    @property
    def net_bytes(self) -> int | None:
        """Bytes added less bytes removed."""
        if self.added_bytes is None and self.removed_bytes is None:
            return None
        return (self.added_bytes or 0) - (self.removed_bytes or 0)

    def explain_emptiness(self, listed: int | None, lists: str) -> str | None:
        """Why a state of which no file is found should have some: by these figures, or by the files that `lists` count.

        None where nothing says that there are any.

        >>> Figures(rows=1200, files=3).explain_emptiness(None, "manifest list")
        'no file can be read, although it has 3 data files and 1,200 rows as it records'
        """
        nouns = (("data file", self.files), ("row", self.rows), ("delete file", self.delete_files))
        parts = [f"{count:,} {noun}{'s' * (count != 1)}" for noun, count in nouns if count and count > 0]
        if parts:
            return f"no file can be read, although it has {' and '.join(parts)} as it records"
        if listed and listed > 0:
            return f"no file can be read, although its {lists} counts {listed:,}"
        return None


def parse_figure(facts: Mapping[str, object], key: str) -> int | None:
    """Parse a figure of a snapshot's document; None when it is missing, no number, or beyond the 64 bits of a count.

    >>> parse_figure({"total-records": "3"}, "total-records"), parse_figure({}, "total-records")
    (3, None)
    >>> parse_figure({"total-records": "9" * 400}, "total-records")
    """
    try:
        figure = int(facts[key])  # type: ignore[call-overload]
    except (KeyError, ValueError, TypeError, OverflowError):
        return None
    return figure if -(2**63) <= figure < 2**63 else None


# What the values of a format's JSON documents are, by their keys, and what its lists hold, in words.
#
# Each format gives a vocabulary of its own with its documents, so that a view need not guess from the digits of a number
# whether it is a time or an id.

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
        """Find what a value is; empty for all but numbers of a known key."""
        key = self._find_key(place, value)
        return self.kinds.get(key, "")

    def find_special(self, place: Place, value: Any) -> str:
        """Find what a number stands for that is none; empty for every other."""
        key = self._find_key(place, value)
        return self.special.get((key, value), "") if key else ""

    def _find_key(self, place: Place, value: Any) -> str:
        if type(value) is not int or not place or not self.free.isdisjoint(place[:-1]):
            return ""
        return str(place[-1])


#: Of a document that belongs to no format that is known.
UNKNOWN = Vocabulary()
