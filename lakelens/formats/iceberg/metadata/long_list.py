"""Lists of a metadata document that grow with the table: kept as their text, one item decoded at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar, overload

import msgspec
from msgspec import Raw

from lakelens.formats.iceberg.metadata.repair import move_error, repair_numbers

T = TypeVar("T")

# the text of a key that is not there; JSON, so that it decodes to nothing
ABSENT = Raw(b"null")
# skipping over a text does not look at what its escapes are, decoding does
_ESCAPE = re.compile(rb"\\u")


class LongList(Sequence[T], Generic[T]):
    """The items of a JSON list. Nothing but where each begins and ends is kept; what is asked for is decoded.

    Integers that were written as text or floats are read, as in the rest of the document. Raises
    `msgspec.ValidationError` with the place in the document for an item that is not of its kind.

    >>> class Pair(msgspec.Struct):
    ...     a: int
    >>> pairs = LongList(Raw(b'[{"a": 1}, {"a": 2.0}]'), Pair, "$.pairs", frozenset("a"))
    >>> len(pairs), pairs[-1].a, pairs.stored(0)
    (2, 2, b'{"a": 1}')
    """

    def __init__(self, stored: Raw, kind: type[T], place: str, integer_keys: frozenset[str]) -> None:
        self._place = place
        self._integer_keys = integer_keys
        self._kind = kind
        self._decoder = msgspec.json.Decoder(kind)
        try:
            self._stored = msgspec.json.decode(stored, type=list[Raw] | None) or []
        except msgspec.ValidationError as error:
            raise move_error(error, place) from None

    def __len__(self) -> int:
        return len(self._stored)

    @overload
    def __getitem__(self, key: int) -> T: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[T]: ...
    def __getitem__(self, key: int | slice) -> T | Sequence[T]:
        if isinstance(key, slice):
            return [self._decode(index, []) for index in range(*key.indices(len(self)))]
        return self._decode(range(len(self))[key], [])

    def __iter__(self) -> Iterator[T]:
        return (self._decode(index, []) for index in range(len(self)))

    def stored(self, index: int) -> bytes:
        """The JSON text of one item."""
        return bytes(self._stored[index])

    def check(self, repaired: list[str]) -> Iterator[T]:
        """Every item in turn, looked at as a whole; the places of integers that had to be repaired are added to a list."""
        for index, stored in enumerate(self._stored):
            if _ESCAPE.search(stored):
                msgspec.json.decode(stored)
            yield self._decode(index, repaired)

    def _decode(self, index: int, repaired: list[str]) -> T:
        stored = self._stored[index]
        try:
            return self._decoder.decode(stored)
        except msgspec.ValidationError:
            return self._repair(stored, f"{self._place}[{index}]", repaired)

    def _repair(self, stored: Raw, place: str, repaired: list[str]) -> T:
        value, places = repair_numbers(msgspec.json.decode(stored), self._integer_keys, place)
        repaired += places
        try:
            return msgspec.convert(value, self._kind)
        except msgspec.ValidationError as error:
            raise move_error(error, place) from None
