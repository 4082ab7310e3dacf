"""What Spark plans to read for a predicate, beside what we keep: what Spark skips we skip, but for causes that are listed.

Spark's plan is that of Iceberg 1.12 and Paimon 0.9 (`BatchScanExec`'s input partitions); nothing is read. Both directions
are counted: files that we skip and Spark reads, and files that Spark skips and we keep, each of which must have a cause.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pytest

import lakelens as ll
from lakelens.analysis.explain.explanation import Explanation
from lakelens.model.datafile import DataFile
from lakelens.model.stats import Term, list_terms
from tests.support import LAKES
from tests.support.predicates import Predicate
from tests.support.refereed import State
from tests.support.spark_plans import list_planned

pytestmark = pytest.mark.spark

_PER_LAKE = 5
_PER_TABLE = 16


# --- why Spark skips files that we keep ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """A file that Spark skips and we keep: how many of its rows fit by DuckDB, and how many other files Spark reads."""

    explanation: Explanation
    file: DataFile
    fits: int
    planned: int

    @property
    def terms(self) -> list[Term]:
        return list(list_terms(self.explanation.condition))

    def has(self, logical: str, *tests: str) -> bool:
        """Whether there is a comparison of a column of such a type, by one of these tests if any are given."""
        return any(
            term.type.logical.startswith(logical) and (not tests or term.test in tests) for term in self.terms
        )


def _is_above_nan(one: Difference) -> bool:
    """Bounds leave NaN out, which SQL orders above every number: without a count of NaN `x > 5` may hold in any file."""
    return one.has("float", ">", ">=", "!=", "not in", "is nan")


def _is_zero(one: Difference) -> bool:
    """Iceberg orders -0.0 below 0.0, so that a file of the one is skipped for the other; in SQL they are equal."""
    return one.fits > 0 and any(
        value == 0.0 for term in one.terms for value in term.values if term.type.logical in _REAL
    )


def _is_signed_uuid(one: Difference) -> bool:
    """Iceberg's Java library compares UUIDs as two signed numbers: half of them are below zero."""
    return one.has("uuid", "<", "<=", ">", ">=")


def _is_inside_null(one: Difference) -> bool:
    """ORC does not count the fields of a struct that is null: Iceberg loses rows by `st.x IS NULL`."""
    nested = any("." in term.column and term.test == "is null" for term in one.terms)
    return one.fits > 0 and one.file.file_format == "orc" and nested


def _is_required(one: Difference) -> bool:
    """Spark takes the schema's word that a column has no nulls; we take counts, and there are none."""
    schema = one.explanation.table.schema
    tested = [
        schema.field(term.field_id)
        for term in one.terms
        if term.test == "is null" and term.field_id is not None
    ]
    return any(not field.nullable for field in tested)


def _is_contradiction(one: Difference) -> bool:
    """Spark puts the value of `x = 5` (or `<=>`) into the other parts about x, and finds that nothing fits at all."""
    equal = {term.column for term in one.terms if term.test == "="}
    counts = Counter(term.column for term in one.terms)
    return one.planned == 0 and one.fits == 0 and any(counts[name] > 1 for name in equal)


def _is_distinct_in_paimon(one: Difference) -> bool:
    """Paimon 0.9 pushes IS DISTINCT FROM as `!=`, and loses the rows that are null."""
    explanation = one.explanation
    return (
        explanation.table.format == "paimon"
        and "DISTINCT" in explanation.predicate
        and one.has("", "is null")
    )


def _is_older_schema(one: Difference) -> bool:
    """Paimon 0.9 turns filters into those of a file's older schema wrongly: `id > -1000000000000` into one of 32 bits."""
    table = one.explanation.table
    return table.format == "paimon" and one.file.schema_id != table.schema.id


_REAL = ("float32", "float64")
CAUSES: dict[str, Callable[[Difference], bool]] = {
    "NaN is above every number": _is_above_nan,
    "zeros of both signs: Iceberg loses rows": _is_zero,
    "UUIDs in signed order: Iceberg loses rows": _is_signed_uuid,
    "fields of a null struct in ORC: Iceberg loses rows": _is_inside_null,
    "IS DISTINCT FROM: Paimon 0.9 loses rows": _is_distinct_in_paimon,
    "files of an older schema: Paimon 0.9 loses rows": _is_older_schema,
    "no nulls by the schema": _is_required,
    "a contradiction that the optimizer finds": _is_contradiction,
}


def find_cause(difference: Difference) -> str | None:
    return next((name for name, fits in CAUSES.items() if fits(difference)), None)


# --- the comparison ------------------------------------------------------------------------------------------------------


def compare_plans(
    path: str, frame: Any, seed: str, count: int, counted: Counter[str], names: str | None = None
) -> list[str]:
    """Ask some predicates, about the columns that a text names, of Spark and of us: the files kept without a cause."""
    table = ll.open(path)
    if table.current is None:
        return []
    state = State(table, table.current, table.schema)
    if not state.rows or not state.columns:
        return []
    if names is not None:
        state.columns = [one for one in state.columns if re.search(rf"\b{one.name}\b", names)]
    wrong = []
    for predicate in state.make_predicates(seed, count, is_plain=True):
        text = predicate.text.replace('"', "`")
        if "''" in text.replace("('')", "").replace(" ''", ""):  # Spark joins texts that stand side by side
            continue
        try:
            planned = list_planned(frame.where(text))
        except Exception:
            counted["refused by Spark"] += 1
            continue
        wrong += compare_files(state, predicate, planned, seed, counted)
    return wrong


def compare_files(
    state: State, predicate: Predicate, planned: set[str], seed: str, counted: Counter[str]
) -> list[str]:
    """What Spark plans to read for one predicate, beside what we keep."""
    explanation = state.table.explain(predicate.text)
    kept = {Path(file.path).name for file in explanation.kept}
    every = {Path(file.path).name: number for number, file in enumerate(state.files)}
    assert planned <= set(every), predicate.text
    counted["predicates"] += 1
    counted["files"] += len(every)
    counted["read by Spark"] += len(planned)
    counted["kept by us"] += len(kept)
    counted["only Spark reads"] += len(planned - kept)
    wrong = []
    fits = state.ask([predicate.duck])[0] if kept - planned else {}
    for name in sorted(kept - planned):
        number = every[name]
        hits = fits.get(number, (0, 0))[0]
        cause = find_cause(Difference(explanation, state.files[number], hits, len(planned)))
        counted[f"only we keep: {cause}"] += 1
        if cause is None:
            wrong.append(f"{seed}: {predicate.text}: {name}, {hits} rows")
    return wrong


def report(counted: Counter[str], capsys: Any) -> None:
    with capsys.disabled():
        print(f"\n{dict(sorted(counted.items()))}")


@pytest.fixture(scope="module")
def engine(spark: Any) -> Iterator[Any]:
    """Spark in UTC, with texts as they are written."""
    changed = {"spark.sql.session.timeZone": "UTC", "spark.sql.parser.escapedStringLiterals": "true"}
    before = {name: spark.conf.get(name) for name in changed}
    for name, value in changed.items():
        spark.conf.set(name, value)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.explained")
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


# --- tables that are kept ------------------------------------------------------------------------------------------------


def test_iceberg_skips_nothing_of_the_kept_tables_that_we_keep(engine: Any, capsys: Any) -> None:
    counted: Counter[str] = Counter()
    wrong: list[str] = []
    for folder in sorted((LAKES / "spark/iceberg").iterdir()):
        answers = json.loads((folder / "answers.json").read_text("utf-8"))
        location = unquote(urlparse(answers["location"]).path) if "location" in answers else ""
        place = Path(location)
        if not location.startswith("/tmp/lakes/") or place.exists() or answers.get("view"):
            continue
        shutil.copytree(folder / "table", place)
        name = f"explained.{folder.name.replace('-', '_')}"
        recorded = answers["metadata_location"]
        try:
            engine.sql(
                f"CALL iceberg.system.register_table(table => '{name}', metadata_file => '{recorded}')"
            )
            frame = engine.table(f"iceberg.{name}")
            wrong += compare_plans(str(folder / "table"), frame, folder.name, _PER_LAKE, counted)
            engine.sql(f"DROP TABLE iceberg.{name}")
        finally:
            shutil.rmtree(place)
    report(counted, capsys)
    assert not wrong, "\n".join(wrong)
    assert counted["predicates"] > 250 and counted["refused by Spark"] < counted["predicates"] // 20
    assert counted["read by Spark"] < counted["files"] * 3 // 4


@pytest.mark.exhaustive
def test_paimon_skips_nothing_of_the_kept_tables_that_we_keep(engine: Any, capsys: Any) -> None:
    counted: Counter[str] = Counter()
    wrong: list[str] = []
    for folder in sorted((LAKES / "spark/paimon").iterdir()):
        frame = engine.read.format("paimon").load(str(folder / "table"))
        wrong += compare_plans(str(folder / "table"), frame, folder.name, _PER_LAKE + 1, counted)
    report(counted, capsys)
    assert not wrong, "\n".join(wrong)
    assert counted["predicates"] > 200 and counted["refused by Spark"] < counted["predicates"] // 20
    assert counted["read by Spark"] < counted["files"] * 3 // 4


# --- tables written here -------------------------------------------------------------------------------------------------

_COLUMNS = "id bigint, i int, s string, d date, ts timestamp, tn timestamp_ntz, dec decimal(9, 2), b binary"
_ROWS = """
    SELECT n AS id, CAST(n * 7 - 60 AS int) AS i, concat(substr('abcüz', n % 5 + 1, 2), CAST(n % 4 AS string), 'tail') AS s,
        date_add(DATE '1969-12-20', CAST(n * 3 AS int)) AS d,
        timestamp_micros(n * 40000000000 - 200000000001) AS ts,
        CAST(timestamp_micros(n * 3600000000 - 7200000001) AS timestamp_ntz) AS tn,
        CAST((n - 12) * 7.31 AS decimal(9, 2)) AS dec, CAST(concat(CAST(n AS string), 'x') AS binary) AS b
    FROM (SELECT id AS n FROM range(24)) UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
"""
TRANSFORMS = {
    "identity": "s",
    "identity_of_dates": "d",
    "identity_of_decimals": "dec",
    "buckets": "bucket(5, id)",
    "buckets_of_text": "bucket(5, s)",
    "buckets_of_decimals": "bucket(5, dec)",
    "buckets_of_dates": "bucket(5, d)",
    "buckets_of_times": "bucket(5, ts)",
    "buckets_of_bytes": "bucket(5, b)",
    "truncated_text": "truncate(2, s)",
    "truncated_integers": "truncate(20, i)",
    "truncated_longs": "truncate(5, id)",
    "truncated_decimals": "truncate(1000, dec)",
    "years": "years(ts)",
    "months": "months(d)",
    "days": "days(ts)",
    "days_without_zone": "days(tn)",
    "hours": "hours(tn)",
    "two": "days(d), bucket(3, s)",
}
_WITHOUT_BOUNDS = "'write.metadata.metrics.default' = 'none', 'write.spark.fanout.enabled' = 'true'"
EVOLVED = (
    "ALTER TABLE {} ADD PARTITION FIELD days(ts)",
    "ALTER TABLE {} ADD PARTITION FIELD bucket(3, id)",
    "ALTER TABLE {} REPLACE PARTITION FIELD days(ts) WITH months(ts)",
    "ALTER TABLE {} RENAME COLUMN s TO text",
    "ALTER TABLE {} DROP PARTITION FIELD bucket(3, id)",
    "ALTER TABLE {} ALTER COLUMN i TYPE bigint",
    "ALTER TABLE {} ADD PARTITION FIELD truncate(1, text)",
)
_FLOATS = "SELECT CAST(n AS float) AS f, CAST(n AS double) * 1.5 AS g, n AS id FROM (SELECT id AS n FROM range({}, {}))"
OTHERS = {
    "nan": (
        "f float, g double, id bigint",
        "",
        _FLOATS.format(0, 4),
        "SELECT CAST('NaN' AS float), CAST('NaN' AS double), 9L",
        "SELECT CAST(1 AS float), CAST('NaN' AS double), 10L UNION ALL SELECT NULL, -0.0D, 11L",
        "SELECT CAST('-Infinity' AS float), CAST('Infinity' AS double), 12L",
        _FLOATS.format(20, 24),
    ),
    "nan_as_partition": (
        "f float, g double, id bigint",
        "PARTITIONED BY (g)",
        _FLOATS.format(0, 3),
        "SELECT CAST(1 AS float), CAST('NaN' AS double), 10L UNION ALL SELECT NULL, -0.0D, 11L",
        "SELECT CAST(1 AS float), CAST(NULL AS double), 12L",
    ),
    "nested": (
        "id bigint, st struct<x: int, y: struct<z: string>>, li array<int>, ma map<string, int>",
        "",
        "SELECT 1L, named_struct('x', 1, 'y', named_struct('z', 'a')), array(1), map('a', 1)",
        "SELECT 2L, named_struct('x', 5, 'y', NULL), NULL, NULL UNION ALL SELECT 3L, NULL, array(), map()",
        "SELECT 4L, NULL, NULL, NULL",
    ),
    "nested_in_orc": (
        "id bigint, st struct<x: int, y: struct<z: string>>, li array<int>",
        "TBLPROPERTIES ('write.format.default' = 'orc')",
        "SELECT 1L, named_struct('x', 1, 'y', named_struct('z', 'a')), array(1)",
        "SELECT 2L, named_struct('x', 5, 'y', NULL), NULL UNION ALL SELECT 3L, NULL, array()",
        "SELECT 4L, NULL, NULL",
    ),
    "many_columns": (
        ", ".join(f"c{number} int" for number in range(110)),
        "",
        "SELECT " + ", ".join(str(number) for number in range(110)),
        "SELECT " + ", ".join(str(number * 2) for number in range(110)),
    ),
    "required": ("id bigint NOT NULL, s string NOT NULL", "", "SELECT 1L, 'a'", "SELECT 2L, 'b'"),
    "long_texts": (
        "s string, b binary",
        "",
        "SELECT repeat('a', 40), CAST(repeat('a', 40) AS binary)",
        "SELECT repeat('b', 40), CAST(repeat('b', 16) AS binary)",
        "SELECT concat(repeat('c', 15), 'ü', repeat('d', 9)), unhex(repeat('ff', 20))",
    ),
}


def write_tables(engine: Any) -> Iterator[str]:
    """Tables with every transform (without bounds, so that partitions alone decide), with evolved specs, and odd values."""
    engine.sql(f"CREATE OR REPLACE TEMPORARY VIEW explained_rows AS {_ROWS}")
    for case, transform in TRANSFORMS.items():
        name = f"iceberg.explained.{case}"
        engine.sql(
            f"CREATE TABLE {name} ({_COLUMNS}) USING iceberg PARTITIONED BY ({transform}) TBLPROPERTIES ({_WITHOUT_BOUNDS})"
        )
        engine.sql(f"INSERT INTO {name} SELECT * FROM explained_rows")
        yield name
    name = "iceberg.explained.evolved"
    engine.sql(f"CREATE TABLE {name} ({_COLUMNS}) USING iceberg TBLPROPERTIES ({_WITHOUT_BOUNDS})")
    for change in EVOLVED:
        engine.sql(f"INSERT INTO {name} SELECT * FROM explained_rows WHERE id IS NULL OR id % 5 = 2")
        engine.sql(change.format(name))
    engine.sql(f"INSERT INTO {name} SELECT * FROM explained_rows WHERE id IS NULL OR id % 5 = 2")
    yield name
    for case, (columns, more, *inserts) in OTHERS.items():
        name = f"iceberg.explained.{case}"
        engine.sql(f"CREATE TABLE {name} ({columns}) USING iceberg {more}")
        for insert in inserts:
            engine.sql(f"INSERT INTO {name} {insert}")
        yield name


@pytest.mark.exhaustive
def test_iceberg_skips_nothing_of_tables_written_here_that_we_keep(engine: Any, capsys: Any) -> None:
    counted: Counter[str] = Counter()
    wrong: list[str] = []
    for name in write_tables(engine):
        frame = engine.table(name)
        place = engine.sql(f"DESCRIBE EXTENDED {name}").where("col_name = 'Location'").collect()[0][1]
        names = TRANSFORMS.get(name.rsplit(".", 1)[-1])
        wrong += compare_plans(unquote(urlparse(place).path), frame, name, _PER_TABLE, counted, names)
        engine.sql(f"DROP TABLE {name}")
    report(counted, capsys)
    assert not wrong, "\n".join(wrong)
    assert counted["predicates"] > 300 and counted["refused by Spark"] < counted["predicates"] // 20
    assert counted["read by Spark"] < counted["files"] * 3 // 4
    assert counted["only we keep: NaN is above every number"]
