"""The containers of a Roaring bitmap with a name for every byte; `lakelens.codecs.bitmaps.roaring` draws the layout.

    array container     lines of four values
    bitset container    1024 words, each with the positions whose bits are set
    run container       number of runs, then start and length - 1 of each

Values and words give whole positions: the keys of the container and of its bucket are added.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial

from lakelens.codecs.bitmaps.roaring import WHAT, Container, check_cardinality
from lakelens.codecs.span.reader import SpanReader, damage_span_if, format_count, group_items
from lakelens.codecs.span.span import Deferred, Octets, Span

VALUES_IN_A_LINE = 4


def explain_containers(
    data: Octets, containers: list[Container], high: int, first: int, stop: int
) -> Iterator[Span]:
    """Containers `first` to `stop` - 1 of these; `high` is added to their positions."""
    for container in containers[first:stop]:
        explain = _EXPLAIN[container.kind]
        base = high + (container.key << 16)
        yield Span(
            container.start,
            container.end,
            container.kind,
            None,
            f"container {container.number}: {format_count(container.cardinality, 'position')} from {base}",
            partial(explain, data, container, base),
            number=container.number,
        )


def _explain_array(data: Octets, container: Container, base: int) -> Iterator[Span]:
    raw = bytes(data[container.start : container.end])
    values = struct.unpack(f"<{len(raw) // 2}H", raw)
    for first in range(0, len(values), VALUES_IN_A_LINE):
        line = range(first, min(first + VALUES_IN_A_LINE, len(values)))
        leaves = []
        for i in line:
            at = container.start + 2 * i
            leaf = Span(
                at, at + 2, "value", base + values[i], "uint16, little-endian", number=container.number
            )
            wrong = i > 0 and values[i] <= values[i - 1]
            leaves.append(damage_span_if(wrong, leaf, "the values of an array container do not ascend"))
        label = f"values {first} to {line[-1]}" if len(line) > 1 else f"value {first}"
        positions = tuple(base + values[i] for i in line)
        yield Span(
            leaves[0].start, leaves[-1].end, label, positions, "uint16 each", leaves, number=container.number
        )


def _explain_words(data: Octets, container: Container, base: int) -> Iterator[Span]:
    words = struct.unpack("<1024Q", bytes(data[container.start : container.end]))
    ones = 0
    for i, word in enumerate(words):
        at, lowest = container.start + 8 * i, base + 64 * i
        ones += word.bit_count()
        note = f"64 bits, lowest first: {word.bit_count()} of positions {lowest} to {lowest + 63}"
        value = Deferred(partial(_list_positions, word, lowest))
        yield Span(at, at + 8, f"word {i}", value, note, number=container.number)
    check_cardinality("bitmap", container, ones)


def _list_positions(word: int, lowest: int) -> tuple[int, ...]:
    """The positions whose bits are set in a word."""
    return tuple(lowest + i for i in range(64) if word >> i & 1)


def _explain_runs(data: Octets, container: Container, base: int) -> Iterator[Span]:
    reader = SpanReader(data, container.start, container.end, WHAT)
    count = reader.number("<H", "number of runs", number=container.number)
    yield count
    raw = reader.octets(4 * count.value, "a run container")
    numbers = struct.unpack(f"<{2 * count.value}H", raw)
    starts, lengths = numbers[::2], numbers[1::2]
    ends = tuple(first + more for first, more in zip(starts, lengths, strict=True))
    place = container.start + 2

    def make(first: int, stop: int) -> Iterator[Span]:
        for i in range(first, stop):
            at, lowest, highest = place + 4 * i, base + starts[i], base + ends[i]
            leaf = Span(at, at + 2, "start", lowest, "uint16, little-endian", number=container.number)
            wrong = ends[i] > 0xFFFF or (i > 0 and starts[i] <= ends[i - 1])
            leaf = damage_span_if(
                wrong,
                leaf,
                "the runs of a run container overlap or leave it",
                seen=f"{starts[i]} to {ends[i]}",
            )
            note = f"uint16, little-endian: {format_count(lengths[i] + 1, 'position')}"
            more = Span(at + 2, at + 4, "length - 1", lengths[i], note, number=container.number)
            label, note = f"run {i}", f"positions {lowest} to {highest}"
            yield Span(
                at, at + 4, label, range(lowest, highest + 1), note, (leaf, more), number=container.number
            )

    yield from group_items(count.value, lambda i: place + 4 * i, "runs", make)
    check_cardinality("run", container, sum(lengths) + count.value)


_EXPLAIN = {
    "array container": _explain_array,
    "bitset container": _explain_words,
    "run container": _explain_runs,
}
