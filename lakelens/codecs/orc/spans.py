"""An ORC file byte by byte: stripes with their streams, metadata, footer and postscript, every field with its name.

    "ORC" | stripe … | [stripe statistics] | Metadata | Footer | PostScript | its length, 1 byte
    stripe   index streams | data streams | StripeFooter

Follows the ORC specification, v1 ("File Tail", "Stripes"). The messages are protobuf, compressed in chunks unless the
postscript says NONE. Only tails and stripe footers are read, and streams where they are looked at; values in data
streams are not decoded. Refused with `Corrupt`: a tail that does not fit the file, messages that are none, and stripes or
streams that overlap or lie where they cannot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial
from typing import IO, Any, cast

from lakelens.codecs.orc.chunk_spans import (
    Compression,
    decode_section,
    explain_message_section,
    explain_stream,
)
from lakelens.codecs.orc.footer import MAGIC, OrcFooter, decode_footer
from lakelens.codecs.orc.proto_schema import (
    BLOOM_FILTERS,
    FOOTER,
    METADATA,
    POSTSCRIPT,
    ROW_INDEX,
    STRIPE_FOOTER,
)
from lakelens.codecs.orc.protobuf_spans import explain_message
from lakelens.codecs.span.octets import OctetsFile
from lakelens.codecs.span.reader import format_count, shift_errors
from lakelens.codecs.span.span import Deferred, Octets, Span, damaged_leaf
from lakelens.errors import Corrupt, LakeError

_INDEXES = {"ROW_INDEX": ROW_INDEX, "BLOOM_FILTER": BLOOM_FILTERS, "BLOOM_FILTER_UTF8": BLOOM_FILTERS}
_ENCRYPTED = ("ENCRYPTED_INDEX", "ENCRYPTED_DATA")
_GROUP = 1024
_MAX_PATH = 200
_MAX_PADDING = 1 << 24


def explain_orc(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """A tree over an ORC file; its value is its `OrcFooter`.

    Compressed chunks are leaves to unpack. Follows the ORC specification.

    >>> import io, pyarrow as pa, pyarrow.orc
    >>> sink = io.BytesIO()
    >>> pyarrow.orc.write_table(pa.table({"id": [1, 2, 3]}), sink)
    >>> root = explain_orc(sink.getvalue())
    >>> [part.label for part in root.children]
    ['magic', 'stripe 0', 'metadata', 'footer', 'postscript', 'postscript length']
    >>> root.value.num_rows
    3
    """
    stop = len(data) if end is None else end
    file = _File(data, start, stop)
    return Span(start, stop, "ORC file", Deferred(file.decode), "Apache ORC", file.explain)


class _File:
    """The bytes of a file and what its tail says, decoded once, when first needed."""

    def __init__(self, data: Octets, start: int, end: int) -> None:
        self.data, self.start, self.end = data, start, end

    def decode(self) -> OrcFooter:
        view = cast(IO[bytes], OctetsFile(self.data, self.start, self.end))
        with shift_errors(self.start):
            return decode_footer(view)

    @cached_property
    def postscript_start(self) -> int:
        """Where the postscript begins. Raises `Corrupt` when the file does not end as ORC does."""
        tail = bytes(self.data[max(self.start, self.end - 4) : self.end])
        if tail[-4:-1] != MAGIC:
            raise Corrupt(
                "an ORC file that is cut: its end is missing",
                offset=max(self.start, self.end - 4),
                expected="ORC before the last byte",
                seen=tail.hex(),
            )
        if tail[-1] > self.end - self.start - 1:
            raise Corrupt(
                "a postscript longer than the file",
                offset=self.end - 1,
                expected=f"at most {self.end - self.start - 1}",
                seen=tail[-1],
            )
        return self.end - 1 - tail[-1]

    @cached_property
    def postscript(self) -> Span:
        stored = bytes(self.data[self.postscript_start : self.end - 1])
        return explain_message(stored, POSTSCRIPT, "postscript", base=self.postscript_start)

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        facts: Mapping[str, Any] = self.postscript.value
        return facts

    @cached_property
    def compression(self) -> Compression:
        size = self.facts.get("compressionBlockSize", 1 << 18)
        return Compression(self.facts.get("compression", "NONE"), size)

    @cached_property
    def footer(self) -> Mapping[str, Any]:
        start, end = self.sections["footer"]
        return decode_section(self.data, start, end, FOOTER, self.compression)

    @cached_property
    def sections(self) -> dict[str, tuple[int, int]]:
        """Where stripe statistics, metadata and footer lie. Raises `Corrupt` when they do not fit the file."""
        places = {}
        at = self.postscript_start
        for name in ("footer", "metadata", "stripeStatistics"):
            length = self.facts.get(f"{name}Length", 0)
            if length > at - self.start:
                raise Corrupt(
                    f"a {name} longer than the file",
                    offset=self.postscript_start,
                    expected=f"at most {at - self.start}",
                    seen=length,
                )
            places[name] = (at - length, at)
            at -= length
        return places

    def explain(self) -> Iterator[Span]:
        if self.end == self.start:
            raise Corrupt("an empty file, not ORC", offset=self.start, expected="magic ORC", seen="0 bytes")
        postscript = self.postscript_start
        try:
            places = self.sections
        except LakeError as error:
            yield damaged_leaf(self.start, postscript, error)
        else:
            yield from self.explain_body(places["stripeStatistics"][0])
            yield from self.explain_sections(places)
        yield self.postscript
        yield Span(self.end - 1, self.end, "postscript length", self.end - 1 - postscript, "1 byte")

    def explain_sections(self, places: Mapping[str, tuple[int, int]]) -> Iterator[Span]:
        start, end = places["stripeStatistics"]
        if start < end:
            note = "of encrypted columns"
            yield Span(start, end, "stripe statistics", None, note, role="unexplained")
        for name, message in (("metadata", METADATA), ("footer", FOOTER)):
            start, end = places[name]
            if start < end:
                yield explain_message_section(self.data, start, end, message, name, self.compression)

    def explain_body(self, end: int) -> Iterator[Span]:
        at = self.start
        if bytes(self.data[at : min(at + 3, end)]) == MAGIC:
            yield Span(at, at + 3, "magic", "ORC", "ASCII")
            at += 3
        try:
            stripes = self.footer.get("stripes", [])
        except LakeError:
            if at < end:
                note = "the footer that tells where they are is damaged"
                yield Span(at, end, "stripes", None, note, role="unexplained")
            return
        yield from self.explain_stripes(at, end, stripes, 0)

    def explain_stripes(self, start: int, end: int, stripes: list[Any], first: int) -> Iterator[Span]:
        """The stripes from one on, with the padding between them; after many the rest is a span of its own."""
        at = start
        for i in range(first, len(stripes)):
            if i - first == _GROUP and at < end:
                rest = partial(self.explain_stripes, at, end, stripes, i)
                yield Span(at, end, "further stripes", children=rest)
                return
            stripe = stripes[i]
            lengths = [_number(stripe, f"{part}Length") for part in ("index", "data", "footer")]
            begin = self.start + _number(stripe, "offset")
            stop = begin + sum(lengths)
            if not at <= begin <= stop <= end:
                message = f"stripe {i} where it cannot be"
                yield damaged_leaf(end, end, Corrupt(message, offset=end, seen=f"bytes {begin} to {stop}"))
                return
            yield from self.explain_gap(at, begin)
            note = format_count(_number(stripe, "numberOfRows"), "row")
            if begin < stop:
                yield Span(
                    begin, stop, f"stripe {i}", None, note, partial(self.explain_stripe, begin, *lengths)
                )
            at = stop
        yield from self.explain_gap(at, end)

    def explain_gap(self, start: int, end: int) -> Iterator[Span]:
        """Bytes that belong to nothing: writers pad stripes with zeros, so that none lies in two blocks of a store."""
        if start >= end:
            return
        if end - start <= _MAX_PADDING and bytes(self.data[start:end]).count(0) == end - start:
            yield Span(start, end, "padding", None, "zero bytes", role="padding")
        else:
            yield Span(start, end, "unexplained", role="unexplained")

    def explain_stripe(self, start: int, index: int, data: int, footer: int) -> Iterator[Span]:
        end = start + index + data + footer
        streams: list[Any] = []
        with suppress(LakeError):
            told = decode_section(self.data, end - footer, end, STRIPE_FOOTER, self.compression)
            streams = cast(list[Any], told.get("streams", []))
        for label, low, high in (
            ("index", start, start + index),
            ("data", start + index, start + index + data),
        ):
            if low < high:
                yield Span(
                    low,
                    high,
                    label,
                    None,
                    "streams",
                    partial(self.explain_streams, low, high, start, streams, 0),
                )
        if footer:
            yield explain_message_section(
                self.data, end - footer, end, STRIPE_FOOTER, "stripe footer", self.compression
            )

    def explain_streams(
        self, low: int, high: int, start: int, streams: list[Any], first: int
    ) -> Iterator[Span]:
        """The streams of a stripe that lie in one of its two parts: they follow each other from the stripe's start."""
        at, count = start, 0
        for i in range(first, len(streams)):
            stop = at + _number(streams[i], "length")
            if at >= low and at < stop:
                if stop > high:
                    if at < high:
                        raise Corrupt(
                            "a stream that leaves its part of the stripe",
                            offset=at,
                            seen=f"{stop - at} bytes",
                        )
                    return
                if count == _GROUP:
                    rest = partial(self.explain_streams, at, high, at, streams, i)
                    yield Span(at, high, "further streams", children=rest)
                    return
                yield self.explain_stream(at, stop, streams[i])
                count += 1
            at = stop

    def explain_stream(self, start: int, end: int, stream: Mapping[str, Any]) -> Span:
        kind, column = str(stream.get("kind", "PRESENT")), _number(stream, "column")
        name = self.paths[column] if column < len(self.paths) else f"column {column}"
        label = f"{kind} of {name}" if name else kind
        if kind in _INDEXES:
            span = explain_message_section(self.data, start, end, _INDEXES[kind], label, self.compression)
            span.number = column
            return span
        if kind in _ENCRYPTED:
            return Span(start, end, label, None, "encrypted", role="unexplained", number=column)
        make = partial(explain_stream, self.data, start, end, self.compression)
        return Span(start, end, label, None, format_count(end - start, "byte"), make, number=column)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The paths of the columns by number: types are numbered in the order in which they stand in the schema."""
        types = self.footer.get("types", [])
        paths = [""] * len(types)
        for i, kind in enumerate(types):
            names = kind.get("fieldNames", [])
            for k, child in enumerate(kind.get("subtypes", [])):
                if i < child < len(paths):
                    step = names[k] if k < len(names) else _step(kind.get("kind"), k)
                    paths[child] = f"{paths[i]}.{step}".removeprefix(".")[:_MAX_PATH]
        return tuple(paths)


def _step(kind: object, place: int) -> str:
    if kind == "MAP":
        return ("key", "value")[place] if place < 2 else str(place)
    return "element" if kind == "LIST" else str(place)


def _number(message: Mapping[str, Any], name: str) -> int:
    value: int = message.get(name, 0)
    return value
