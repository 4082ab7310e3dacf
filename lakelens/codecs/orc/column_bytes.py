"""How many bytes of an ORC file are each column's, and how many are indexes, bloom filters and footers.

    "ORC" | stripe: index streams · data streams · stripe footer | … | metadata | footer | postscript | its length

Follows the ORC specification, v1 ("Stripes", "File Tail"): a stripe's footer lists its streams with kind, column and length.
Refused with `Corrupt`: stripes that are where they cannot be; with `Unsupported`: encrypted columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakelens.codecs.orc.chunk_spans import decode_section
from lakelens.codecs.orc.footer import MAGIC
from lakelens.codecs.orc.proto_schema import STRIPE_FOOTER
from lakelens.codecs.orc.statistics import FIELD_ID_KEYS
from lakelens.codecs.orc.tail import OrcTail
from lakelens.errors import Corrupt, Unsupported

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
        owners[start:end] = [(str(name), _find_id(types[start]))] * (end - start)
    return owners


def _find_id(kind: Mapping[str, Any]) -> int | None:
    pairs = {pair.get("key"): pair.get("value", "") for pair in kind.get("attributes", [])}
    text = next((pairs[key] for key in FIELD_ID_KEYS if key in pairs), "")
    return int(text) if text.isdigit() and len(text) <= 10 else None


def _number(message: Mapping[str, Any], name: str) -> int:
    value: int = message.get(name, 0)
    return value
