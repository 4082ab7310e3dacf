"""What the statistics of an ORC file's stripes prove of a column.

    Metadata   stripeStats 1, one per stripe: colStats 1, one per type in the order of the schema (pre-order, root 0)
    Timestamp  minimumUtc 3 · maximumUtc 4 milliseconds | minimumNanos 5 · maximumNanos 6, plus one, of that millisecond

Follows "Column Statistics" of the ORC specification, v1, and what ORC's Java reader trusts (`RecordReaderImpl`). Not trusted
and so None: bounds of texts before writer version 1 (HIVE-8732), of timestamps before version 6 (ORC-135), NaN, a lower
bound above the upper one, counts beyond the rows, and all inside of lists, maps and unions, whose values are no rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from lakelens.codecs.orc.tail import OrcTail
from lakelens.codecs.part_statistics import PartStatistics
from lakelens.codecs.temporal import date_from_days, timestamp_from_nanos
from lakelens.errors import Corrupt

_HIVE_8732, _ORC_135 = 1, 6
_INTEGERS = ("BYTE", "SHORT", "INT", "LONG")
_TEXTS = ("STRING", "VARCHAR", "CHAR")
_TIMESTAMPS = ("TIMESTAMP", "TIMESTAMP_INSTANT")
FIELD_ID_KEYS = ("iceberg.id", "paimon.id")


@dataclass(frozen=True, slots=True)
class OrcType:
    """One leaf of the schema that has a value in every row: its names from the top down, its number, and what it stores."""

    names: tuple[str, ...]
    number: int
    kind: str
    field_id: int | None = None
    precision: int = 0
    scale: int = 0


def list_leaves(tail: OrcTail) -> list[OrcType]:
    """The leaves of the schema that are in no list, map or union. Raises `Corrupt`."""
    return list(_walk(tail.footer.get("types", []), 0, ()))


def _walk(types: list[Any], number: int, names: tuple[str, ...]) -> Iterator[OrcType]:
    if not 0 <= number < len(types):
        raise Corrupt("a type that the schema does not have", expected=f"below {len(types)}", seen=number)
    found = types[number]
    kind = str(found.get("kind", "BOOLEAN"))
    if kind == "STRUCT":
        for name, child in zip(found.get("fieldNames", []), found.get("subtypes", []), strict=False):
            if child <= number:  # types are numbered from the top down
                raise Corrupt("a type inside of itself", expected=f"above {number}", seen=child)
            yield from _walk(types, child, (*names, name))
    elif kind not in ("LIST", "MAP", "UNION"):
        pairs = {pair.get("key"): pair.get("value", "") for pair in found.get("attributes", [])}
        text = next((pairs[key] for key in FIELD_ID_KEYS if key in pairs), "")
        field_id = int(text) if text.isdigit() and len(text) <= 10 else None
        yield OrcType(names, number, kind, field_id, found.get("precision", 0), found.get("scale", 0))


def read_statistics(tail: OrcTail, leaf: OrcType) -> list[PartStatistics]:
    """What the tail proves of one leaf, stripe by stripe. Raises `Corrupt`.

    >>> import io, pyarrow as pa, pyarrow.orc
    >>> sink = io.BytesIO()
    >>> pyarrow.orc.write_table(pa.table({"id": [1, None, 3]}), sink)
    >>> tail = OrcTail(sink.getvalue(), 0, len(sink.getvalue()))
    >>> read_statistics(tail, list_leaves(tail)[0])
    [PartStatistics(lower=1, upper=3, nulls=1, values=3, nans=None)]
    """
    version = tail.facts.get("writerVersion", 0)
    stripes = tail.footer.get("stripes", [])
    parts = tail.metadata.get("stripeStats", [])
    if len(parts) != len(stripes):
        return [PartStatistics() for _ in stripes]
    found = []
    for stripe, part in zip(stripes, parts, strict=True):
        columns = part.get("colStats", [])
        stored = columns[leaf.number] if leaf.number < len(columns) else {}
        found.append(_judge(stored, leaf, stripe.get("numberOfRows", 0), version))
    return found


def _judge(stored: Mapping[str, Any], leaf: OrcType, rows: int, version: int) -> PartStatistics:
    filled = stored.get("numberOfValues")
    nulls = rows - filled if isinstance(filled, int) and 0 <= filled <= rows else None
    if nulls and stored.get("hasNull") is False and len(leaf.names) == 1:
        nulls = None  # the two contradict each other
    try:
        lower, upper = _find_bounds(stored, leaf, filled, version)
        is_range = lower is not None and upper is not None and bool(lower <= upper)
    except (TypeError, InvalidOperation):
        is_range = False
    if not is_range:
        lower = upper = None
    return PartStatistics(lower, upper, nulls, rows)


def _find_bounds(stored: Mapping[str, Any], leaf: OrcType, filled: Any, version: int) -> tuple[Any, Any]:
    kind = leaf.kind
    if kind == "BOOLEAN":
        # the bounds of a boolean follow from how many values are true
        counts = stored.get("bucketStatistics", {}).get("count", [])
        if not counts or not isinstance(filled, int) or not 0 <= counts[0] <= filled or not filled:
            return None, None
        return counts[0] == filled, counts[0] > 0
    if kind in _TIMESTAMPS:
        return _find_moments(stored.get("timestampStatistics", {})) if version >= _ORC_135 else (None, None)
    if kind in _TEXTS:
        texts = stored.get("stringStatistics", {}) if version >= _HIVE_8732 else {}
        return texts.get("minimum", texts.get("lowerBound")), texts.get("maximum", texts.get("upperBound"))
    if kind in _INTEGERS:
        return _pick(stored.get("intStatistics", {}))
    if kind in ("FLOAT", "DOUBLE"):
        return _pick(stored.get("doubleStatistics", {}))
    if kind == "DATE":
        low, high = _pick(stored.get("dateStatistics", {}))
        return (None, None) if low is None or high is None else (date_from_days(low), date_from_days(high))
    if kind == "DECIMAL":
        low, high = _pick(stored.get("decimalStatistics", {}))
        return (None, None) if low is None or high is None else (_read_decimal(low), _read_decimal(high))
    return None, None


def _read_decimal(text: str) -> Decimal | None:
    """A decimal of at most 38 digits before and after the point: one of a million zeros would be written out somewhere."""
    number = Decimal(text)
    exponent = number.as_tuple().exponent
    is_held = isinstance(exponent, int) and exponent >= -38 and number.adjusted() < 38
    return number if is_held else None


def _pick(bounds: Mapping[str, Any]) -> tuple[Any, Any]:
    return bounds.get("minimum"), bounds.get("maximum")


def _find_moments(bounds: Mapping[str, Any]) -> tuple[Any, Any]:
    low, high = bounds.get("minimumUtc"), bounds.get("maximumUtc")
    if low is None or high is None:
        return None, None
    # stored plus one; without them the bounds reach over the whole millisecond
    first, last = bounds.get("minimumNanos", 1) - 1, bounds.get("maximumNanos", 1_000_000) - 1
    if not 0 <= first < 1_000_000 or not 0 <= last < 1_000_000:
        return None, None
    lower, upper = low * 1_000_000 + first, high * 1_000_000 + last
    return timestamp_from_nanos(lower, False), timestamp_from_nanos(upper, False)
