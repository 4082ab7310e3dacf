"""Ask tables with Spark, and keep what its event log says of the queries: `log.zstd`, and `asked.json`.

    python tests/lakes/eventlogs/record.py

Of a log the lines stay that begin a query or change its plan, as Spark wrote them, and the first; the others say what this
machine is. `asked.json` has of each table the conditions that were asked, with how often, as they were written.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zstandard

HERE = Path(__file__).resolve().parent
ROOT = Path("/tmp/lakes/eventlogs")
sys.path[:0] = [str(HERE.parents[2])]
os.environ |= {"HADOOP_USER_NAME": "lakes", "TZ": "UTC"}
time.tzset()

from lakelens.spark import session  # noqa: E402

_KEPT = ("SparkListenerLogStart", "SparkListenerSQLExecutionStart", "SparkListenerSQLAdaptiveExecutionUpdate")
_COLUMNS = "id BIGINT, ts TIMESTAMP, day DATE, user_id INT, region STRING, amount DOUBLE, price DECIMAL(9,2)"
_ASKED = {
    "user_id = 5": 3,
    "id IN (1, 2, 30)": 2,
    "ts >= '2026-01-03 00:00:00' AND ts < '2026-01-03 06:00:00'": 2,
    "day = DATE '2026-01-02'": 1,
    "region = 'O''Hara, (north)'": 1,
    "region LIKE 'no%'": 1,
    "amount > 9.5 OR user_id <= 3": 1,
    "price >= 10.25": 1,
    "NOT (user_id = 7)": 1,
    "region IS NULL": 1,
}


def main() -> int:
    """Make the log, and keep what is wanted of it."""
    shutil.rmtree(ROOT, ignore_errors=True)
    logs = ROOT / "logs"
    logs.mkdir(parents=True)
    config = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": logs.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.driver.memory": "2g",
    }
    spark = session(ROOT, formats=("hive", "iceberg", "paimon"), config=config, progress=print)
    for catalog in ("iceberg", "paimon"):
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.lakes")
        ask_table(spark, f"{catalog}.lakes.visits", f"CREATE TABLE {{}} ({_COLUMNS})")
    spark.sql("CREATE DATABASE IF NOT EXISTS lakes")
    ask_table(spark, "lakes.visits_parquet", f"CREATE TABLE {{}} ({_COLUMNS}) USING parquet")
    spark.stop()
    (log,) = (path for path in logs.iterdir() if path.is_file() and not path.name.startswith("."))
    lines = [line for line in log.read_bytes().splitlines(keepends=True) if is_kept(line)]
    (HERE / "log.zstd").write_bytes(zstandard.ZstdCompressor(19).compress(b"".join(lines)))
    (HERE / "asked.json").write_text(json.dumps(_ASKED, indent=1) + "\n")
    print(len(lines), "lines", (HERE / "log.zstd").stat().st_size, "bytes")
    return 0


def is_kept(line: bytes) -> bool:
    """Say whether a line is kept."""
    return any(name in json.loads(line)["Event"] for name in _KEPT)


def ask_table(spark: Any, name: str, create: str) -> None:
    """Write a table, and ask it."""
    spark.sql(create.format(name))
    spark.sql(f"INSERT INTO {name} SELECT {', '.join(list_values())} FROM range(0, 100, 1, 1)")
    for where, number in _ASKED.items():
        for _ in range(number):
            spark.sql(f"SELECT * FROM {name} WHERE {where}").collect()
    spark.sql(f"SELECT count(id) FROM {name}").collect()
    spark.sql(f"SELECT a.id FROM {name} a JOIN {name} b ON a.id = b.id WHERE b.user_id = 9").collect()


def list_values() -> Iterator[str]:
    """List what a row has, by its number."""
    yield from (
        "id",
        "timestamp_seconds(1767225600 + id * 3600)",
        "date_add(DATE '2026-01-01', CAST(id / 24 AS INT))",
    )
    yield from (
        "CAST(pmod(id, 10) AS INT)",
        "element_at(array('north', 'south', 'O''Hara, (north)'), 1 + CAST(pmod(id, 3) AS INT))",
    )
    yield from ("id / 4.0", "CAST(id / 4 AS DECIMAL(9,2))")


if __name__ == "__main__":
    sys.exit(main())
