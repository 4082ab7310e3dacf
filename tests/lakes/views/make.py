"""Make the Iceberg views of this folder with Spark and Iceberg's own Java API, each with the engine's answers.

    python tests/lakes/views/make.py

`orders_by_day` is created, replaced with other columns (comments on them), replaced by a version with SQL in two dialects,
and rolled back to the first: three versions, four lines of the log. `behind` is the table that it selects from. Both are
in one directory, as a catalog's warehouse has them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = Path("/tmp/lakes/views")

sys.path[:0] = [str(HERE.parents[2])]
os.environ |= {"HADOOP_USER_NAME": "lakes", "TZ": "UTC"}
time.tzset()

from lakelens.spark import session  # noqa: E402

VIEW = "iceberg.shop.orders_by_day"
FIRST = "SELECT day, count(*) AS orders FROM iceberg.shop.orders GROUP BY day"
SECOND = "SELECT day, count(*) AS orders, sum(price) AS turnover FROM orders GROUP BY day"
TRINO = 'SELECT "day", count(*) AS orders, sum("price") AS turnover FROM "orders" GROUP BY 1'


def main() -> int:
    shutil.rmtree(ROOT, ignore_errors=True)
    spark = session(ROOT, formats=("iceberg",), progress=print)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.shop")
    spark.sql("CREATE TABLE iceberg.shop.orders (id INT, day DATE, price DECIMAL(9,2))")
    spark.sql(
        "INSERT INTO iceberg.shop.orders VALUES (1, DATE '2024-01-01', 9.50), (2, DATE '2024-01-02', 1.25)"
    )
    spark.sql(
        f"CREATE VIEW {VIEW} (day COMMENT 'when it was ordered', orders COMMENT 'how many: <b>all</b> of them') "
        f"COMMENT 'orders of each day' TBLPROPERTIES ('owner'='shop') AS {FIRST}"
    )
    spark.sql("USE iceberg.shop")
    spark.sql(f"CREATE OR REPLACE VIEW {VIEW} (day, orders, turnover COMMENT 'in euros') AS {SECOND}")
    replace_version(spark, ("spark", SECOND), ("trino", TRINO), of="current")
    spark.sql(f"ALTER VIEW {VIEW} SET TBLPROPERTIES ('replace.drop-dialect.allowed'='true')")
    replace_version(spark, ("spark", FIRST), of="first")
    spark.sql("USE spark_catalog.default")
    described = {row[0]: row[1] for row in spark.sql(f"DESCRIBE EXTENDED {VIEW}").collect()}
    properties = {row[0]: row[1] for row in spark.sql(f"SHOW TBLPROPERTIES {VIEW}").collect()}
    rows = [
        [str(value) for value in row] for row in spark.sql(f"SELECT * FROM {VIEW} ORDER BY day").collect()
    ]
    answers = {
        "engine": f"iceberg 1.12.0, spark {spark.version}",
        "view": VIEW,
        "describe": described,
        "properties": properties,
        "rows": rows,
        "java": ask(spark),
    }
    spark.stop()
    target = HERE / "shop"
    shutil.rmtree(target, ignore_errors=True)
    for name in ("orders_by_day", "orders"):
        shutil.copytree(ROOT / "iceberg/shop" / name, target / name, ignore=shutil.ignore_patterns("*.crc"))
    (HERE / "answers.json").write_text(json.dumps(answers, indent=1, default=str) + "\n")
    shutil.rmtree(ROOT)
    return 0


def load(spark):
    """The view, as Iceberg's catalog loads it."""
    iceberg = spark._jvm.org.apache.iceberg
    catalog = iceberg.spark.Spark3Util.loadIcebergCatalog(spark._jsparkSession, "iceberg")
    levels = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.String, 1)
    levels[0] = "shop"
    namespace = iceberg.catalog.Namespace.of(levels)
    return catalog.loadView(iceberg.catalog.TableIdentifier.of(namespace, "orders_by_day"))


def replace_version(spark, *queries, of):
    """Replace the current version, with the schema of the current or of the first one."""
    view = load(spark)
    version = (
        view.currentVersion() if of == "current" else min(view.versions(), key=lambda one: one.versionId())
    )
    change = view.replaceVersion().withSchema(view.schemas()[version.schemaId()])
    change = change.withDefaultCatalog(version.defaultCatalog()).withDefaultNamespace(
        version.defaultNamespace()
    )
    for dialect, sql in queries:
        change = change.withQuery(dialect, sql)
    change.commit()


def ask(spark):
    """What the Java API says of the view."""
    view = load(spark)
    return {
        "uuid": view.uuid().toString(),
        "location": view.location(),
        "current": view.currentVersion().versionId(),
        "properties": dict(view.properties()),
        "versions": [
            {
                "id": one.versionId(),
                "schema": one.schemaId(),
                "at": one.timestampMillis(),
                "operation": one.operation(),
                "catalog": one.defaultCatalog(),
                "namespace": str(one.defaultNamespace()),
                "summary": dict(one.summary()),
                "sql": {rep.dialect(): rep.sql() for rep in one.representations()},
            }
            for one in view.versions()
        ],
        "schemas": {
            str(number): [
                [field.fieldId(), field.name(), field.type().toString(), field.isOptional(), field.doc()]
                for field in schema.columns()
            ]
            for number, schema in dict(view.schemas()).items()
        },
        "history": [[one.timestampMillis(), one.versionId()] for one in view.history()],
    }


if __name__ == "__main__":
    sys.exit(main())
