"""Bytes with names: the tree of spans over some bytes, together with the bytes and where they came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any, ClassVar, Self
from uuid import UUID

from lakelens.codecs.span.span import Octets, Span
from lakelens.display import Interactive, call
from lakelens.errors import LakeError

# Explainable: the way from an object to the bytes it was read from.


class Source:
    """How an object finds its bytes: a function, and what that needs besides the object.

    A format hands the function down from its opener, which may load the explaining modules late: no object names them. One
    source serves many objects. It belongs to an open table: a copy of an object shares it, a pickle leaves it behind.

    >>> import copy, pickle
    >>> source = Source(lambda thing, path: (thing, path), "m0.avro")
    >>> source(7), copy.deepcopy(source) is source, pickle.loads(pickle.dumps(source))
    ((7, 'm0.avro'), True, None)
    """

    __slots__ = ("_explain", "_needs")

    def __init__(self, explain: Callable[..., Any], *needs: Any) -> None:
        self._explain = explain
        self._needs = needs

    def __call__(self, thing: Any, *more: Any) -> BytesView:
        explanation: BytesView = self._explain(thing, *self._needs, *more)
        return explanation

    def __copy__(self) -> Source:
        return self

    def __deepcopy__(self, memo: object) -> Source:
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()


class Bound:
    """What reads from an open table. It never changes, so that a copy is itself; a pickle would leave the table behind.

    >>> import copy, pickle
    >>> import lakelens as ll
    >>> files = ll.sample("iceberg").files
    >>> copy.deepcopy(files) is files
    True
    >>> pickle.loads(pickle.dumps(ll.sample("iceberg"))).format
    'iceberg'
    """

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> Any:
        hint = "pickle the table or a snapshot, which are opened again, or what to_arrow() gives"
        kind = type(self).__name__
        raise LakeError(f"a {kind} belongs to an open table and is not pickled", hint=hint)


class Reopened:
    """A table: a pickle or a copy of it is the table opened again, as it is then."""

    #: the function that opens it again, and what that is called with
    reopening: ClassVar[tuple[Callable[..., Any], tuple[Any, ...]] | None] = None

    def __reduce_ex__(self, protocol: object) -> Any:
        if self.reopening is None:
            raise LakeError("this table is not pickled", hint="open it again where it is needed")
        return self.reopening


class FoundAgain:
    """A state of a table: a pickle or a copy of it is the state of the same id of the table opened again."""

    id: int | None

    def __reduce_ex__(self, protocol: object) -> Any:
        table = getattr(self, "_table", None)
        if table is None:
            raise LakeError("this snapshot is not pickled", hint="open its table again where it is needed")
        return _find_again, (table, self.id)


def _find_again(table: Any, number: int | None) -> Any:
    return table.current if number is None else table.snapshot(number)


class Explainable:
    """Gives an object that came from bytes its annotated hex view.

    Plain objects are given a `Source` as `_source` by the format that made them; those that know their file themselves
    have a `bytes_view` of their own.
    """

    __slots__ = ()

    #: what to ask instead, where objects of a class never have bytes of their own
    _without_bytes: ClassVar[str | None] = None

    def bytes_view(self) -> BytesView:
        """The bytes that this was read from, each with its name: a `BytesView`, read when this is called.

        Damage is shown in its place (a leaf of role `damage`), not raised; `BytesView.check` raises it. Raises `Missing`
        when the file is gone, and `LakeError` for what has no bytes of its own, saying what to ask instead.
        """
        source = getattr(self, "_source", None)
        if source is None:
            hint = self._without_bytes or "what was inferred, made by hand or unpickled has none"
            raise LakeError(f"no bytes belong to this {type(self).__name__}", hint=hint)
        explanation: BytesView = source(self)
        return explanation


# a field has few parts: a length and a text, a value and its padding
_MOST_PARTS = 8
_SMALL = 512
_SCALARS = (bool, int, float, str, bytes, Decimal, date, time, timedelta, UUID)


class BytesView(Bound, Span, Interactive):
    """A `Span` that holds its bytes, so that it can be shown as an annotated hex dump.

    `data` are the bytes that positions count in; `path` is the file they came from and `base` where `data[0]` is in it
    (None for decompressed or decoded content). `what` is the bold noun ("BinaryRow", "Avro file"), `summary` a sentence,
    `place` and `details` say which field of which object the bytes are. `looked_at` is a byte that the view must show when
    not everything fits. `explain_again` explains other bytes of the same kind and length: what `edit()` asks.

    >>> row = BytesView(b"\\x05\\x00", Span(0, 2, "row", children=(Span(0, 1, "id", 5, "varint"), Span(1, 2, "end"))))
    >>> print(row)
    row: id 5, 2 bytes
    at  field  bytes  ASCII  meaning  value
     0  id     05     ·      varint   5
     1  end    00     ·
    """

    __slots__ = ("base", "data", "details", "explain_again", "looked_at", "path", "place", "summary", "what")

    def __init__(
        self,
        data: Octets,
        span: Span,
        *,
        what: str = "",
        summary: str = "",
        place: str = "",
        details: str = "",
        path: str | None = None,
        base: int | None = None,
        looked_at: int | None = None,
        explain_again: Callable[[bytes], Span] | None = None,
    ) -> None:
        adopt(self, span)
        self.data = data
        self.what = what or span.label
        self.summary = summary or span.note
        self.place = place
        self.details = details
        self.path = path
        self.base = base
        self.looked_at = looked_at
        self.explain_again = explain_again

    def edit(self) -> Any:
        """These bytes as a widget to change them in: type another byte, and see the values, the spans and the error change.

        Nothing is written: the bytes of the table stay as they are. Needs anywidget (`pip install 'lakelens[notebook]'`).

        Returns
        -------
        BenchWidget
            `widget.data` are the bytes as they are now, `widget.view` their explanation, `widget.reset()` the first ones.

        Raises
        ------
        LakeError
            The bytes are no row, bound, or bytes given to `explain_bytes`, or more than a screen of them.
        """
        return call("widgets:make_bench", self)

    def at(self, offset: int) -> BytesView:
        """The smallest structure around a byte that deserves its own view: more than a field and its parts.

        A small structure with positions of its own (a row, a bitmap) is shown whole. The view of a structure that is too
        large to show whole begins at the byte.

        Parameters
        ----------
        offset
            The position of the byte.

        Raises
        ------
        ValueError
            The position is outside of this span.
        """
        path = self.trace(offset)
        while len(path) > 1 and is_field(path[-1]) and not path[-1].is_packed:
            path = path[:-1]
        whole = next((span for span in reversed(path) if span.origin is not None), path[-1])
        if len(whole) <= _SMALL:
            path = path[: path.index(whole) + 1]
        found = self.focus(path[-1], looked_at=offset)
        found.origin = next((span.origin for span in reversed(path) if span.origin is not None), None)
        way = " › ".join((self.what, *(span.label for span in path[1:-1])))
        found.details = "; ".join(filter(None, (way if len(path) > 1 else "", self.details)))
        return found

    def focus(self, span: Span, *, looked_at: int | None = None) -> BytesView:
        """A view of one span of this explanation, with the same bytes and place."""
        return BytesView(
            self.data,
            span,
            what=self.what if span is self else span.label,
            summary=self.summary if span is self else "",
            place=self.place,
            details=self.details,
            path=self.path,
            base=self.base,
            looked_at=looked_at,
        )

    def unpacked(self, where: Span | int | None = None) -> BytesView:
        """The decompressed content of compressed bytes as an explanation of its own, with its own positions.

        Parameters
        ----------
        where
            A compressed span, or a byte inside one; by default this span itself.

        Raises
        ------
        ValueError
            The bytes are not compressed.
        Corrupt
            They cannot be decompressed.
        """
        packed = self if where is None else self.find(where) if isinstance(where, int) else where
        with self._in_file():
            data, inner = packed.unpack()
        place = f"{packed.label} of {self.what}" if packed is not self else self.place
        return BytesView(data, inner, place=place, details=self.details, path=self.path)

    @property
    def value(self) -> Any:
        """What the bytes decode to."""
        with self._in_file():
            return super().value

    def check(self) -> None:
        """Raise the first error of any leaf, with the path of the file; walks the whole tree, compressed content too.

        Raises
        ------
        LakeError
            The error of the first leaf that has one.
        """
        with self._in_file():
            super().check()

    @contextmanager
    def _in_file(self) -> Iterator[None]:
        """An error names the file: spans know only their bytes."""
        try:
            yield
        except LakeError as error:
            error.path = error.path or self.path
            raise

    def __repr__(self) -> str:
        return f"<BytesView of {self.what}: {len(self)} bytes from {self.start}>"


def is_field(span: Span) -> bool:
    """Check whether a span is one field: a leaf, or a value made of a few leaves.

    >>> is_field(Span(0, 3, "name", "ab", children=(Span(0, 1, "length"), Span(1, 3, "text"))))
    True
    >>> is_field(Span(0, 3, "record", {"name": "ab"}, children=(Span(0, 1, "length"), Span(1, 3, "text"))))
    False
    """
    if span.is_leaf:
        return True
    parts = list(islice(span.iter_children(), _MOST_PARTS + 1))
    if len(parts) > _MOST_PARTS or not all(part.is_leaf for part in parts):
        return False
    if any(part.is_packed for part in parts):
        return False
    if len(parts) > 1 and any(part.role in ("damage", "unexplained") for part in parts):
        return False
    if len(parts) == 1 or find_main(parts) is not None:
        return True
    if span.number is not None and all(part.number == span.number for part in parts):
        return True  # length and offset of a nested value, which is elsewhere
    try:
        value = span.value
    except LakeError:
        return False
    return span.number is not None if value is None else isinstance(value, _SCALARS)


def find_main(parts: Sequence[Span]) -> Span | None:
    """Find the only part that is more than padding; None when there are several or none."""
    main = [part for part in parts if part.role not in ("padding", "unused")]
    return main[0] if len(main) == 1 else None


def adopt(target: Span, span: Span) -> None:
    """Copy every part of `span` to `target`."""
    for name in Span.__slots__:
        setattr(target, name, getattr(span, name))
