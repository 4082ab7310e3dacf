"""What the values of an ORC file take once they are decoded, from its tail, its stripes' footers and the heads of chunks.

    stripe   index streams · data streams · stripe footer         stream   chunk: 3 bytes of head, what it stores

A chunk becomes at most a block, and readers take the words of a dictionary once for each row. Follows the ORC
specification, v1 ("Stripes", "Compression"). Refused with `Corrupt`: what takes more than the user's budget for decoded
values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lakelens.codecs.compression import check_decoded
from lakelens.codecs.orc.chunk_spans import decode_section, measure_chunks
from lakelens.codecs.orc.proto_schema import STRIPE_FOOTER
from lakelens.codecs.orc.tail import OrcTail
from lakelens.codecs.span.reader import in_file
from lakelens.codecs.span.span import Octets
from lakelens.errors import LakeError

_LENGTH = 8  # what a value takes beside its bytes, or instead
_DICTIONARIES = ("DICTIONARY", "DICTIONARY_V2")


def check_records(data: bytes, path: str | None = None) -> None:
    """Raises `Corrupt` for a file in memory whose records would take too much once all of them are decoded.

    >>> import io, pyarrow as pa, pyarrow.orc
    >>> sink = io.BytesIO()
    >>> pyarrow.orc.write_table(pa.table({"a": ["x" * 1000] * 50_000}), sink, compression="zstd")
    >>> check_records(sink.getvalue())
    """
    with in_file(path):
        tail, size = OrcTail(data, 0, len(data)), 0
        columns = len(tail.footer.get("types", []))
        for stripe in tail.footer.get("stripes", []):
            rows = _number(stripe, "numberOfRows")
            check_decoded(size + _LENGTH * rows * columns, offset=_number(stripe, "offset"))
            size += _LENGTH * rows * columns + _measure_stripe(tail, stripe, rows)
            check_decoded(size, offset=_number(stripe, "offset"))


def check_rows(data: Octets, count: int, path: str | None = None) -> None:
    """Raises `Corrupt` where the first rows take too much, by the tail alone: readers decode whole stripes for them."""
    try:
        footer = OrcTail(data, 0, len(data)).footer
    except LakeError:
        return  # the reader says what is wrong
    with in_file(path):
        size, missing = 0, count
        columns = len(footer.get("types", []))
        texts = _sum_texts(footer.get("statistics", [])) / max(1, _number(footer, "numberOfRows"))
        for stripe in footer.get("stripes", []):
            if missing <= 0:
                break
            rows = _number(stripe, "numberOfRows")
            size += rows * _LENGTH * columns + int(rows * texts)
            missing -= rows
        check_decoded(size, stored=len(data))


def _sum_texts(statistics: Iterable[Mapping[str, Any]]) -> int:
    """How long all texts and bytes of the columns are together, as far as the footer says it."""
    kinds = ("stringStatistics", "binaryStatistics")
    return sum(max(0, _number(column.get(kind) or {}, "sum")) for column in statistics for kind in kinds)


def _measure_stripe(tail: OrcTail, stripe: Mapping[str, Any], rows: int) -> int:
    """Bytes of a stripe's data streams, and of its texts where they are in a dictionary."""
    start = _number(stripe, "offset") + _number(stripe, "indexLength")
    end = start + _number(stripe, "dataLength")
    stop = end + _number(stripe, "footerLength")
    if stop > tail.end:
        return 0  # the reader says what is wrong
    footer: Mapping[str, Any] = decode_section(tail.data, end, stop, STRIPE_FOOTER, tail.compression)
    encodings = footer.get("columns", [])
    at, size = _number(stripe, "offset"), 0
    for stream in footer.get("streams", []):
        stored, number = _number(stream, "length"), _number(stream, "column")
        if at >= start and at + stored <= end:
            unpacked = measure_chunks(tail.data, at, at + stored, tail.compression)
            size += unpacked
            if stream.get("kind") == "DICTIONARY_DATA" and number < len(encodings):
                words = max(1, _number(encodings[number], "dictionarySize"))
                is_used = encodings[number].get("kind") in _DICTIONARIES
                size += rows * (unpacked // words) if is_used else 0
            check_decoded(size, offset=at)
        at += stored
    return size


def _number(message: Mapping[str, Any], name: str) -> int:
    value = message.get(name, 0)
    return value if isinstance(value, int) else 0
