"""Hive tables, one function each, written by Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CASES: dict[str, Callable[[Any, str], str]] = {}


def case(name: str) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        CASES[name] = lambda spark, table: function(spark, f"spark_catalog.lakes.{table}")
        return function

    return register


def run(spark: Any, table: str, *statements: str) -> str:
    for statement in statements:
        spark.sql(statement.replace("{t}", table))
    return table


@case("parquet")
def parquet(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT COMMENT 'the id', name STRING) USING parquet COMMENT 'plain' TBLPROPERTIES ('k'='v')",
        "INSERT INTO {t} VALUES (1, 'a')",
        "INSERT INTO {t} VALUES (2, 'b'), (3, NULL)",
        "ANALYZE TABLE {t} COMPUTE STATISTICS FOR ALL COLUMNS",
    )
