"""What the indexes in a Paimon file index know about the values of a column: those that are there, or cannot be.

    bloom-filter   hash of a value = (low 32 bits, high 32 bits) as Java ints; for i from 1 to the number of hash functions
                   bit low + i * high, in 32 bits, inverted when negative, modulo the number of bits
    bitmap, range-bitmap   the values themselves, each once
    bsi            amount of a row: min + the bits of the slices that its position is in; negative values apart

Texts and bytes are hashed with xxHash64 (seed 0), numbers with Thomas Wang's hash for 64-bit integers, computed as Java does
(`>>` keeps the sign); floats by their bits. Follows `FastHash`, `BloomFilter64`, `BitSliceIndexRoaringBitmap` and
`ChunkedDictionary` of Paimon. Raises `Corrupt` for an index that is not what its head says, `Unsupported` for one whose
values cannot be listed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lakelens.codecs.paimon.index.file_index_bodies import explain_index_body
from lakelens.codecs.paimon.index.keys import choose_layout
from lakelens.codecs.paimon.types import TypeLike
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import Corrupt, Unsupported

_WORD = (1 << 32) - 1
_MAX_HASHES = 1 << 10


@dataclass(frozen=True, slots=True)
class BloomFilter:
    """A bloom filter: its hash functions and where its bits are."""

    data: Octets
    start: int
    end: int
    hashes: int

    def may_contain(self, hashed: int) -> bool:
        """Check whether a value with this hash may be in the file; False is proof.

        >>> from lakelens.codecs.hashes import hash_number
        >>> BloomFilter(bytes(4), 0, 4, 3).may_contain(hash_number(7))
        False
        """
        size = 8 * (self.end - self.start)
        low, high = hashed & _WORD, hashed >> 32
        for i in range(1, self.hashes + 1):
            combined = low + i * high & _WORD
            place = (combined ^ _WORD if combined >> 31 else combined) % size
            if not self.data[self.start + (place >> 3)] >> (place & 7) & 1:
                return False
        return True


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a column, each once, as the index stores them; whether there are nulls among its `rows`."""

    values: tuple[Any, ...]
    has_null: bool
    rows: int


@dataclass(frozen=True, slots=True)
class Slices:
    """The amounts of the values of one sign: `least` is added to the bits, `existence` has the rows with a value."""

    sign: int
    least: int
    existence: Any
    slices: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.existence)

    def count(self, value: int) -> int:
        """Count how many rows have a value."""
        bits = value * self.sign - self.least
        if bits < 0 or bits >> len(self.slices):
            return 0
        rows = self.existence
        for i, part in enumerate(self.slices):
            rows = rows & part if bits >> i & 1 else rows - part
        return len(rows)

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest value. There is one."""
        ends = self.sign * self._find_end(False), self.sign * self._find_end(True)
        return min(ends), max(ends)

    def _find_end(self, is_most: bool) -> int:
        rows, bits = self.existence, 0
        for i in reversed(range(len(self.slices))):
            ones = rows & self.slices[i]
            zeros = rows - self.slices[i]
            has_bit = bool(ones) if is_most else not zeros
            rows = ones if has_bit else zeros
            bits |= has_bit << i
        return self.least + bits


@dataclass(frozen=True, slots=True)
class SlicedValues:
    """A bit-sliced index: its values by sign, and whether there are nulls among its `rows`."""

    parts: tuple[Slices, ...]
    has_null: bool
    rows: int

    def __len__(self) -> int:
        return sum(map(len, self.parts))


Probe = BloomFilter | Values | SlicedValues


def read_probe(data: Octets, start: int, end: int, kind: str, type_: TypeLike | None) -> Probe | None:
    """Read what an index of a kind at `data[start:end]` knows; None for kinds that are not known here.

    `type_` is the column's. Raises `Corrupt` and `Unsupported`.

    >>> data = bytes.fromhex("00000003") + bytes(12)
    >>> read_probe(data, 0, 16, "bloom-filter", "INT").hashes
    3
    """
    read = _READERS.get(kind)
    if read is None:
        return None
    return read(data, explain_index_body(data, start, end, kind, "", type_, 0), type_)


def _read_bloom(data: Octets, body: Span, type_: TypeLike | None) -> BloomFilter:
    first = _Parts(body)["number of hash functions"]
    if not 0 < first.value <= _MAX_HASHES or first.end >= body.end:
        message = "no bloom filter"
        raise Corrupt(message, offset=body.start, expected=f"1 to {_MAX_HASHES} hashes", seen=first.value)
    return BloomFilter(data, first.end, body.end, first.value)


def _read_bitmap(data: Octets, body: Span, type_: TypeLike | None) -> Values:
    facts = _Parts(Span(body.start, body.start, "head"))
    values: list[Any] = []
    for part in _list(body):
        if part.label == "head":
            facts = _Parts(part)
        elif part.label == "dictionary" or part.label.startswith("index block "):
            values += [leaf.value for leaf in _walk(part) if leaf.label == "value"]
        elif part.label == "dictionary and bitmaps":
            raise Unsupported(f"a bitmap index at byte {body.start} whose values are not listed: {part.note}")
    count = facts["distinct values"].value
    if count != len(values):
        message = "a bitmap index with another number of values than recorded"
        raise Corrupt(message, offset=body.start, expected=count, seen=len(values))
    return Values(tuple(values), bool(facts["has null"].value), facts["row count"].value)


def _read_range(data: Octets, body: Span, type_: TypeLike | None) -> Values:
    parts = _Parts(body)
    header = _Parts(parts["header"])
    rows, count = header["row count"].value, header["distinct values"].value
    if count <= 0:
        return Values((), rows > 0, rows)
    values: list[Any] = []
    dictionary = list(_list(parts["dictionary"]))
    after = next((part.start for part in dictionary if part.label == "values"), body.end)
    for part in dictionary:
        for chunk in _walk(part) if part.label == "chunks" else ():
            if chunk.label.startswith("chunk ") and not chunk.is_leaf:
                values += _read_chunk(data, body.end, after, _Parts(chunk), type_)
    if len(values) != count:
        message = "a range-bitmap index with another number of values than recorded"
        raise Corrupt(message, offset=body.start, expected=count, seen=len(values))
    existence = _Parts(parts["slices"])["existence bitmap"]
    return Values(tuple(values), len(existence.value) < rows, rows)


def _read_chunk(data: Octets, end: int, base: int, chunk: _Parts, type_: TypeLike | None) -> list[Any]:
    """Read the values of a chunk: the first is in its head, the others behind the chunks."""
    layout = choose_layout(type_)
    if layout is None:
        raise Unsupported("a range-bitmap index whose values cannot be separated")
    first, is_text = chunk["first value"].value, layout == "text"
    start, size = base + chunk["offset"].value, chunk["size"].value
    offsets = chunk["offsets length"].value if is_text else 0
    length = chunk["values length"].value + offsets
    smallest = 4 if is_text else struct.calcsize(layout)
    if size < 0 or offsets < 0 or length < size * smallest or start < base or start + length > end:
        raise Corrupt("a chunk whose values are not inside its index", offset=base, seen=f"{size} values")
    stored = bytes(data[start : start + length])
    if not is_text:
        return [first, *struct.unpack(f">{size}{layout[1:]}", stored[: size * smallest])]
    values, texts = [first], stored[offsets:]
    for place in struct.unpack(f">{size}i", stored[: 4 * size]):
        width = int.from_bytes(texts[place : place + 4], "big", signed=True) if place >= 0 else -1
        if not 0 <= width <= len(texts) - place - 4:
            raise Corrupt("a value that leaves its chunk", offset=start, seen=width)
        text = texts[place + 4 : place + 4 + width]
        try:
            values.append(text.decode())
        except UnicodeDecodeError:
            values.append(text)
    return values


def _read_bsi(data: Octets, body: Span, type_: TypeLike | None) -> SlicedValues:
    rows, parts = 0, []
    for part in _list(body):
        if part.label == "row count":
            rows = part.value
        elif part.label in ("positive values", "negative values"):
            found = _Parts(part)
            slices = tuple(found[f"slice {i}"].value for i in range(found["slice count"].value))
            sign = 1 if part.label.startswith("positive") else -1
            parts.append(Slices(sign, found["min"].value, found["existence bitmap"].value, slices))
    filled = tuple(part for part in parts if len(part))
    return SlicedValues(filled, sum(map(len, filled)) < rows, rows)


_READERS: dict[str, Callable[[Octets, Span, TypeLike | None], Probe]] = {
    "bloom-filter": _read_bloom,
    "bitmap": _read_bitmap,
    "range-bitmap": _read_range,
    "bsi": _read_bsi,
}


class _Parts(dict[str, Span]):
    """The parts of a span by label; one that is missing raises `Corrupt`."""

    def __init__(self, span: Span) -> None:
        super().__init__({part.label: part for part in _list(span)})
        self._start = span.start

    def __missing__(self, label: str) -> Span:
        raise Corrupt(f"an index without its {label}", offset=self._start)


def _list(span: Span) -> Iterator[Span]:
    """List the parts of a span; raises the damage in place of a damaged one."""
    for part in span.iter_children():
        if part.error is not None:
            raise part.error
        yield part


def _walk(span: Span) -> Iterator[Span]:
    for part in span.walk():
        if part.error is not None:
            raise part.error
        yield part
