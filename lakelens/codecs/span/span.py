"""Spans: which bytes mean what. The explaining path of every codec gives a tree of them.

    root [0, n)
    ├─ child [0, a)            children follow each other without a gap and without an overlap: every byte of
    ├─ child [a, b)            the root is in exactly one leaf; padding and bytes that nobody explains are
    └─ child [b, n)            leaves too, and their role says so

Positions are absolute in the explained bytes. A tree may be far larger than the bytes: children (and expensive values) are
made when they are asked for and never kept, so walking a tree of millions of spans needs the memory of one path.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import IO, Any, Literal, Protocol, cast, overload

from lakelens.errors import LakeError, visible_line

# "" is a field or a structure; `padding` fills up to a boundary; `unused` are bytes of a slot that its value does not need;
# `null` is the room of a null; `damage` is where a decoder gave up; `unexplained` is what no specification describes
Role = Literal["", "padding", "unused", "null", "damage", "unexplained"]


class Octets(Protocol):
    """Bytes, or anything with a length and slices of bytes: a file is read no further than it is explained."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: int) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> bytes: ...


class Span:
    """Some bytes, what they are called, and what they mean.

    Parameters
    ----------
    start, end : int
        Absolute positions: the bytes are `data[start:end]`.
    label : str
        The specification's name of the field or structure.
    value : object
        What the bytes decode to, or a `Deferred` that makes it. None: no value of its own, or null (see `role`).
    note : str
        How the bytes are encoded.
    children : sequence of Span, or callable
        The parts, empty for a leaf; a callable makes them when they are asked for.
    role : str
        "" for a field or structure, else "padding", "unused", "null", "damage" or "unexplained".
    number : int, optional
        The position of the field in its row; all bytes of one field have the same.
    origin : int, optional
        The byte from which offsets inside this structure count.
    error : LakeError, optional
        What is wrong with a `damage` leaf.
    unpacked : callable, optional
        For compressed bytes: makes their content and its own tree.

    Examples
    --------

    >>> root = Span(0, 3, "pair", children=(Span(0, 1, "first", 7), Span(1, 3, "rest", role="padding")))
    >>> [(leaf.label, leaf.start, leaf.end) for leaf in root.leaves()]
    [('first', 0, 1), ('rest', 1, 3)]
    >>> root.find(2).label
    'rest'
    """

    __slots__ = (
        "_children",
        "_unpacked",
        "_value",
        "end",
        "error",
        "label",
        "note",
        "number",
        "origin",
        "role",
        "start",
    )

    def __init__(
        self,
        start: int,
        end: int,
        label: str,
        value: Any = None,
        note: str = "",
        children: Sequence[Span] | Callable[[], Iterable[Span]] = (),
        *,
        role: Role = "",
        number: int | None = None,
        origin: int | None = None,
        error: LakeError | None = None,
        unpacked: Callable[[], tuple[bytes, Span]] | None = None,
    ) -> None:
        self.start = start
        self.end = end
        self.label = label
        self._value = value
        self.note = note
        self._children = children
        self.role: Role = role
        self.number = number
        self.origin = origin
        self.error = error
        self._unpacked = unpacked

    @property
    def value(self) -> Any:
        """What the bytes decode to."""
        return self._value.make() if isinstance(self._value, Deferred) else self._value

    @property
    def children(self) -> tuple[Span, ...]:
        """The parts, which tile the span; empty for a leaf. Deferred ones are made again each time."""
        if callable(self._children):
            return tile(self._children, self.start, self.end)
        return tuple(self._children)

    def iter_children(self) -> Iterator[Span]:
        """The parts one after another: what is not asked for is not made, however many there are."""
        if callable(self._children):
            return iter_tiles(self._children, self.start, self.end)
        return iter(self._children)

    @property
    def is_deferred(self) -> bool:
        """Whether the value is made only when it is asked for."""
        return isinstance(self._value, Deferred)

    @property
    def is_leaf(self) -> bool:
        """Whether it has no parts; makes none to find out."""
        return not callable(self._children) and not self._children

    @property
    def is_packed(self) -> bool:
        """Whether the bytes are compressed: `unpack` gives their content."""
        return self._unpacked is not None

    def unpack(self) -> tuple[bytes, Span]:
        """Decompress the bytes.

        Returns
        -------
        tuple of bytes and Span
            The content and its own tree, whose positions count in the content.

        Raises
        ------
        Corrupt
            The bytes do not decompress.
        ValueError
            The bytes are not compressed (`is_packed` is False).
        """
        if self._unpacked is None:
            raise ValueError(f"{self.label}: these bytes are not compressed")
        return self._unpacked()

    def __len__(self) -> int:
        return self.end - self.start

    def __bool__(self) -> bool:
        return True

    def walk(self) -> Iterator[Span]:
        """This span and everything below it, in order of bytes, parents first."""
        stack: list[Iterator[Span]] = [iter((self,))]
        while stack:
            span = next(stack[-1], None)
            if span is None:
                stack.pop()
                continue
            yield span
            stack.append(span.iter_children())

    def leaves(self) -> Iterator[Span]:
        """The leaves, in order of bytes."""
        stack: list[Iterator[Span]] = [iter((self,))]
        while stack:
            span = next(stack[-1], None)
            if span is None:
                stack.pop()
                continue
            children = span.iter_children()
            first = next(children, None)
            if first is None:
                yield span
            else:
                stack.append(chain((first,), children))

    def find(self, offset: int) -> Span:
        """Find the leaf that holds a byte.

        Parameters
        ----------
        offset : int
            The absolute position of the byte.

        Returns
        -------
        Span
            The leaf; the last of `trace`.

        Raises
        ------
        ValueError
            The byte is outside of the span.
        """
        return self.trace(offset)[-1]

    def trace(self, offset: int) -> tuple[Span, ...]:
        """Trace the spans around a byte, from this one down to the leaf.

        Parameters
        ----------
        offset : int
            The absolute position of the byte.

        Returns
        -------
        tuple of Span
            This span first, the leaf last.

        Raises
        ------
        ValueError
            The byte is outside of the span.
        """
        if not self.start <= offset < self.end:
            raise ValueError(f"byte {offset} is outside of {self.start} to {self.end}")
        path = [self]
        while True:
            around = (child for child in path[-1].iter_children() if child.start <= offset < child.end)
            found = next(around, None)
            if found is None:
                return tuple(path)
            path.append(found)

    def check(self) -> None:
        """Raise the first error of any leaf; walks the whole tree, compressed content too.

        Raises
        ------
        LakeError
            The error of the first leaf that has one.
        """
        for leaf in self.leaves():
            if leaf.error is not None:
                raise leaf.error
            if leaf.is_packed:
                leaf.unpack()[1].check()

    def __repr__(self) -> str:
        value = "" if self._value is None or self.is_deferred else f" = {self._value!r}"
        return visible_line(f"<Span {self.start}..{self.end} {self.label}{value[:80]}>")


class Deferred:
    """A value that is made when it is asked for.

    >>> Span(0, 1, "count", Deferred(lambda: 3)).value
    3
    """

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def tile(make: Callable[[], Iterable[Span]], start: int, end: int) -> tuple[Span, ...]:
    """The spans that `make` yields until it ends or raises a `LakeError`, filled up so that they cover the range.

    Bytes between two spans or after the last one become an `unexplained` leaf, or a `damage` leaf where an error ended the
    explanation: so every explanation tiles its bytes, whatever they are. A span that leaves the range or overlaps the one
    before is a mistake of the codec and raises `ValueError`.

    >>> tile(lambda: iter([Span(0, 2, "magic")]), 0, 5)
    (<Span 0..2 magic>, <Span 2..5 unexplained>)
    """
    return tuple(iter_tiles(make, start, end))


def iter_tiles(make: Callable[[], Iterable[Span]], start: int, end: int) -> Iterator[Span]:
    """The spans of `tile` one after another, each made when it is asked for.

    >>> next(iter_tiles(lambda: (Span(n, n + 1, "byte") for n in range(10**12)), 0, 10**12))
    <Span 0..1 byte>
    """
    position, error = start, None
    made = iter(make())
    while True:
        try:
            span = next(made, None)
        except LakeError as failure:
            error = failure
            break
        if span is None:
            break
        if span.start < position or span.end > end or span.end < span.start:
            raise ValueError(f"{span!r} does not fit between {position} and {end}")
        if span.start > position:
            yield Span(position, span.start, "unexplained", role="unexplained")
        yield span
        position = span.end
    if error is not None:
        yield damaged_leaf(position, end, error)
    elif position < end:
        yield Span(position, end, "unexplained", role="unexplained")


def damaged_leaf(start: int, end: int, error: LakeError) -> Span:
    """A leaf for bytes that could not be explained, with what is wrong.

    >>> damaged_leaf(4, 9, LakeError("cut short")).note
    'cut short'
    """
    return Span(start, end, "damaged", None, error.reason, role="damage", error=error)


# Some bytes as a file object, for decoders that take files.


class OctetsFile(io.RawIOBase):
    """`data[start:end]` as a file to read, read no further than asked.

    >>> file = OctetsFile(b"abcdef", 2, 5)
    >>> file.seek(-2, 2), file.read()
    (1, b'de')
    """

    def __init__(self, data: Octets, start: int, end: int) -> None:
        self.octets, self.first, self.size, self.at = data, start, end - start, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, base: int = 0) -> int:
        self.at = max(0, offset + (self.size if base == 2 else self.at if base == 1 else 0))
        return self.at

    def read(self, size: int | None = -1) -> bytes:
        stop = self.size if size is None or size < 0 else min(self.at + size, self.size)
        read = bytes(self.octets[self.first + self.at : self.first + max(stop, self.at)])
        self.at += len(read)
        return read


class EmbeddedFile:
    """The bytes of a file inside of others, for decoders that take files."""

    def __init__(self, data: Octets, start: int, end: int) -> None:
        self.data, self.start, self.end = data, start, end

    @property
    def view(self) -> IO[bytes]:
        """The bytes as a file."""
        return cast(IO[bytes], OctetsFile(self.data, self.start, self.end))
