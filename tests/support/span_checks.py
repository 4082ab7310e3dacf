"""What holds of every explanation, whatever the bytes: used by the tests of each codec's spans."""

from __future__ import annotations

from collections.abc import Callable

from lakelens.codecs.span.span import Span
from lakelens.errors import Corrupt, LakeError


def assert_tiles(span: Span, start: int, end: int) -> None:
    """Every byte is in exactly one leaf, leaves come in order, and children lie inside their parents."""
    assert (span.start, span.end) == (start, end)
    position = start
    for leaf in span.leaves():
        assert leaf.start == position, f"{leaf!r} does not begin at {position}"
        assert leaf.end >= leaf.start
        position = leaf.end
    assert position == end
    for node in span.walk():
        for child in node.children:
            assert node.start <= child.start <= child.end <= node.end, (node, child)


def find_error(span: Span) -> LakeError | None:
    """The first error that the explanation met, None when it met none."""
    try:
        span.check()
    except LakeError as error:
        return error
    return None


def assert_survives(explain: Callable[[bytes], Span], data: bytes, *, flips: int = 64) -> None:
    """Cut at every length and bits flipped: the tree still tiles; errors are `Corrupt` with an offset, or none."""
    step = max(1, len(data) // 200)
    damaged = [data[:length] for length in range(0, len(data), step)]
    for i in range(flips):
        place = i * 7919 % (len(data) * 8) if data else 0
        flipped = bytearray(data)
        if flipped:
            flipped[place // 8] ^= 1 << place % 8
        damaged.append(bytes(flipped))
    for piece in damaged:
        span = explain(piece)
        assert_tiles(span, 0, len(piece))
        error = find_error(span)
        assert error is None or not isinstance(error, Corrupt) or error.offset is not None, error
