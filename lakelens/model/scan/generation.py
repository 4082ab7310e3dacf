"""Columns that are generated from others by an expression of SQL, and what their values say of the other column.

A partition value stands for the range of values that it can have been made from. Columns of a year, a month, a day and an
hour that are made of one column say together what each does not say alone, and are taken as one value:

    YEAR(at) = 2024, MONTH(at) = 2, DAY(at) = 1        2024-02-01: at least that day and before the next one

In which zone a writer made days of timestamps is recorded nowhere: ranges are as much wider as zones can differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.scan.placement import Placement, cast_known

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.schema import DataType, PartitionField, PartitionSpec
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
        (rf"MONTH\(\s*(?:{_COLUMN}|{_DAY.replace('<', '<in_')})\s*\)", "month of year"),
        (rf"DAY(?:OFMONTH)?\(\s*(?:{_COLUMN}|{_DAY.replace('<', '<in_')})\s*\)", "day of month"),
        (rf"HOUR\(\s*{_COLUMN}\s*\)", "hour of day"),
        (rf"DATE_TRUNC\(\s*'(?P<unit>\w+)'\s*,\s*{_COLUMN}\s*\)", ""),
        (rf"TRUNC\(\s*{_COLUMN}\s*,\s*'(?P<unit>\w+)'\s*\)", ""),
        (rf"DATE_FORMAT\(\s*{_COLUMN}\s*,\s*'(?P<format>[^']+)'\s*\)", ""),
        (rf"SUBSTR(?:ING)?\(\s*{_COLUMN}\s*,\s*[01]\s*,\s*(?P<width>\d+)\s*\)", "prefix"),
    )
)
_FORMATS = {"yyyy": "year", "yyyy-MM": "month", "yyyy-MM-dd": "day", "yyyy-MM-dd-HH": "hour"}
_UNITS = {"yyyy": "year", "yy": "year", "mon": "month", "mm": "month", "dd": "day"}
SPANS = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=31),
    "quarter": timedelta(days=92),
    "year": timedelta(days=366),
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_PARSED = {4: "%Y", 7: "%Y-%m", 10: "%Y-%m-%d", 13: "%Y-%m-%d-%H"}  # by the length of the text
#: what is a date in several columns: the parts in order, each with the unit of those up to it, its least and its greatest
_PARTS = (
    ("year", "year", 1, 9999),
    ("month of year", "month", 1, 12),
    ("day of month", "day", 1, 31),
    ("hour of day", "hour", 0, 23),
)
_ZONES = timedelta(hours=18)  # no zone is further from UTC
_TICK = timedelta(microseconds=1)


def parse_generation(expression: str) -> tuple[str, str] | None:
    """Parse how a column is generated: from which one, and the unit that it is cut to; None where nothing follows from it.

    >>> parse_generation("CAST(at AS DATE)"), parse_generation("date_format(`a t`, 'yyyy-MM')")
    (('at', 'day'), ('a t', 'month'))
    >>> parse_generation("substring(name, 1, 3)"), parse_generation("MONTH(at)"), parse_generation("WEEKDAY(at)")
    (('name', 'prefix 3'), ('at', 'month of year'), None)
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
        is_known = unit in SPANS or unit == "identity" or any(unit == part for part, *_ in _PARTS)
        return (column, unit) if is_known else None
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
            end = start + SPANS[unit] - _TICK
        if source == "date":
            return start.date(), end.date()
        if source == "timestamptz":
            return (start - _ZONES).replace(tzinfo=UTC), (end + _ZONES).replace(tzinfo=UTC)
    except (ValueError, OverflowError, KeyError):
        return None, None
    return start, end


class GeneratedPlacement(Placement):
    """Where rows are put by columns as they are, and by columns that are generated from others.

    `columns` are the columns of the table, `expressions` the SQL of those that are generated.
    """

    def __init__(
        self, specs: Sequence[PartitionSpec], columns: Sequence[str], expressions: Mapping[str, str]
    ) -> None:
        super().__init__(specs)
        names = {name.lower(): name for name in columns}
        #: by source column: the generated column, and what it is cut to
        self._generated: dict[str, list[tuple[str, str]]] = {}
        for name, expression in expressions.items():
            parsed = parse_generation(expression)
            if parsed is not None and parsed[0].lower() in names:
                self._generated.setdefault(names[parsed[0].lower()], []).append((name, parsed[1]))
        #: by the name that stands for them: the columns that are parts of one date
        self._joint: dict[str, tuple[str, ...]] = {}

    def list_fields(self, spec_id: int | None, term: Term) -> Sequence[tuple[str, PartitionField, int]]:
        """See `Placement.list_fields`: those that are generated from a column say something of it too."""
        found = list(super().list_fields(spec_id, term))
        spec = self.specs.get(spec_id)
        fields = {field.source_name: field for field in (spec.fields if spec is not None else ())}
        made = [(name, unit) for name, unit in self._generated.get(term.column, ()) if name in fields]
        parts = []
        for part, *_ in _PARTS:
            named = [name for name, unit in made if unit == part]
            if not named:
                break
            parts.append(named[0])
        if len(parts) > 1:
            joint = ", ".join(parts)
            self._joint[joint] = tuple(parts)
            unit = _PARTS[len(parts) - 1][1]
            field = replace(fields[parts[0]], name=joint, source_name=term.column, transform=unit)
            found.append((joint, field, len(fields)))
        for name, unit in made:
            if unit in SPANS or unit == "identity" or unit.startswith("prefix"):
                field = replace(fields[name], transform=unit)
                found.append((fields[name].name, field, list(fields).index(name)))
        return found

    def find_values(self, name: str, find: Callable[[str], pa.Array | None]) -> pa.Array | None:
        """See `Placement.find_values`: those of a date in several columns are joined."""
        if name not in self._joint:
            return find(name)
        columns = [find(part) for part in self._joint[name]]
        return _join_parts([column for column in columns if column is not None], len(columns))

    def find_sources(
        self, field: PartitionField, kind: DataType, values: pa.Array
    ) -> tuple[pa.Array, pa.Array] | None:
        """See `Placement.find_sources`."""
        if field.transform not in SPANS:
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


def _join_parts(columns: Sequence[pa.Array], count: int) -> pa.Array | None:
    """Join the parts of dates: null where each is, an empty text where they are no date. None where a part is no number.

    >>> import pyarrow as pa
    >>> _join_parts([pa.array([2024, 2024, 2024, None]), pa.array(["02", "13", None, None])], 2).to_pylist()
    ['2024-02', '', '', None]
    """
    from lakelens.arrays import pa

    numbers = [
        cast_known(column, pa.int64())
        if pa.types.is_integer(column.type) or pa.types.is_string(column.type)
        else None
        for column in columns
    ]
    if len(columns) < count or any(known is None for known in numbers):
        return None
    joined: dict[tuple[Any, ...], str | None] = {}  # few dates are those of many files
    texts: list[str | None] = []
    held = zip(*(column.to_pylist() for column in columns), strict=True)
    read = zip(*(known.to_pylist() for known in numbers if known is not None), strict=True)
    for parts, dated in zip(held, read, strict=True):
        key = (dated, all(part is None for part in parts))
        if key not in joined:
            joined[key] = None if key[1] else _write_date(dated)
        texts.append(joined[key])
    return pa.array(texts, pa.string())


def _write_date(dated: Sequence[int | None]) -> str:
    """Write a date by its parts; an empty text for what is none."""
    written = []
    for (_, _, least, most), part in zip(_PARTS, dated, strict=False):
        if part is None or not least <= part <= most:
            return ""
        written.append(f"{part:0{len(str(most))}}")
    return "-".join(written)
