"""Roaring bitmaps with a name for every byte; `lakelens.codecs.bitmaps.roaring` draws the layout.

    32-bit bitmap                                    64-bit bitmap
    ├─ cookie header      cookie, size               ├─ size
    ├─ run flags          one bit for a container    └─ bucket           one for each upper half of the positions
    ├─ descriptive header key, cardinality - 1          ├─ key
    ├─ offset header      where each container starts   └─ 32-bit bitmap
    └─ containers
       ├─ array container    lines of four values
       ├─ bitset container   1024 words, each with the positions whose bits are set
       └─ run container      number of runs, then start and length - 1 of each

Names are those of the RoaringFormatSpec. Values and words give whole positions: the container's and the bucket's key added.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial

from lakelens.codecs.bitmaps.roaring import (
    BITMAP_BYTES,
    COOKIE,
    COOKIE_WITH_RUNS,
    MANY,
    MAX_ARRAY,
    MIN_BITMAP_BYTES,
    WHAT,
    Head,
    RoaringContainer,
    check_cardinality,
    decode_roaring32,
    decode_roaring64,
    find_containers,
    measure_large,
    read_head,
)
from lakelens.codecs.span.reader import (
    SpanReader,
    collect,
    damage_span_if,
    explain_numbers,
    format_count,
    group_items,
)
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt

VALUES_IN_A_LINE = 4


def explain_containers(
    data: Octets, containers: list[RoaringContainer], high: int, first: int, stop: int
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


def _explain_array(data: Octets, container: RoaringContainer, base: int) -> Iterator[Span]:
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


def _explain_words(data: Octets, container: RoaringContainer, base: int) -> Iterator[Span]:
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
    """List the positions whose bits are set in a word."""
    return tuple(lowest + i for i in range(64) if word >> i & 1)


def _explain_runs(data: Octets, container: RoaringContainer, base: int) -> Iterator[Span]:
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


_PLAIN = COOKIE.to_bytes(4, "little")


def explain_roaring32(data: Octets, start: int = 0, end: int | None = None, *, high: int = 0) -> Span:
    """One 32-bit bitmap that fills `data[start:end]`; its value is the set of positions, as `decode_roaring32` gives it.

    `high` is added to every position in the parts: the key of a 64-bit bitmap's bucket, shifted by 32 bits. Follows
    the RoaringFormatSpec, "standard 32-bit".

    >>> span = explain_roaring32(bytes.fromhex("3a3000000100000000000100100000000200 0300"))
    >>> [leaf.value for leaf in span.leaves()], list(span.value)
    ([12346, 1, 0, 1, 16, 2, 3], [2, 3])
    """
    end, note = len(data) if end is None else end, "Roaring bitmap of 32-bit positions"
    value = Deferred(lambda: decode_roaring32(bytes(data[start:end]), base=start))
    children = partial(_explain_bitmap32, data, start, end, high)
    return Span(start, end, "32-bit bitmap", value, note, children, origin=start)


def explain_roaring64(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """One 64-bit bitmap that fills `data[start:end]`; its value is the set of positions, as `decode_roaring64` gives it.

    Follows the RoaringFormatSpec, "extension for 64-bit implementations".

    >>> explain_roaring64(bytes(8)).children
    (<Span 0..8 size = 0>,)
    """
    end, note = (
        len(data) if end is None else end,
        "Roaring bitmaps of 32-bit positions, one for each upper half",
    )
    value = Deferred(lambda: decode_roaring64(bytes(data[start:end]), base=start))
    children = partial(_explain_bitmap64, data, start, end)
    return Span(start, end, "64-bit bitmap", value, note, children, origin=start)


def measure_roaring32(data: Octets, start: int, end: int) -> int:
    """Measure the byte after a 32-bit bitmap that starts at `start`, from its headers alone. Raises `Corrupt`."""
    plain = _measure_plain(data, start, end)
    if plain is not None:
        return plain
    reader = SpanReader(data, start, end, WHAT)
    head = read_head(reader)
    if head.count >= MANY and isinstance(data, bytes):
        stop = measure_large(data, head, end, is_checked=False)
        if stop is not None:
            return stop
    for _ in find_containers(reader, head):
        pass
    return reader.at


def _measure_plain(data: Octets, start: int, end: int) -> int | None:
    """The same for a whole bitmap without run containers, fast: there may be millions of small ones; None for others."""
    head = bytes(data[start : min(start + 8, end)])
    if len(head) < 8 or head[:4] != _PLAIN:
        return None
    count = int.from_bytes(head[4:], "little")
    if not count:
        return start + 8
    if count > 1 << 16 or 8 * count > end - start - 8:
        return None
    pairs = struct.unpack(f"<{2 * count}H", bytes(data[start + 8 : start + 8 + 4 * count]))
    sizes = sum(2 * (less + 1) if less < MAX_ARRAY else BITMAP_BYTES for less in pairs[1::2])
    stop = start + 8 + 8 * count + sizes
    return stop if stop <= end else None


def _explain_bitmap64(data: Octets, start: int, end: int) -> Iterator[Span]:
    reader = SpanReader(data, start, end, WHAT)
    describe = partial(format_count, noun="bucket")
    size = reader.count("<q", "size", "bitmaps", 4 + MIN_BITMAP_BYTES, describe=describe)
    yield size
    if size.error is not None:
        return
    count = size.value
    # the length of a bucket is only in its headers: each group begins where the one before it ended
    step = 1024 if count > 1024 else 1
    previous, first = -1, 0
    while first < count and reader.left:
        stop = min(first + step, count)
        begin, before = reader.at, previous
        previous = _skip_buckets(reader, stop - first, previous)
        if step == 1:
            yield from _explain_buckets(data, begin, reader.at, 1, before)
        else:
            children = partial(_explain_buckets, data, begin, reader.at, stop - first, before)
            label, note = f"buckets {first} to {stop - 1}", f"{stop - first} of {count}"
            yield Span(begin, reader.at, label, None, note, children)
        first = stop
    if first < count:
        reader.fail(f"{WHAT} ends before its last bucket", end, expected=count, seen=first)
    if reader.left:
        reader.fail("bytes after the end of a Roaring bitmap", reader.at, seen=f"{reader.left} bytes")


def _skip_buckets(reader: SpanReader, count: int, previous: int) -> int:
    """Moves past buckets, to the end when one of them is damaged; gives the last key."""
    for _ in range(count):
        try:
            previous = int.from_bytes(reader.octets(4, "a bitmap's key"), "little")
            reader.at = measure_roaring32(reader.data, reader.at, reader.end)
        except Corrupt:
            reader.at = reader.end
            break
    return previous


def _explain_buckets(data: Octets, start: int, end: int, count: int, previous: int) -> Iterator[Span]:
    reader = SpanReader(data, start, end, WHAT)
    for _ in range(count):
        begin, before = reader.at, previous
        previous = _skip_buckets(reader, 1, previous)
        children = partial(_explain_bucket, data, begin, reader.at, before)
        yield Span(begin, reader.at, "bucket", None, "the positions with one upper half", children)
        if not reader.left:
            break


def _explain_bucket(data: Octets, start: int, end: int, previous: int) -> Iterator[Span]:
    reader = SpanReader(data, start, end, WHAT)
    key = reader.number("<I", "key", describe=lambda key: f"positions from {key << 32}")
    yield damage_span_if(
        key.value <= previous, key, "bitmap keys do not ascend", expected=f"more than {previous}"
    )
    yield explain_roaring32(data, reader.at, end, high=key.value << 32)


def _explain_bitmap32(data: Octets, start: int, end: int, high: int) -> Iterator[Span]:
    yield from _explain_cookie(data, start, end)
    head = read_head(SpanReader(data, start, end, WHAT))
    if head.flags is not None:
        runs = [str(i) for i in range(head.count) if head.runs[i // 8] >> i % 8 & 1]
        names = ", ".join(runs[:8]) + (f" and {len(runs) - 8} more" if len(runs) > 8 else "")
        note = (
            f"one bit for each container, lowest first: run containers {names}"
            if runs
            else "no run container"
        )
        yield Span(head.flags, head.pairs, "run flags", head.runs, note)
    if head.count:
        note = f"{format_count(head.count, 'container')}, each key and cardinality - 1"
        size = head.pairs + 4 * head.count
        yield Span(head.pairs, size, "descriptive header", None, note, partial(_explain_pairs, head, high))
        if head.offsets is not None:
            note = "where each container starts, from the cookie on"
            children = partial(_explain_offsets, data, head, end)
            yield Span(size, head.body, "offset header", None, note, children)
    containers, failure = collect(find_containers(SpanReader(data, head.body, end, WHAT), head))
    if containers:
        make = partial(explain_containers, data, containers, high)
        children = partial(
            group_items,
            len(containers),
            lambda i: containers[i].start if i < len(containers) else containers[-1].end,
            "containers",
            make,
        )
        yield Span(
            head.body, containers[-1].end, "containers", None, format_count(head.count, "container"), children
        )
    if failure is not None:
        raise failure
    if (stop := containers[-1].end if containers else head.body) < end:
        raise Corrupt("bytes after the end of a Roaring bitmap", offset=stop, seen=f"{end - stop} bytes")


def _explain_cookie(data: Octets, start: int, end: int) -> Iterator[Span]:
    """Explain the cookie header: with run containers the size is in its upper half."""
    reader = SpanReader(data, start, end, WHAT)
    cookie = int.from_bytes(reader.octets(4, "its cookie"), "little")
    reader.at = start
    if cookie & 0xFFFF == COOKIE_WITH_RUNS:
        first = reader.number("<H", "cookie", "SERIAL_COOKIE, there are run containers")
        second = reader.number("<H", "size - 1", describe=lambda size: format_count(size + 1, "container"))
    elif cookie == COOKIE:
        first = reader.number("<I", "cookie", "SERIAL_COOKIE_NO_RUNCONTAINER")
        second = reader.number("<I", "size", describe=lambda size: format_count(size, "container"))
        if second.value > 1 << 16:
            second = damage_span_if(
                True, second, "an impossible count of containers", expected="at most 65536"
            )
    else:
        return
    yield Span(start, reader.at, "cookie header", None, "", (first, second))


def _explain_pairs(head: Head, high: int) -> Iterator[Span]:
    make = partial(_explain_some_pairs, head, high)
    return group_items(head.count, lambda i: head.pairs + 4 * i, "containers", make)


def _explain_some_pairs(head: Head, high: int, first: int, stop: int) -> Iterator[Span]:
    for i in range(first, stop):
        at, key, cardinality = head.pairs + 4 * i, head.keys[i], head.cardinalities[i]
        previous = head.keys[i - 1] if i else -1
        leaf = Span(
            at, at + 2, "key", key, f"uint16, little-endian: positions from {high + (key << 16)}", number=i
        )
        leaf = damage_span_if(
            key <= previous, leaf, "container keys do not ascend", expected=f"more than {previous}"
        )
        note = f"uint16, little-endian: {format_count(cardinality, 'position')}"
        held = Span(at + 2, at + 4, "cardinality - 1", cardinality - 1, note, number=i)
        yield Span(
            at, at + 4, f"container {i}", None, format_count(cardinality, "position"), (leaf, held), number=i
        )


def _explain_offsets(data: Octets, head: Head, end: int) -> Iterator[Span]:
    # a container that does not fit is damage in its own place, not here
    containers, _ = collect(find_containers(SpanReader(data, head.body, end, WHAT), head))

    def check(i: int, leaf: Span) -> Span:
        leaf.number = i
        true = containers[i].start - head.start if i < len(containers) else leaf.value
        return damage_span_if(leaf.value != true, leaf, "a wrong container offset", expected=true)

    start, describe = head.body - 4 * head.count, lambda offset: f"byte {head.start + offset}"
    return explain_numbers(data, start, "<I", head.count, "container", check, describe=describe)
