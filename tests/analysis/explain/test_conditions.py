"""Predicates as conditions: what is refused, with its place; and that what is understood means what DuckDB means by it."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakelens.analysis.explain.conditions import parse_condition
from lakelens.errors import LakeError, Missing
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.schema import DataType, Field, Schema
from lakelens.model.stats import Condition, list_terms
from tests.support.evaluation import evaluate
from tests.support.predicates import Maker, to_duck
from tests.support.stored_rows import list_columns

duckdb = pytest.importorskip("duckdb", reason="DuckDB is the referee")

_INNER = (Field(21, "x", DataType("int", "int32")), Field(22, "y", DataType("string", "string")))
_ELEMENT = (Field(31, "element", DataType("int", "int32")),)
_TYPES = {
    "id": DataType("long", "int64"),
    "name": DataType("string", "string"),
    "day": DataType("date", "date"),
    "ts": DataType("timestamp", "timestamp", precision=6),
    "tz": DataType("timestamptz", "timestamptz", precision=6),
    "price": DataType("decimal(9, 2)", "decimal", precision=9, scale=2),
    "ok": DataType("boolean", "boolean"),
    "f": DataType("float", "float32"),
    "d": DataType("double", "float64"),
    "b": DataType("binary", "binary"),
    "u": DataType("uuid", "uuid"),
    "t": DataType("time", "time", precision=6),
    "st": DataType("struct<x: int, y: string>", "struct", children=_INNER),
    "li": DataType("list<int>", "list", children=_ELEMENT),
    "fx": DataType("fixed[2]", "fixed", length=2),
    "odd name": DataType("int", "int32"),
    "wide": DataType("decimal(38, 10)", "decimal", precision=38, scale=10),
}
SCHEMA = Schema(0, tuple(Field(number, *item) for number, item in enumerate(_TYPES.items(), 1)))

# what is asked, the character that the message names, a part of what it says
REFUSED = [
    # no predicate
    ("", None, "not one predicate"),
    ("   ", None, "not one predicate"),
    ("id >", 4, "something is missing"),
    ("id > > 5", 1, "not understood"),
    ("(id = 1", 7, "Expecting )"),
    ("id = 1)", 7, "Unexpected token"),
    ("id = 1 OR", 8, "something is missing"),
    ("AND id = 1", 10, "something is missing"),
    ("NOT", 1, "something is missing"),
    ("id 1", 4, "Unexpected token"),
    ("odd name = 1", 5, "Unexpected token"),
    ("id = 5, name = 'a'", 7, "Unexpected token"),
    ("name = 'unterminated", 8, "quote that is not closed"),
    ('name = "x', 8, "quote that is not closed"),
    ("id = 1 /* and", 8, ""),
    ("b = X'zz'", 5, "not hexadecimal"),
    ("id", 1, "id (long) is not TRUE or FALSE"),
    ("id IS TRUE", 1, "id (long) is not TRUE or FALSE"),
    ("id = 1 AND\n  name ==== 'a'", 21, "something is missing"),
    # columns that there are not
    ("nosuch = 1", 1, "no column 'nosuch'"),
    ("id = 1 AND st.z = 1", 12, "no column 'st.z'"),
    ("t.id = 1", 1, "no column 't.id'"),
    ("li.element = 5", 1, "no column 'li.element'"),
    ("\0", 1, "no column"),
    ("💥 = 1", 1, "no column '💥'"),
    # types that do not fit
    ("id = 'abc'", 6, "expected a whole number"),
    ("id = 'NaN'", 6, "expected a whole number"),
    ("id = TRUE", 1, "expected a whole number"),
    ("id = 0x10", 6, "expected a whole number"),
    ("price = 'NaN'", 9, "expected a number"),
    ("name = 5", 8, "expected text in single quotes"),
    ("day = 5", 7, "expected a date"),
    ("day = 'never'", 7, "expected a date"),
    ("day = '2024-02-30'", 7, "expected a date or a time that there is (day "),
    ("day > '10000-01-01'", 7, "expected a date"),
    ("ts = TRUE", 1, "expected a time"),
    ("ts = '2024-01-01T00:00:00Z'", 6, "without a zone"),
    ("tz = '2024-01-01T00:00:00+25:00'", 6, "at most 18 hours"),
    ("ok = 'maybe'", 6, "expected TRUE or FALSE"),
    ("b = 5", 5, "expected bytes"),
    ("fx = X'000000'", 6, "expected 2 bytes"),
    ("u = 'no'", 5, "expected a UUID"),
    ("t = '25:00'", 5, "expected a time of day"),
    ("st = 1", 1, "only its fields"),
    ("li IN (1)", 1, "only its fields"),
    ("id LIKE '5%'", 1, "LIKE needs a column of text"),
    ("isnan(id)", 1, "it holds no NaN"),
    # what no bound can prove
    ("id = name", 6, "a literal is expected"),
    ("1 = 1", 1, "a comparison of a column"),
    ("id + 1 > 5", 1, "a comparison of a column"),
    ("abs(id) = 1", 1, "'abs(id) = 1'"),
    ("upper(name) = 'A'", 1, "a comparison of a column"),
    ("cast(id as string) = '5'", 1, "a comparison of a column"),
    ("name ILIKE 'a%'", 1, "not understood"),
    ("name RLIKE 'a'", 1, "not understood"),
    ("name LIKE id", 1, "a pattern in single quotes"),
    ("name LIKE 'a' ESCAPE 'xy'", 1, "one character"),
    ("id BETWEEN name AND 5", 12, "a literal is expected"),
    ("id IN (1, name)", 11, "a literal is expected"),
    ("id IN ()", 1, "a list of literals"),
    ("id IS 5", 1, "IS needs"),
    ("li[0] = 5", 1, "a comparison of a column"),
    ("(id, name) = (1, 'a')", 1, "a comparison of a column"),
    ("CASE WHEN id = 1 THEN TRUE END", 11, "a comparison of a column"),
    ("day > DATE '2024-01-01' + INTERVAL '1' DAY", 12, "a literal is expected"),
    # statements, subqueries, functions, parameters
    ("id = 1; DROP TABLE t", 9, "not a predicate"),
    ("id = 1;;", 7, "not one predicate"),
    ("id = 1 -- all\n; DELETE FROM t", 24, "not a predicate"),
    ("SELECT * FROM t WHERE id = 1", 1, "not a predicate"),
    ("id = 1 UNION SELECT 2", 8, "not a predicate"),
    ("id = 1 ORDER BY id", 8, "not a predicate"),
    ("DROP TABLE t", 1, "not a predicate"),
    ("id IN (SELECT id FROM t)", 1, "a list of literals"),
    ("EXISTS (SELECT 1)", 16, "a comparison of a column"),
    ("id = (SELECT max(id) FROM t)", 14, "a literal is expected"),
    ("id > ANY(SELECT 1)", 17, "a literal is expected"),
    ("read_csv('/etc/passwd')", 1, "'read_csv('/etc/passwd')'"),
    ("pg_sleep(10)", 1, "not understood"),
    ("day = now()", 7, "a literal is expected"),
    ("id = CURRENT_DATE", 1, "a literal is expected"),
    ("id = ?", 1, "a literal is expected"),
    ("id = :x", 1, "a literal is expected"),
    ("id = {{ x }}", 9, "a literal is expected"),
]


@pytest.mark.parametrize(("text", "place", "said"), REFUSED, ids=[repr(text) for text, _, _ in REFUSED])
def test_what_is_no_predicate_is_refused_with_its_place(text: str, place: int | None, said: str) -> None:
    with pytest.raises(LakeError) as raised:
        parse_condition(text, SCHEMA)
    message = str(raised.value)
    assert said.replace("'", "") in message.replace("'", ""), message
    if place is not None:
        assert f"at character {place}" in message.replace(":", " ").replace(")", " "), message
        assert f"at character {place}0" not in message
    assert "sqlglot" not in message and "Error" not in message and "\n" not in message.replace(text, "")
    assert raised.value.__cause__ is None and raised.value.__suppress_context__ == (
        raised.value.__context__ is not None
    )


def test_a_predicate_is_text() -> None:
    for value in (5, None, ["id = 1"], b"id = 1"):
        with pytest.raises(TypeError, match="SQL as text"):
            parse_condition(value, SCHEMA)  # type: ignore[arg-type]


def test_the_nearest_names_are_offered() -> None:
    with pytest.raises(Missing, match=r"did you mean name\?"):
        parse_condition("nmae = 'a'", SCHEMA)


LONG = {
    "parentheses": "(" * 90_000 + "id = 1" + ")" * 90_000,
    "some parentheses": "(" * 3_000 + "id = 1" + ")" * 3_000,
    "negations": "NOT " * 40_000 + "id = 1",
    "alternatives": " OR ".join(["id = 1"] * 18_000),
    "as many as are allowed": " OR ".join(f"id = {number}" for number in range(2_000)),
    "nested": "".join(f"(id = 1 {'AND' if n % 2 else 'OR'} " for n in range(5_000)) + "id = 1" + ")" * 5_000,
    "a list": f"id IN ({', '.join(map(str, range(24_000)))})",
    "text": f"name = '{'a' * 190_000}'",
    "too much text": f"name = '{'a' * 5_000_000}'",
    "digits": f"id = {'9' * 190_000}",
    "signs": f"id = {'- ' * 50_000}5",
    "casts": f"id = {'cast(' * 8_000}5{' as int)' * 8_000}",
    "dots": f"id{'.x' * 50_000} = 1",
    "a number": "price > 1e999999999",
    "a small number": "price > 1e-999999999",
    "a cast number": "id = CAST('1e999999999' AS BIGINT)",
    "a double": "d > 1e999999999",
    "a pattern": f"name LIKE '{'%_' * 90_000}'",
    "brackets": "[" * 100_000,
    "quotes": "'" * 99_999,
    "comments": "/*" * 50_000,
}


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("kind", LONG)
def test_long_and_deep_predicates_end_soon(kind: str) -> None:
    began = clock.process_time()
    try:
        found: Any = parse_condition(LONG[kind], SCHEMA)
        assert list(list_terms(found)) is not None
    except LakeError as error:
        assert len(str(error)) < 500
    assert clock.process_time() - began < 20


_TEXT = """id name day ts st.x st ok f 1 -5 1.5 'a' '2024-01-01' X'00' NULL TRUE = != < >= AND OR NOT IN BETWEEN LIKE IS (
    ) , ; -- /* */ ' " ` . CAST( AS INT) DATE TIMESTAMP INTERVAL SELECT FROM CASE WHEN END ESCAPE DISTINCT :: [ ] { } ? :x
    EXISTS ( ANY ALL nosuch + * % || <=> isnan( starts_with( 1e400 'NaN' \\ \0 é"""
_WORDS = _TEXT.split()


@given(st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join) | st.text(max_size=30))
@example("id = CAST ( 'NaN' AS INT)")
@example("name LIKE '\\'")
def test_nonsense_is_understood_or_refused(text: str) -> None:
    try:
        found = parse_condition(text, SCHEMA)
    except LakeError as error:
        assert "sqlglot" not in str(error)
        return
    assert isinstance(found, Condition)


# --- what is understood --------------------------------------------------------------------------------------------------


def make_rows(random: Random, count: int) -> dict[str, list[Any]]:
    """Rows of every type: nulls, repeated values, NaN, zeros of both signs, times before 1970."""
    pools: dict[str, list[Any]] = {
        "id": [random.randint(-3, 3), 2**62 + 1, -(2**63), 0],
        "name": ["", "a", "ab", "a%", "a_b", "aé", "\U0001f600", "it's", "B", "\\"],
        "day": [date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29), date(1, 1, 1)],
        "ts": [datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime(2024, 1, 1), datetime(1, 1, 2)],
        "tz": [datetime(1969, 12, 31, 23, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)],
        "price": [Decimal("0.00"), Decimal("-9999999.99"), Decimal("1.05"), Decimal("9999999.99")],
        "wide": [
            Decimal("-1234567890123456789012345678.0123456789"),
            Decimal("0E-10"),
            Decimal("0.1000000000"),
        ],
        "ok": [True, False],
        "f": [0.0, -0.0, float("nan"), float("inf"), 1.5, 0.10000000149011612],
        "d": [0.0, -0.0, float("nan"), float("-inf"), 1e300, 0.1],
        "b": [b"", b"\0", b"\xff\xff", b"ab"],
        "fx": [b"\0\0", b"\xff\x01"],
        "t": [time(0), time(23, 59, 59, 999_999), time(12, 30)],
        "odd name": [1, -1, 2**31 - 1],
        "st": [1],
        "st.x": [7, -7],
        "st.y": ["x", "xy"],
    }
    return {
        name: [None if random.random() < 0.2 else random.choice(pool) for _ in range(count)]
        for name, pool in pools.items()
    }


def iterate_rows(rows: dict[str, list[Any]], count: int) -> Iterator[dict[str, Any]]:
    return ({name: values[number] for name, values in rows.items()} for number in range(count))


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("seed", range(30))
def test_a_condition_is_true_where_duckdb_says_so(seed: int) -> None:
    """Of three values: what is not known, and what is negated of it, is not true."""
    random, count = Random(f"conditions {seed}"), 40
    rows = make_rows(random, count)
    columns = [column for column in list_columns(SCHEMA) if column.name in rows]
    kinds = {one.name: pa.int8() if one.kind.is_nested else arrow_type(one.kind) for one in columns}
    arrays = {name: to_array(rows[name], kind) for name, kind in kinds.items()}
    engine = duckdb.connect()
    engine.execute("SET TimeZone = 'UTC'; SET threads = 1")
    given = pa.table(  # noqa: F841 - DuckDB finds it by its name
        {one.name: to_duck(arrays[one.name], one.kind) for one in columns} | {"#": pa.array(range(count))}
    )
    maker = Maker(columns, arrays, f"conditions {seed}")
    tried = 0
    for _ in range(40):
        predicate = maker.make()
        try:
            found = {
                row for (row,) in engine.execute(f'SELECT "#" FROM given WHERE {predicate.duck}').fetchall()
            }
        except duckdb.Error:  # a literal that its DECIMAL does not hold
            continue
        tried += 1
        condition = parse_condition(predicate.text, SCHEMA)
        ours = {number for number, row in enumerate(iterate_rows(rows, count)) if evaluate(condition, row)}
        if all(term.is_exact for term in list_terms(condition)):
            assert ours == found, (predicate, condition)
        assert found <= ours, (predicate, condition)
    assert tried > 30
