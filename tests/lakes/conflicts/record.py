"""Run pairs of concurrent operations on Spark with Iceberg, and record what the engine said of the second to commit.

    python tests/lakes/conflicts/record.py

Two sessions of one table: `held` is a catalog that caches what it loaded, `now` one that does not. `held` loads the table,
`now` commits the operation that comes between, then `held` runs its own on the state that it has loaded, and the engine
checks it against what came. Each pair begins with the same copy of a table, so that ids and names are the same.
A line of `iceberg.jsonl` is a pair: its operations, the base's snapshot id, the error of the second (class and message) or
none, and the files that were there afterwards and in no snapshot. `iceberg.tar.xz` has a folder of metadata for each.
Pairs that are recorded already are left out; the folder below the root is kept until the archive is made.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = Path("/tmp/lakes/conflicts")
KEPT = ROOT / "kept"
sys.path[:0] = [str(HERE.parents[2])]
os.environ["TZ"] = "UTC"
time.tzset()

from lakelens.spark import session  # noqa: E402

CATALOG = "org.apache.iceberg.spark.SparkCatalog"
CONFIG = {"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "1", "spark.ui.enabled": "false"}
for _name, _cached in (("held", "true"), ("now", "false")):
    CONFIG |= {
        f"spark.sql.catalog.{_name}": CATALOG,
        f"spark.sql.catalog.{_name}.type": "hadoop",
        f"spark.sql.catalog.{_name}.warehouse": str(ROOT / "hadoop"),
        f"spark.sql.catalog.{_name}.cache-enabled": _cached,
    }
PLACE = ROOT / "hadoop" / "lakes" / "t"
ISOLATIONS, MODES = ("serializable", "snapshot"), ("copy-on-write", "merge-on-read")
#: those that come between, in SQL
BETWEEN = {
    "append there": "INSERT INTO {t} VALUES (3, 0, 'b')",
    "append beside": "INSERT INTO {t} VALUES (500, 0, 'b')",
    "append elsewhere": "INSERT INTO {t} VALUES (503, 1, 'b')",
    "overwrite there": "INSERT OVERWRITE {t} VALUES (3, 0, 'b')",
    "overwrite elsewhere": "INSERT OVERWRITE {t} VALUES (503, 1, 'b')",
    "delete there": "DELETE FROM {t} WHERE p = 0 AND id = 4",
    "delete beside": "DELETE FROM {t} WHERE p = 0 AND id = 14",
    "delete elsewhere": "DELETE FROM {t} WHERE p = 1 AND id = 104",
    "delete partition": "DELETE FROM {t} WHERE p = 0",
    "merge there": "MERGE INTO {t} t USING (SELECT 5 AS id, 0 AS p, 'b' AS v) s ON t.id = s.id AND t.p = s.p "
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *",
    "compaction there": "CALL {c}.system.rewrite_data_files(table => 'lakes.t', where => 'p = 0', "
    "options => map('rewrite-all', 'true'))",
}
SECOND = {
    "append": "INSERT INTO {t} VALUES (3, 0, 'a')",
    "overwrite": "",
    "delete": "DELETE FROM {t} WHERE p = 0 AND id = 3",
    "merge": "MERGE INTO {t} t USING (SELECT 3 AS id, 0 AS p, 'a' AS v) s ON t.id = 3 AND t.p = 0 AND t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *",
    "compaction": BETWEEN["compaction there"],
}


def main() -> int:
    ROOT.mkdir(parents=True, exist_ok=True)
    KEPT.mkdir(exist_ok=True)
    lines = HERE / "iceberg.jsonl"
    done = [json.loads(line) for line in lines.read_text("utf-8").splitlines()] if lines.exists() else []
    known = {row["pair"] for row in done}
    pairs = [
        (isolation, mode, second, between)
        for second in SECOND
        for between in BETWEEN
        for isolation in ISOLATIONS
        for mode in MODES
    ]
    wanted = [pair for pair in pairs if " / ".join(pair) not in known]
    end = time.monotonic() + 840
    if wanted:
        spark = session(ROOT / "own", formats=("iceberg",), config=CONFIG, progress=print)
        spark.sql("CREATE NAMESPACE IF NOT EXISTS now.lakes")
        for pair in wanted:
            if time.monotonic() > end:
                print("time is over; start it again for the others")
                break
            with lines.open("a", encoding="utf-8") as file:
                row = run(spark, *pair)
                file.write(json.dumps(row, separators=(",", ":")) + "\n")
            print(row["pair"], "|", str(row["error"])[:120], flush=True)
        spark.stop()
    rows = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    with tarfile.open(HERE / "iceberg.tar.xz", "w:xz", preset=9) as archive:
        for row in sorted(rows, key=lambda row: row["folder"]):
            archive.add(KEPT / row["folder"], row["folder"], filter=_forget)
    return 0


def _forget(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
    return info


def make_base(spark: Any, isolation: str, mode: str) -> Path:
    """Make the table that every pair of this isolation and mode begins with: two files in each of three partitions."""
    base = ROOT / f"base-{isolation}-{mode}"
    if not base.exists():
        spark.sql("DROP TABLE IF EXISTS now.lakes.t PURGE")
        properties = {
            "format-version": "2",
            "commit.retry.num-retries": "4",
            "commit.retry.min-wait-ms": "10",
        }
        for verb in ("delete", "update", "merge"):
            properties |= {f"write.{verb}.mode": mode, f"write.{verb}.isolation-level": isolation}
        text = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        spark.sql(
            f"CREATE TABLE now.lakes.t (id INT, p INT, v STRING) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ({text})"
        )
        for start in (0, 10):
            spark.sql(
                f"INSERT INTO now.lakes.t SELECT CAST(q * 100 + {start} + id AS INT), CAST(q AS INT), 'x' FROM "
                "(SELECT id FROM range(10)), (SELECT id AS q FROM range(3))"
            )
        shutil.copytree(PLACE, base)
    return base


def run(spark: Any, isolation: str, mode: str, second: str, between: str) -> dict[str, Any]:
    """Run one pair on a fresh copy of its table, and describe what was said and left."""
    base = make_base(spark, isolation, mode)
    shutil.rmtree(PLACE, ignore_errors=True)
    shutil.copytree(base, PLACE)
    spark.catalog.refreshTable("held.lakes.t")
    spark.table("held.lakes.t").count()
    head = spark.sql(
        "SELECT snapshot_id FROM now.lakes.t.snapshots ORDER BY committed_at DESC LIMIT 1"
    ).first()[0]
    if between.startswith("overwrite"):
        values = (503, 1, "b") if "elsewhere" in between else (3, 0, "b")
        rows = spark.createDataFrame([values], "id INT, p INT, v STRING")
        rows.writeTo("now.lakes.t").overwritePartitions()
    else:
        spark.sql(BETWEEN[between].format(t="now.lakes.t", c="now")).collect()
    seen = set(list_files())
    error = None
    try:
        if second == "overwrite":
            # of one mode by the partitions that are written, of the other by a filter
            rows = spark.createDataFrame([(3, 0, "a")], "id INT, p INT, v STRING").writeTo("held.lakes.t")
            rows = rows.option("isolation-level", isolation).option("validate-from-snapshot-id", str(head))
            rows.overwritePartitions() if mode == MODES[0] else rows.overwrite(_say_partition())
        else:
            spark.sql(SECOND[second].format(t="held.lakes.t", c="held")).collect()
    except Exception as raised:
        said = [line for line in str(raised).splitlines() if not line.lstrip().startswith("at ")]
        error = "\n".join(said)[:1500]
    ids = spark.sql("SELECT snapshot_id FROM now.lakes.t.snapshots ORDER BY committed_at").collect()
    live = spark.sql("SELECT file_path FROM now.lakes.t.all_files").collect()
    known = {row[0].partition("/t/")[2] for row in live}
    left = sorted(
        path for path in list_files() if path not in seen and path not in known and path[:4] == "data"
    )
    folder = f"{ISOLATIONS.index(isolation)}{MODES.index(mode)}-{second}-{between.replace(' ', '-')}"
    target = KEPT / folder
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(PLACE / "metadata", target / "metadata", ignore=shutil.ignore_patterns("*.crc"))
    return {
        "pair": " / ".join((isolation, mode, second, between)),
        "folder": folder,
        "base": head,
        "snapshots": [row[0] for row in ids],
        "error": error,
        "left": left,
    }


def _say_partition() -> Any:
    from pyspark.sql.functions import col

    return col("p") == 0


def list_files() -> list[str]:
    """List the files below the table, but for checksums of the local file system."""
    return [
        str(path.relative_to(PLACE))
        for path in PLACE.rglob("*")
        if path.is_file() and not path.name.endswith(".crc")
    ]


if __name__ == "__main__":
    sys.exit(main())
