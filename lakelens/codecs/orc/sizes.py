"""How many bytes of an ORC file are each column's, and what its values take once they are decoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakelens.codecs.compression import check_decoded
from lakelens.codecs.orc.chunk_spans import decode_section, measure_chunks
from lakelens.codecs.orc.footer import MAGIC, OrcTail
from lakelens.codecs.orc.protobuf import STRIPE_FOOTER
from lakelens.codecs.orc.statistics import FIELD_ID_KEYS
from lakelens.codecs.span.reader import in_file
from lakelens.codecs.span.span import Octets
from lakelens.errors import Corrupt, LakeError, Unsupported

_BLOOMS = ("BLOOM_FILTER", "BLOOM_FILTER_UTF8")
Columns = dict[tuple[str, int | None], int]


def measure_parts(tail: OrcTail) -> tuple[Columns, dict[str, int], str]:
    """Bytes by top column (name and field id), bytes of the other parts, and what the rest of the file is: padding.

    >>> import io, pyarrow as pa, pyarrow.orc
    >>> sink = io.BytesIO()
    >>> pyarrow.orc.write_table(pa.table({"id": [1, 2, 3], "b": [{"x": 1}, {"x": 2}, None]}), sink)
    >>> columns, parts, rest = measure_parts(OrcTail(sink.getvalue(), 0, len(sink.getvalue())))
    >>> list(columns), rest
    ([('id', None), ('b', None)], 'padding')
    >>> sum(columns.values()) + sum(parts.values()) == len(sink.getvalue())
    True
    """
    if tail.footer.get("encryption"):
        raise Unsupported("the columns of this ORC file are encrypted")
    owners = _find_owners(tail.footer.get("types", []))
    columns: Columns = dict.fromkeys((owner for owner in owners if owner is not None), 0)
    parts = {"page indexes": 0, "bloom filters": 0}
    footers = len(MAGIC) + tail.end - tail.sections["stripeStatistics"][0]
    for stripe in tail.footer.get("stripes", []):
        start = tail.start + _number(stripe, "offset")
        end = start + sum(_number(stripe, f"{part}Length") for part in ("index", "data", "footer"))
        length = _number(stripe, "footerLength")
        if end > tail.sections["stripeStatistics"][0]:
            message, expected = (
                "a stripe where it cannot be",
                f"at most {tail.sections['stripeStatistics'][0]}",
            )
            raise Corrupt(message, offset=start, expected=expected, seen=end)
        footers += length
        decoded: dict[str, Any] = decode_section(
            tail.data, end - length, end, STRIPE_FOOTER, tail.compression
        )
        for stream in decoded.get("streams", []):
            kind, number, size = (
                stream.get("kind", "PRESENT"),
                _number(stream, "column"),
                _number(stream, "length"),
            )
            owner = owners[number] if number < len(owners) else None
            if kind == "ROW_INDEX":
                parts["page indexes"] += size
            elif kind in _BLOOMS:
                parts["bloom filters"] += size
            elif owner is None:  # of the root, which is no column
                footers += size
            else:
                columns[owner] += size
    return columns, {**parts, "footers": footers}, "padding"


def _find_owners(types: list[Any]) -> list[tuple[str, int | None] | None]:
    """For each type of the schema the top column that it is part of; None for the root."""
    owners: list[tuple[str, int | None] | None] = [None] * len(types)
    if not types:
        return owners
    children = types[0].get("subtypes", [])
    names = types[0].get("fieldNames", [])
    ends = [*children[1:], len(types)]
    for name, start, end in zip(names, children, ends, strict=False):  # types are numbered from the top down
        if not 0 < start < end <= len(types):
            raise Corrupt("a type where it cannot be", expected=f"below {len(types)}", seen=start)
        pairs = {pair.get("key"): pair.get("value", "") for pair in types[start].get("attributes", [])}
        text = next((pairs[key] for key in FIELD_ID_KEYS if key in pairs), "")
        number = int(text) if text.isdigit() and len(text) <= 10 else None
        owners[start:end] = [(str(name), number)] * (end - start)
    return owners


def _number(message: Mapping[str, Any], name: str) -> int:
    value: int = message.get(name, 0)
    return value


# What the values of an ORC file take once they are decoded, from its tail, its stripes' footers and the heads of chunks.
#
#     stripe   index streams · data streams · stripe footer         stream   chunk: 3 bytes of head, what it stores
#
# A chunk becomes at most a block, and readers take the words of a dictionary once for each row. Follows the ORC
# specification, v1 ("Stripes", "Compression"). Refused with `Corrupt`: what takes more than the user's budget for decoded
# values.

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
            rows = _number_cost(stripe, "numberOfRows")
            check_decoded(size + _LENGTH * rows * columns, offset=_number_cost(stripe, "offset"))
            size += _LENGTH * rows * columns + _measure_stripe(tail, stripe, rows)
            check_decoded(size, offset=_number_cost(stripe, "offset"))


def check_rows(data: Octets, count: int, path: str | None = None) -> None:
    """Raises `Corrupt` where the first rows take too much, by the tail alone: readers decode whole stripes for them."""
    try:
        footer = OrcTail(data, 0, len(data)).footer
    except LakeError:
        return  # the reader says what is wrong
    with in_file(path):
        size, missing = 0, count
        columns = len(footer.get("types", []))
        # how long all texts and bytes of a row are together, as far as the footer says it
        texts = sum(
            max(0, _number_cost(column.get(kind) or {}, "sum"))
            for column in footer.get("statistics", [])
            for kind in ("stringStatistics", "binaryStatistics")
        ) / max(1, _number_cost(footer, "numberOfRows"))
        for stripe in footer.get("stripes", []):
            if missing <= 0:
                break
            rows = _number_cost(stripe, "numberOfRows")
            size += rows * _LENGTH * columns + int(rows * texts)
            missing -= rows
        check_decoded(size, stored=len(data))


def _measure_stripe(tail: OrcTail, stripe: Mapping[str, Any], rows: int) -> int:
    """Bytes of a stripe's data streams, and of its texts where they are in a dictionary."""
    start = _number_cost(stripe, "offset") + _number_cost(stripe, "indexLength")
    end = start + _number_cost(stripe, "dataLength")
    stop = end + _number_cost(stripe, "footerLength")
    if stop > tail.end:
        return 0  # the reader says what is wrong
    footer: Mapping[str, Any] = decode_section(tail.data, end, stop, STRIPE_FOOTER, tail.compression)
    encodings = footer.get("columns", [])
    at, size = _number_cost(stripe, "offset"), 0
    for stream in footer.get("streams", []):
        stored, number = _number_cost(stream, "length"), _number_cost(stream, "column")
        if at >= start and at + stored <= end:
            unpacked = measure_chunks(tail.data, at, at + stored, tail.compression)
            size += unpacked
            if stream.get("kind") == "DICTIONARY_DATA" and number < len(encodings):
                words = max(1, _number_cost(encodings[number], "dictionarySize"))
                is_used = encodings[number].get("kind") in _DICTIONARIES
                size += rows * (unpacked // words) if is_used else 0
            check_decoded(size, offset=at)
        at += stored
    return size


def _number_cost(message: Mapping[str, Any], name: str) -> int:
    value = message.get(name, 0)
    return value if isinstance(value, int) else 0
