"""One row into a table of each format on local Spark, read back through lakelens.

    python binder/spark_job.py

The first run on a machine fetches the jars. Exits with an error when a row does not come back.
"""

from __future__ import annotations

import sys
import tempfile

import lakelens as ll

TABLES = {
    "hive": ("spark_catalog.default.t", "USING hive OPTIONS (fileFormat 'parquet')"),
    "iceberg": ("iceberg.db.t", "USING iceberg"),
    "paimon": ("paimon.db.t", ""),
    "delta": ("spark_catalog.default.d", "USING delta"),
}


def main() -> int:
    """Run the job; 0 when every table holds its row."""
    with tempfile.TemporaryDirectory(prefix="lakelens-") as folder:
        spark = ll.spark.session(warehouse=folder, progress=lambda line: print(f"lakelens: {line}"))
        try:
            for catalog in ("iceberg", "paimon"):
                spark.sql(f"CREATE DATABASE IF NOT EXISTS {catalog}.db")
            for name, kind in TABLES.values():
                spark.sql(f"CREATE TABLE {name} (id BIGINT, name STRING) {kind}")
                spark.sql(f"INSERT INTO {name} VALUES (1, 'a')")
                rows = [tuple(row) for row in spark.table(name).collect()]
                files = ll.open(name, spark=spark).files
                if rows != [(1, "a")] or len(files) != 1:
                    print(f"lakelens: {name} holds {rows} in {files!r}", file=sys.stderr)
                    return 1
                print(f"lakelens: {name} holds (1, 'a') in one file")
        finally:
            spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
