"""What partition values of a Delta table say of the columns that they are generated from.

A partition column may be generated: `day DATE GENERATED ALWAYS AS (CAST(at AS DATE))`. Spark derives predicates on it from
predicates on `at` (`OptimizablePartitionExpression`); here a partition value stands for the range of values that it can have
been made from, which is the same proof, and can be shown. In which zone a writer made days of timestamps is recorded
nowhere: such a range is as much wider on both sides as zones can differ.

See "Generated Columns" of the Delta protocol.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.scan.placement import Placement

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.delta.context import LogContext
    from lakelens.formats.delta.log_table import DeltaTable
    from lakelens.model.schema import DataType, PartitionField
    from lakelens.model.stats import Term

_COLUMN = r"\(?\s*(?:`(?P<quoted>[^`]+)`|(?P<plain>\w+))\s*\)?"
_DAY = rf"(?:CAST\(\s*{_COLUMN}\s+AS\s+DATE\s*\)|(?:TO_)?DATE\(\s*{_COLUMN.replace('<', '<day_')}\s*\))"
#: expressions of generated columns that can be turned around, each with the unit that it cuts time to
_EXPRESSIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), unit)
    for pattern, unit in (
        (_COLUMN, "identity"),
        (_DAY, "day"),
        (rf"YEAR\(\s*(?:{_COLUMN}|{_DAY.replace('<', '<in_')})\s*\)", "year"),
        (rf"DATE_TRUNC\(\s*'(?P<unit>\w+)'\s*,\s*{_COLUMN}\s*\)", ""),
        (rf"TRUNC\(\s*{_COLUMN}\s*,\s*'(?P<unit>\w+)'\s*\)", ""),
        (rf"DATE_FORMAT\(\s*{_COLUMN}\s*,\s*'(?P<format>[^']+)'\s*\)", ""),
        (rf"SUBSTR(?:ING)?\(\s*{_COLUMN}\s*,\s*[01]\s*,\s*(?P<width>\d+)\s*\)", "prefix"),
    )
)
_FORMATS = {"yyyy": "year", "yyyy-MM": "month", "yyyy-MM-dd": "day", "yyyy-MM-dd-HH": "hour"}
_UNITS = {"yyyy": "year", "yy": "year", "mon": "month", "mm": "month", "dd": "day"}
_SPANS = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=31),
    "quarter": timedelta(days=92),
    "year": timedelta(days=366),
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_PARSED = {4: "%Y", 7: "%Y-%m", 10: "%Y-%m-%d", 13: "%Y-%m-%d-%H"}  # by the length of the text
_ZONES = timedelta(hours=18)  # no zone is further from UTC
_TICK = timedelta(microseconds=1)
_INDEXED = 32  # columns with statistics where no property says another number
_LIMIT, _CHOSEN = "delta.dataSkippingNumIndexedCols", "delta.dataSkippingStatsColumns"


def parse_generation(expression: str) -> tuple[str, str] | None:
    """Parse how a column is generated: from which one, and the unit that it is cut to; None where nothing follows from it.

    >>> parse_generation("CAST(at AS DATE)"), parse_generation("date_format(`a t`, 'yyyy-MM')")
    (('at', 'day'), ('a t', 'month'))
    >>> parse_generation("substring(name, 1, 3)"), parse_generation("MONTH(at)")
    (('name', 'prefix 3'), None)
    """
    for pattern, unit in _EXPRESSIONS:
        matched = pattern.fullmatch(expression.strip())
        if matched is None:
            continue
        said = matched.groupdict()
        named, form, width = (said.pop(name, None) for name in ("unit", "format", "width"))
        column = next(name for name in said.values() if name)
        if width is not None:
            return column, f"prefix {int(width)}"
        if form is not None:
            unit = _FORMATS.get(form, "")
        elif named is not None:
            unit = _UNITS.get(named.lower(), named.lower())
        return (column, unit) if unit in _SPANS or unit == "identity" else None
    return None


class DeltaPlacement(Placement):
    """Where Delta puts rows: by partition columns as they are, and by those that are generated from others."""

    def __init__(self, table: DeltaTable) -> None:
        super().__init__(table.specs)
        self._context: LogContext = table._context
        schema = self._context.columns.schema
        described = schema.raw.get("fields", ()) if isinstance(schema.raw, Mapping) else ()
        names = {field.name.lower(): field.name for field in schema.fields}
        #: by source column: the partition column, and what it is cut to
        self._generated: dict[str, list[tuple[str, str]]] = {}
        for one in described:
            metadata = one.get("metadata") if isinstance(one, Mapping) else None
            text = metadata.get("delta.generationExpression") if isinstance(metadata, Mapping) else None
            parsed = parse_generation(text) if isinstance(text, str) else None
            if parsed is not None and parsed[0].lower() in names:
                self._generated.setdefault(names[parsed[0].lower()], []).append((one["name"], parsed[1]))

    def list_fields(self, spec_id: int | None, term: Term) -> Sequence[tuple[str, PartitionField, int]]:
        """See `Placement.list_fields`: those that are generated from a column say something of it too."""
        found = list(super().list_fields(spec_id, term))
        spec = self.specs.get(spec_id)
        for name, unit in self._generated.get(term.column, ()):
            for place, field in enumerate(spec.fields if spec is not None else ()):
                if field.source_name == name:
                    found.append((field.name, replace(field, transform=unit), place))
        return found

    def find_sources(
        self, field: PartitionField, kind: DataType, values: pa.Array
    ) -> tuple[pa.Array, pa.Array] | None:
        """See `Placement.find_sources`."""
        if field.transform not in _SPANS:
            return super().find_sources(field, kind, values) if field.transform == "identity" else None
        if kind.logical not in ("timestamp", "timestamptz", "date"):
            return None
        coded = values.dictionary_encode()
        ranges = [find_range(value, field.transform, kind.logical) for value in coded.dictionary.to_pylist()]
        lower, upper = (to_array([ends[side] for ends in ranges], arrow_type(kind)) for side in (0, 1))
        return lower.take(coded.indices), upper.take(coded.indices)

    def transform(self, field: PartitionField, kind: DataType, value: Any) -> Any:
        """See `Placement.transform`: the beginning of a text; an empty one is NULL in partition values."""
        name, _, width = field.transform.partition(" ")
        if name != "prefix" or not isinstance(value, str):
            return None
        return value[: int(width)] or None

    def explain_absence(self, term: Term, file_format: str | None) -> str | None:
        """Explain the property by which writers gather statistics of some columns alone."""
        properties = self._context.configuration
        leaves = [leaf.name for leaf in self._context.columns.leaves]
        chosen = properties.get(_CHOSEN)
        if chosen is not None:
            names = [name.strip().strip("`") for name in chosen.split(",")]
            is_chosen = any(term.column == name or term.column.startswith(f"{name}.") for name in names)
            return None if is_chosen else f"not among the columns of {_CHOSEN}"
        limit = properties.get(_LIMIT, str(_INDEXED))
        place = leaves.index(term.column) + 1 if term.column in leaves else 0
        if limit.isdecimal() and place > int(limit):
            return f"column {place} of {len(leaves)}: only the first {limit} have statistics ({_LIMIT})"
        return None


def find_range(value: Any, unit: str, source: str) -> tuple[Any, Any]:
    """Find the least and the greatest value that a partition value can have been cut from; twice None where nobody knows.

    >>> find_range(date(2024, 2, 1), "month", "date")
    (datetime.date(2024, 2, 1), datetime.date(2024, 2, 29))
    >>> find_range("2024-01-31", "day", "timestamptz")[1]
    datetime.datetime(2024, 2, 1, 17, 59, 59, 999999, tzinfo=datetime.timezone.utc)
    """
    try:
        if isinstance(value, datetime):
            start = value.replace(tzinfo=None)
        elif isinstance(value, date):
            start = datetime(value.year, value.month, value.day)
        elif type(value) is int:
            start = datetime(value, 1, 1)
        elif isinstance(value, str):
            start = datetime.strptime(value, _PARSED[len(value)])
        else:
            return None, None
        months = _MONTHS.get(unit)
        if months is not None and start.day == 1 and start.time() == datetime.min.time():
            total = start.month - 1 + months
            end = start.replace(year=start.year + total // 12, month=total % 12 + 1) - _TICK
        else:
            end = start + _SPANS[unit] - _TICK
        if source == "date":
            return start.date(), end.date()
        if source == "timestamptz":
            return (start - _ZONES).replace(tzinfo=UTC), (end + _ZONES).replace(tzinfo=UTC)
    except (ValueError, OverflowError, KeyError):
        return None, None
    return start, end


def open_placement(table: DeltaTable) -> DeltaPlacement:
    """Open what partitions of a table say of the rows in them."""
    return DeltaPlacement(table)
