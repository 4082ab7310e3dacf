"""The options of a table that its maintenance follows, with the engine's defaults.

See `CoreOptions` of Paimon. A value that does not read as what the option takes counts as the default, and is a doubt: the
engine refuses to open such a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from lakelens.caching import cached_property
from lakelens.formats.paimon.splits import parse_size

T = TypeVar("T")
_MB = 1 << 20
_SPANS = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6, "min": 6e7, "h": 3.6e9, "d": 8.64e10}
_SPELLINGS = {
    **dict.fromkeys(("d", "day", "days"), "d"),
    **dict.fromkeys(("h", "hour", "hours"), "h"),
    **dict.fromkeys(("min", "m", "minute", "minutes"), "min"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("ms", "milli", "millis", "millisecond", "milliseconds", ""), "ms"),
    **dict.fromkeys(("µs", "micro", "micros", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("ns", "nano", "nanos", "nanosecond", "nanoseconds"), "ns"),
}


def parse_span(text: str) -> timedelta:
    """Parse a length of time as Paimon's options write it; a number alone is milliseconds. Raises `ValueError`.

    >>> parse_span("1 h"), parse_span("90")
    (datetime.timedelta(seconds=3600), datetime.timedelta(microseconds=90000))
    """
    word = text.strip().lower()
    number = word.rstrip("abcdefghijklmnopqrstuvwxyzµ ")
    unit = _SPELLINGS.get(word[len(number) :].strip())
    if unit is None or not number.strip().isdigit():
        raise ValueError(text)
    try:
        return timedelta(microseconds=int(number) * _SPANS[unit])
    except OverflowError as error:
        raise ValueError(text) from error


def parse_flag(text: str) -> bool:
    """Parse a boolean of the options. Raises `ValueError`."""
    return {"true": True, "false": False}[text.strip().lower()]


def _parse_integer(text: str) -> int:
    number = int(text)
    if not -(2**31) <= number < 2**31:
        raise ValueError(text)
    return number


class Settings:
    """The options of one table. `doubts` says which could not be read, so far."""

    def __init__(self, options: Mapping[str, str], has_keys: bool) -> None:
        self._options = options
        self.has_keys = has_keys
        self.doubts: dict[str, str] = {}

    def read(self, key: str, default: T, parse: Callable[[str], Any]) -> T:
        """Read the value of an option."""
        text = self._options.get(key)
        if text is None:
            return default
        try:
            return parse(text)  # type: ignore[no-any-return]
        except (ValueError, KeyError, OverflowError):
            self.doubts[key] = f"{key} = {text!r} cannot be read: the default is taken, the engine may refuse"
            return default

    def number(self, key: str, default: int) -> int:
        """The value of an option that is a whole number; Java's are of 32 bits."""
        return self.read(key, default, _parse_integer)

    def flag(self, key: str, default: bool = False) -> bool:
        """The value of an option that is on or off."""
        return self.read(key, default, parse_flag)

    def word(self, key: str, default: str) -> str:
        """The value of an option that is one of several words, in lower case."""
        return self.read(key, default, lambda text: text.strip().lower())

    @cached_property
    def target_size(self) -> int:
        """`target-file-size`: what a writer lets a file grow to."""
        return max(self.read("target-file-size", (128 if self.has_keys else 256) * _MB, parse_size), 1)

    @property
    def small_size(self) -> int:
        """What is smaller than this is rewritten rather than kept as it is: seven tenths of the target."""
        return self.target_size // 10 * 7

    @property
    def trigger(self) -> int:
        """`num-sorted-run.compaction-trigger`: as many sorted runs start a compaction."""
        return max(self.number("num-sorted-run.compaction-trigger", 5), 1)

    @property
    def stop_trigger(self) -> int:
        """`num-sorted-run.stop-trigger`: more sorted runs than this stop writers until a compaction is done."""
        return max(self.trigger, self.number("num-sorted-run.stop-trigger", self.trigger + 3))

    @property
    def levels(self) -> int:
        """`num-levels`: level 0 and those above."""
        return max(self.number("num-levels", self.trigger + 1), 2)

    @property
    def has_vectors(self) -> bool:
        """Whether rows are deleted by deletion vectors."""
        return self.flag("deletion-vectors.enabled")

    @property
    def producer(self) -> str:
        """`changelog-producer`: none, input, full-compaction or lookup."""
        return self.word("changelog-producer", "none")

    @property
    def engine(self) -> str:
        """`merge-engine`: deduplicate, partial-update, aggregation or first-row."""
        return self.word("merge-engine", "deduplicate")

    @property
    def needs_lookup(self) -> bool:
        """Whether a compaction looks older rows up, so that no file may stay at level 0."""
        is_asked = self.engine == "first-row" or self.producer == "lookup" or self.has_vectors
        return is_asked or self.flag("force-lookup")
