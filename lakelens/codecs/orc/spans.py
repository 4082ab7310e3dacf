"""An ORC file byte by byte: stripes with their streams, metadata, footer and postscript, every field with its name.

    "ORC" | stripe … | [stripe statistics] | Metadata | Footer | PostScript | its length, 1 byte
    stripe   index streams | data streams | StripeFooter

Follows the ORC specification, v1 ("File Tail", "Stripes"). The messages are protobuf, compressed in chunks unless the
postscript says NONE. Only tails and stripe footers are read, and streams where they are looked at; values in data
streams are not decoded. Refused with `Corrupt`: a tail that does not fit the file, messages that are none, and stripes or
streams that overlap or are where they cannot be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import accumulate
from typing import Any, cast

from lakelens.caching import cached_property
from lakelens.codecs.orc.chunk_spans import (
    decode_section,
    explain_message_section,
    explain_stream,
)
from lakelens.codecs.orc.footer import MAGIC, OrcFooter, OrcTail, decode_footer
from lakelens.codecs.orc.protobuf import (
    BLOOM_FILTERS,
    FOOTER,
    METADATA,
    ROW_INDEX,
    STRIPE_FOOTER,
)
from lakelens.codecs.span.reader import format_count, group_items, shift_errors
from lakelens.codecs.span.span import Deferred, Octets, Span, damaged_leaf
from lakelens.errors import Corrupt, LakeError

_INDEXES = {"ROW_INDEX": ROW_INDEX, "BLOOM_FILTER": BLOOM_FILTERS, "BLOOM_FILTER_UTF8": BLOOM_FILTERS}
_ENCRYPTED = ("ENCRYPTED_INDEX", "ENCRYPTED_DATA")
_STRIPE_PARTS = ("index", "data", "footer")
_MAX_PATH = 200
_MAX_PADDING = 1 << 24


def explain_orc(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain a tree over an ORC file; its value is its `OrcFooter`.

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
    file = _OrcFile(data, start, stop)
    return Span(start, stop, "ORC file", Deferred(file.decode), "Apache ORC", file.explain)


class _OrcFile(OrcTail):
    """The bytes of a file, and what explains its parts."""

    def decode(self) -> OrcFooter:
        with shift_errors(self.start):
            return decode_footer(self.view)

    def explain(self) -> Iterator[Span]:
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
                note = "the footer that describes them is damaged"
                yield Span(at, end, "stripes", None, note, role="unexplained")
            return
        places, wrong = [at], None
        for i, stripe in enumerate(stripes):
            begin = self.start + _number(stripe, "offset")
            stop = begin + sum(_number(stripe, f"{part}Length") for part in _STRIPE_PARTS)
            if not places[-1] <= begin <= stop <= end:
                message = f"stripe {i} where it cannot be"
                wrong = Corrupt(message, offset=end, seen=f"bytes {begin} to {stop}")
                break
            places.append(stop)
        make = partial(self.explain_stripes, places, stripes)
        yield from group_items(len(places) - 1, places.__getitem__, "stripes", make)
        if wrong is None:
            yield from self.explain_gap(places[-1], end)
        else:
            yield damaged_leaf(end, end, wrong)

    def explain_stripes(self, places: list[int], stripes: list[Any], low: int, high: int) -> Iterator[Span]:
        """Explain some stripes with the padding before each; `places` is where the one before it ends."""
        for i in range(low, high):
            lengths = [_number(stripes[i], f"{part}Length") for part in _STRIPE_PARTS]
            begin, stop = self.start + _number(stripes[i], "offset"), places[i + 1]
            yield from self.explain_gap(places[i], begin)
            note = format_count(_number(stripes[i], "numberOfRows"), "row")
            if begin < stop:
                make = partial(self.explain_stripe, begin, *lengths)
                yield Span(begin, stop, f"stripe {i}", None, note, make)

    def explain_gap(self, start: int, end: int) -> Iterator[Span]:
        """Bytes that belong to nothing: writers pad stripes with zeros, so that none is in two blocks of a store."""
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
            stored = decode_section(self.data, end - footer, end, STRIPE_FOOTER, self.compression)
            streams = cast(list[Any], stored.get("streams", []))
        for label, low, high in (("index", start, start + index), ("data", start + index, end - footer)):
            if low < high:
                make = partial(self.explain_streams, low, high, start, streams)
                yield Span(low, high, label, None, "streams", make)
        if footer:
            yield explain_message_section(
                self.data, end - footer, end, STRIPE_FOOTER, "stripe footer", self.compression
            )

    def explain_streams(self, low: int, high: int, start: int, streams: list[Any]) -> Iterator[Span]:
        """Explain the streams in one of the two parts of a stripe: they follow each other from the stripe's start."""
        ends = list(accumulate((_number(stream, "length") for stream in streams), initial=start))
        inside = [i for i in range(len(streams)) if low <= ends[i] < min(ends[i + 1], high)]
        whole = [i for i in inside if ends[i + 1] <= high]

        def make(a: int, b: int) -> Iterator[Span]:
            return (self.explain_stream(ends[i], ends[i + 1], streams[i]) for i in whole[a:b])

        def place(i: int) -> int:
            return ends[whole[i]] if i < len(whole) else ends[whole[-1] + 1]

        yield from group_items(len(whole), place, "streams", make)
        if len(whole) < len(inside):
            i = inside[-1]
            message, seen = "a stream that leaves its part of the stripe", f"{ends[i + 1] - ends[i]} bytes"
            raise Corrupt(message, offset=ends[i], seen=seen)

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
        """The paths of the columns by number: types are numbered in the order of the schema."""
        types = self.footer.get("types", [])
        paths = [""] * len(types)
        for i, kind in enumerate(types):
            names = kind.get("fieldNames", [])
            for k, child in enumerate(kind.get("subtypes", [])):
                if i < child < len(paths):
                    if k < len(names):
                        step = names[k]
                    elif kind.get("kind") == "MAP" and k < 2:
                        step = ("key", "value")[k]
                    else:
                        step = "element" if kind.get("kind") == "LIST" else str(k)
                    paths[child] = f"{paths[i]}.{step}".removeprefix(".")[:_MAX_PATH]
        return tuple(paths)


def _number(message: Mapping[str, Any], name: str) -> int:
    value: int = message.get(name, 0)
    return value
