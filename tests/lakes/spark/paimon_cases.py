"""Paimon tables, one function each, written by Spark with Paimon 0.9."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CASES: dict[str, Callable[[Any, str], str]] = {}


def case(name: str) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        CASES[name] = lambda spark, table: function(spark, f"paimon.lakes.{table}")
        return function

    return register


def run(spark: Any, table: str, *statements: str) -> str:
    for statement in statements:
        spark.sql(statement.replace("{t}", table).replace("{name}", table.split(".", 1)[1]))
    return table


def properties(*options: str) -> str:
    """`properties("bucket=1")` as a clause of CREATE TABLE."""
    pairs = (option.split("=", 1) for option in options)
    return "TBLPROPERTIES (" + ", ".join(f"'{key}'='{value}'" for key, value in pairs) + ")"


@case("pk-dynamic-bucket")
def pk_dynamic_bucket(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT NOT NULL, name STRING) {properties('primary-key=id')}",
        "INSERT INTO {t} VALUES (1, 'a')",
        "INSERT INTO {t} VALUES (2, 'b')",
        "INSERT INTO {t} VALUES (1, 'changed'), (3, NULL)",
    )


@case("pk-fixed-bucket")
def pk_fixed_bucket(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT NOT NULL, name STRING) {properties('primary-key=id', 'bucket=2')}",
        "INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "INSERT INTO {t} VALUES (2, 'changed')",
        "INSERT INTO {t} VALUES (4, NULL)",
    )


@case("append")
def append(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, name STRING)",
        "INSERT INTO {t} VALUES (1, 'a')",
        "INSERT INTO {t} VALUES (2, 'b'), (3, NULL)",
    )
