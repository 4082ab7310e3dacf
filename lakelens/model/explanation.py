"""Bytes with names: the tree of spans over some bytes, together with the bytes and where they came from."""

from __future__ import annotations

from lakelens.codecs.span import Octets, Span
from lakelens.display import Displayable


class Explanation(Span, Displayable):
    """A `Span` that holds its bytes, so that it can be shown as an annotated hex dump.

    `data` are the bytes that positions count in; `path` is the file they came from and `base` where `data[0]` lies in it
    (None where that has no meaning: decompressed or decoded content). `what` is the bold noun ("BinaryRow", "Avro
    file"), `summary` a sentence, `place` and `details` say in words which field of which object the bytes are.
    """

    __slots__ = ("base", "data", "details", "path", "place", "summary", "what")

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
    ) -> None:
        adopt(self, span)
        self.data = data
        self.what = what or span.label
        self.summary = summary or span.note
        self.place = place
        self.details = details
        self.path = path
        self.base = base

    def at(self, offset: int) -> Explanation:
        """The smallest structure that is worth a view around a byte: the deepest span with parts that holds it."""
        path = [span for span in self.trace(offset) if not span.is_leaf]
        return self.focus(path[-1] if path else self)

    def focus(self, span: Span) -> Explanation:
        """A view of one span of this explanation, with the same bytes and place."""
        return Explanation(
            self.data,
            span,
            what=span.label,
            place=self.place,
            details=self.details,
            path=self.path,
            base=self.base,
        )

    def unpacked(self, span: Span | None = None) -> Explanation:
        """The decompressed content of a compressed span (by default this one) as an explanation of its own."""
        packed = self if span is None else span
        data, inner = packed.unpack()
        return Explanation(
            data, inner, place=f"{packed.label} of {self.what}", details=self.details, path=self.path
        )

    def __repr__(self) -> str:
        return f"<Explanation of {self.what}: {len(self)} bytes from {self.start}>"


def adopt(target: Span, span: Span) -> None:
    """Give `target` every part of `span`."""
    for name in Span.__slots__:
        setattr(target, name, getattr(span, name))
