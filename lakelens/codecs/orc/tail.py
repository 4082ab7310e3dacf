"""The tail of an ORC file, decoded: the messages at its end, and where stripes are.

    stripe … | [stripe statistics] | Metadata | Footer | PostScript | its length, 1 byte

Follows the ORC specification, v1 ("File Tail"). Refused with `Corrupt`: a tail that does not fit the file, messages that are
none, and stripes that are where they cannot be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakelens.caching import cached_property
from lakelens.codecs.orc.chunk_spans import Compression, decode_section
from lakelens.codecs.orc.footer import find_postscript
from lakelens.codecs.orc.proto_schema import FOOTER, METADATA, POSTSCRIPT
from lakelens.codecs.orc.protobuf_spans import explain_message
from lakelens.codecs.span.octets import EmbeddedFile
from lakelens.codecs.span.reader import shift_errors
from lakelens.codecs.span.span import Span
from lakelens.errors import Corrupt


class OrcTail(EmbeddedFile):
    """The bytes of a file and what its tail says, decoded once, when first needed."""

    @cached_property
    def postscript_start(self) -> int:
        """Where the postscript begins. Raises `Corrupt` when the file does not end as ORC does."""
        with shift_errors(self.start):
            return self.start + find_postscript(self.view)[0]

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
        """Where stripe statistics, metadata and footer are. Raises `Corrupt` when they do not fit the file."""
        places = {}
        at = self.postscript_start
        for name in ("footer", "metadata", "stripeStatistics"):
            length = self.facts.get(f"{name}Length", 0)
            if length > at - self.start:
                message, expected = f"a {name} longer than the file", f"at most {at - self.start}"
                raise Corrupt(message, offset=self.postscript_start, expected=expected, seen=length)
            places[name] = (at - length, at)
            at -= length
        return places

    @cached_property
    def metadata(self) -> Mapping[str, Any]:
        """The statistics of the stripes; empty where the file has none."""
        start, end = self.sections["metadata"]
        return decode_section(self.data, start, end, METADATA, self.compression)
