"""Nothing that a predicate needs is skipped, whatever a writer may do to statistics and to generated partition columns.

Tables are generated: texts are cut, and raised or not, times are cut to milliseconds, days are those of the writer's zone,
columns have physical names, bounds are wide. DuckDB says which rows fit; see tests/analysis/explain for engines' tables.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakelens as ll
from lakelens.formats.delta.scan.statistics import _read_bounds
from lakelens.formats.delta.values import read_bound
from lakelens.model.scan.generation import find_range, parse_generation
from lakelens.model.schema import DataType
from tests.formats.delta.test_log import METADATA, PROTOCOL, add, write_commit
from tests.support import LAKES
from tests.support.refereed import State

_PER_TABLE = 60
_KINDS = {
    "id": ("long", pa.int64()),
    "at": ("timestamp", pa.timestamp("us", "UTC")),
    "local": ("timestamp_ntz", pa.timestamp("us")),
    "day": ("date", pa.date32()),
    "text": ("string", pa.string()),
    "amount": ("decimal(20,2)", pa.decimal128(20, 2)),
    "share": ("double", pa.float64()),
}
_GENERATED = {
    "at_day": ("CAST(at AS DATE)", "date"),
    "at_year": ("YEAR(at)", "integer"),
    "at_month": ("DATE_FORMAT(at, 'yyyy-MM')", "string"),
    "at_hour": ("DATE_TRUNC('HOUR', at)", "timestamp"),
    "begin": ("SUBSTRING(text, 1, 2)", "string"),
    "of_month": ("TRUNC(day, 'MM')", "date"),
    "y": ("YEAR(at)", "integer"),
    "m": ("MONTH(CAST(at AS DATE))", "integer"),
    "d": ("DAYOFMONTH(at)", "integer"),
    "h": ("HOUR(at)", "integer"),
    "day_y": ("year(day)", "integer"),
    "day_m": ("month(day)", "integer"),
}
#: columns that say something together
_JOINT = (("y", "m"), ("y", "m", "d"), ("y", "m", "d", "h"), ("m", "d"), ("day_m", "day_y"))


def draw_rows(random: Random, count: int) -> list[dict[str, Any]]:
    """Rows near the places where bounds are cut and days end."""
    start = datetime(2024, 1, 31, 22, 30, tzinfo=UTC)
    stem = "abcdefghijklmnopqrstuvwxyz012345"
    texts = ("", "a", stem, stem + "z", stem + "\U0010ffff", stem[:31] + "\uffff" + "x", "é" * 40, "b", None)
    rows = []
    for _ in range(count):
        at = start + timedelta(microseconds=random.randint(0, 5 * 3_600_000_000))
        if random.random() < 0.5:
            at = at.replace(microsecond=at.microsecond // 1000 * 1000 + random.choice((0, 1, 456, 999)))
        row = {
            "id": random.randint(-3, 3),
            "at": at,
            "local": at.replace(tzinfo=None) + timedelta(days=random.randint(0, 40)),
            "day": date(2024, 1, 28) + timedelta(days=random.randint(0, 9)),
            "text": random.choice(texts),
            "amount": Decimal(random.randint(-(10**15), 10**15)).scaleb(-2),
            "share": random.choice((0.0, -0.0, 1.5, float("nan"), float("inf"), -1e300)),
        }
        rows.append({name: None if random.random() < 0.15 else value for name, value in row.items()})
    return rows


def generate(name: str, row: dict[str, Any], zone: timedelta) -> str | None:
    """The partition value that Spark writes for a row."""
    at = None if row["at"] is None else row["at"].replace(tzinfo=None) + zone
    if name == "begin":
        return None if row["text"] is None else row["text"][:2]
    if name in ("of_month", "day_y", "day_m"):
        form = {"of_month": "%Y-%m-01", "day_y": "%Y", "day_m": "%-m"}[name]
        return None if row["day"] is None else row["day"].strftime(form)
    if at is None:
        return None
    formats = {"at_day": "%Y-%m-%d", "at_year": "%Y", "at_month": "%Y-%m", "at_hour": "%Y-%m-%d %H:00:00"}
    formats |= {"y": "%Y", "m": "%-m", "d": "%-d", "h": "%-H"}
    return f"{at:{formats[name]}}"


def cut(value: Any, random: Random, *, is_upper: bool) -> Any:
    """A bound as writers write it."""
    if isinstance(value, datetime):
        text = value.isoformat(timespec="milliseconds")
        return text.removesuffix("+00:00") + ("Z" if value.tzinfo else "")
    if isinstance(value, date):
        return str(value)
    if isinstance(value, str) and len(value) > 32:
        return value[:32] + ("\U0010ffff" if is_upper and random.random() < 0.5 else "")
    if isinstance(value, Decimal):
        return float(value) if random.random() < 0.3 else value
    return value


def write_statistics(rows: list[dict[str, Any]], physical: dict[str, str], random: Random) -> str:
    low, high, nulls = {}, {}, {}
    for name, known in physical.items():
        values = [row[name] for row in rows if row[name] is not None]
        if random.random() < 0.15:
            continue
        nulls[known] = len(rows) - len(values)
        ordered = [value for value in values if value == value]
        if not ordered or (name == "share" and len(ordered) < len(values) and random.random() < 0.5):
            continue
        order = sorted(ordered, key=lambda value: value.encode() if isinstance(value, str) else value)
        low[known] = cut(order[0], random, is_upper=False)
        # some writers take NaN for the greatest, some leave it out
        is_nan = name == "share" and len(ordered) < len(values) and random.random() < 0.5
        high[known] = "NaN" if is_nan else cut(order[-1], random, is_upper=True)
    found = {"numRecords": len(rows), "minValues": low, "maxValues": high, "nullCount": nulls}
    if random.random() < 0.3:
        found["tightBounds"] = False

    class Encoder(json.JSONEncoder):
        def default(self, value: Any) -> Any:
            return float(value) if isinstance(value, Decimal) else super().default(value)

    text = Encoder().encode(found)
    for side in (low, high):  # decimals with all their digits, as Spark writes them
        for value in side.values():
            if isinstance(value, Decimal):
                text = text.replace(f": {float(value)!r}", f": {value}")
    return text.replace("Infinity", '"Infinity"').replace('-"Infinity"', '"-Infinity"')


def write_table(place: Path, seed: int) -> None:
    random = Random(f"explain {seed}")
    is_mapped = seed % 2 == 1
    single = [name for name in sorted(_GENERATED) if not any(name in names for names in _JOINT)]
    partitions = random.sample(single, random.choice((1, 1, 2)))
    if seed % 4 >= 2:
        partitions = random.sample(_JOINT, 1)[0]
    kinds = {**{name: kind for name, (kind, _) in _KINDS.items()}}
    kinds |= {name: _GENERATED[name][1] for name in partitions}
    physical = {name: f"col-{number}" if is_mapped else name for number, name in enumerate(kinds)}
    fields = []
    for number, (name, kind) in enumerate(kinds.items(), 1):
        metadata: dict[str, Any] = {}
        if is_mapped:
            metadata |= {
                "delta.columnMapping.id": number,
                "delta.columnMapping.physicalName": physical[name],
            }
        if name in _GENERATED:
            metadata["delta.generationExpression"] = _GENERATED[name][0]
        fields.append({"name": name, "type": kind, "nullable": True, "metadata": metadata})
    actions: list[dict[str, Any]] = [
        {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}},
        {
            "metaData": {
                "id": "t",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps({"type": "struct", "fields": fields}),
                "partitionColumns": [*partitions],
                "configuration": {"delta.columnMapping.mode": "name"} if is_mapped else {},
                "createdTime": 0,
            }
        },
    ]
    zone = timedelta(minutes=random.choice((-660, -300, 0, 330, 840)))
    groups: dict[tuple[str | None, ...], list[dict[str, Any]]] = {}
    for row in draw_rows(random, 60):
        groups.setdefault(tuple(generate(name, row, zone) for name in partitions), []).append(row)
    (place / "_delta_log").mkdir(parents=True)
    stored = {name: physical[name] for name in _KINDS}
    for number, (values, rows) in enumerate(groups.items()):
        columns = {
            physical[name]: pa.array([row[name] for row in rows], kind) for name, (_, kind) in _KINDS.items()
        }
        table = pa.table(columns)
        if is_mapped:
            table = table.cast(
                pa.schema(
                    [
                        field.with_metadata({"PARQUET:field_id": str(place_)})
                        for place_, field in enumerate(table.schema, 1)
                    ]
                )
            )
        pq.write_table(table, place / f"f{number}.parquet")
        actions.append(
            {
                "add": {
                    "path": f"f{number}.parquet",
                    "partitionValues": {
                        physical[name]: value for name, value in zip(partitions, values, strict=True)
                    },
                    "size": (place / f"f{number}.parquet").stat().st_size,
                    "modificationTime": 0,
                    "dataChange": True,
                    "stats": write_statistics(rows, stored, random),
                }
            }
        )
    lines = "\n".join(json.dumps(action) for action in actions)
    (place / "_delta_log" / f"{0:020}.json").write_text(lines)


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("seed", range(16))
def test_no_file_with_a_row_that_fits_is_skipped(tmp_path: Path, seed: int) -> None:
    write_table(tmp_path, seed)
    table = ll.open(tmp_path)
    assert table.current is not None
    state = State(table, table.current, table.schema)
    predicates = list(state.make_predicates(f"delta {seed}", _PER_TABLE))
    skipped = 0
    for predicate, found in zip(predicates, state.ask([one.duck for one in predicates]), strict=True):
        explanation = table.explain(predicate.text)
        kept = {file.path for file in explanation.kept}
        fits = {state.files[number].path for number, (hits, _) in found.items() if hits}
        assert fits <= kept, predicate.text
        skipped += len(explanation.skipped)
    assert skipped > len(state.files)
    assert not table.findings


def test_days_of_times_skip_by_the_partition() -> None:
    table = ll.open(LAKES / "delta/spark/generated/table")
    explanation = table.explain("at > TIMESTAMP '2024-06-01 00:00:00'")
    assert [file.partition["day"] for file in explanation.kept] == [date(2025, 1, 31)]
    assert {share.reason for share in explanation.groups} == {"partition"}


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("CAST(`at` AS DATE)", ("at", "day")),
        ("( at )", ("at", "identity")),
        ("year(cast(at as date))", ("at", "year")),
        ("DATE_TRUNC('QUARTER', at)", ("at", "quarter")),
        ("TRUNC(day, 'yy')", ("day", "year")),
        ("date_format(at, 'yyyy-MM-dd-HH')", ("at", "hour")),
        ("substr(text, 0, 4)", ("text", "prefix 4")),
        ("DATE_FORMAT(at, 'dd')", None),
        ("DAY(at)", ("at", "day of month")),
        ("hour(`at`)", ("at", "hour of day")),
        ("MONTH(CAST(at AS DATE))", ("at", "month of year")),
        ("WEEKOFYEAR(at)", None),
        ("a + b", None),
        ("CAST(text AS INT)", None),
    ],
)
def test_expressions(expression: str, found: Any) -> None:
    assert parse_generation(expression) == found


@pytest.mark.parametrize("value", [None, 0, 99999, "no time", "99", date(9999, 12, 31), datetime(1, 1, 1)])
def test_a_value_that_no_time_is_cut_to_says_nothing(value: Any) -> None:
    for unit in ("hour", "day", "week", "month", "quarter", "year"):
        low, high = find_range(value, unit, "timestamptz")
        assert (low is None) == (high is None)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("1850-01-01T01:01:01.000+00:53", "00:07:02", "00:09:00.000999"),
        ("1850-01-01T01:01:01.000-00:53", "01:53:02", "01:55:00.000999"),
        ("1850-01-01T01:01:01.000+00:53:28", "00:07:33", "00:07:33.000999"),
        ("1850-01-01T01:01:01.000+05:30", "19:31:01", "19:31:01.000999"),
        ("1850-01-01T01:01:01.000Z", "01:01:01", "01:01:01.000999"),
    ],
)
def test_a_bound_in_a_zone_of_odd_minutes_is_as_wide_as_its_seconds(text: str, low: str, high: str) -> None:
    """delta-io/delta#6080: delta-spark before 4.0 cuts the offset of a local time to minutes."""
    kind = DataType("timestamp", "timestamptz", precision=6)
    target = pa.timestamp("us", "UTC")
    found = []
    for is_upper in (False, True):
        bound = read_bound(text, kind, is_upper=is_upper)[0]
        (columnar,) = _read_bounds(pa.array([text]), kind, target, is_upper).to_pylist()
        assert columnar == bound
        found.append(bound.time().isoformat())
    assert found == [low, high]


@pytest.mark.parametrize("names", [("y", "m"), ("y", "m", "d"), ("y", "m", "d", "h")])
def test_parts_of_a_date_skip_together(tmp_path: Path, names: tuple[str, ...]) -> None:
    """A year, a month, a day and an hour in columns of their own are one time; a part that is no date proves nothing."""
    kinds = {"at": "timestamp_ntz"} | dict.fromkeys(names, "integer")
    fields = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in kinds.items()]
    for field in fields[1:]:
        field["metadata"] = {"delta.generationExpression": _GENERATED[field["name"]][0]}
    values = [
        ("2024", "2", "1", "7"),
        ("2024", "2", "29", "0"),
        ("2024", "12", "31", "23"),
        ("2023", "3", "1", "7"),
    ]
    values += [("2024", "13", "0", "24"), ("2024", None, "1", "1"), (None, None, None, None)]
    schema = json.dumps({"type": "struct", "fields": fields})
    metadata = METADATA["metaData"] | {"schemaString": schema, "partitionColumns": [*names]}
    adds = [
        add(f"f{number}", partitionValues=dict(zip(names, parts, strict=False)))
        for number, parts in enumerate(values)
    ]
    write_commit(tmp_path, 0, PROTOCOL, {"metaData": metadata}, *adds)
    table = ll.open(tmp_path)

    def keep(predicate: str) -> str:
        return "".join(sorted(file.recorded_path[1:] for file in table.explain(predicate).kept))

    assert keep("at < TIMESTAMP_NTZ '2024-02-01 00:00:00'") == "345"
    assert keep("at >= TIMESTAMP_NTZ '2024-03-01 00:00:00'") == "245"
    assert keep("at = TIMESTAMP_NTZ '2024-02-29 00:10:00'") == ("0145" if len(names) == 2 else "145")
    assert keep("at > TIMESTAMP_NTZ '2024-02-01 08:00:00' AND at < TIMESTAMP_NTZ '2024-03-01 00:00:00'") == (
        "145" if len(names) == 4 else "0145"
    )
    assert keep("at IS NULL") == "6"
