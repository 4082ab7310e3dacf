"""Spark through a catalog, and PyIceberg's catalogs: the same pointer is the same table, also behind the newest file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog

import lakelens as ll
from lakelens.io.relocation import split_location
from tests.catalogs.test_iceberg import describe
from tests.support.far import serve
from tests.support.rest_catalog import TOKEN, RestServer


def point_spark(spark: Any, pointer: str) -> None:
    """Let the session's catalog, whose tables are rows of SQLite, point at a metadata file.

    A REST catalog of Spark's would do too, but its client needs a module (jdk.net) that not every Java has.
    """
    path = spark.conf.get("spark.sql.catalog.iceberg.uri").removeprefix("jdbc:sqlite:")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "UPDATE iceberg_tables SET metadata_location = ? WHERE table_name = 'pointed'", (pointer,)
        )
    spark.sql("REFRESH TABLE iceberg.shop.pointed")


@pytest.mark.spark
def test_spark_and_two_catalogs_open_the_same_table(spark: Any, tmp_path: Path) -> None:
    spark.sql("CREATE TABLE iceberg.shop.pointed (id BIGINT, city STRING) USING iceberg")
    for number in range(3):
        spark.sql(f"INSERT INTO iceberg.shop.pointed VALUES ({number}, 'Oslo')")
    newest = ll.open("iceberg.shop.pointed", spark=spark)
    documents = [*sorted(newest.evidence.candidates), newest.metadata_path]
    sql = SqlCatalog("prod", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}")
    sql.create_namespace("shop")
    server = RestServer(lambda location: Path(split_location(location)[1]).read_bytes())
    with serve(server) as uri:
        for place in (documents[-1], documents[-2]):
            pointer = f"file://{place}"
            server.tables["shop", "pointed"] = pointer
            if sql.table_exists("shop.pointed"):
                sql.drop_table("shop.pointed")
            sql.register_table("shop.pointed", pointer)
            point_spark(spark, pointer)
            by_spark = ll.open("iceberg.shop.pointed", spark=spark)
            others = [
                ll.open("shop.pointed", catalog=catalog)
                for catalog in (sql, {"name": "prod", "type": "rest", "uri": uri, "token": TOKEN})
            ]
            for other in others:
                assert describe(other)[:4] == describe(by_spark)[:4]
                assert describe(other)[5] == describe(by_spark)[5]
            assert by_spark.metadata_path == place
            assert [f.code for f in by_spark.findings if f.severity == "warning"] == (
                [] if place == documents[-1] else ["catalog-pointer"]
            )
    assert len(others[0].snapshots) == 2 and len(newest.snapshots) == 3
    sql.close()
