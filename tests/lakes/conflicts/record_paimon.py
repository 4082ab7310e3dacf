"""Run pairs of concurrent statements on Spark with Paimon, and record what the engine said of the second to commit.

    python tests/lakes/conflicts/record_paimon.py

Both are statements of Spark. The second starts first: its session is stopped by `HoldFileSystem` when it renames its
snapshot into place, until the other one has committed; then its rename is refused, and the engine checks it again against
what came, as it does in a race. Each pair begins with a copy of the same table.

A line of `paimon.jsonl` is a pair: the kind of table, both statements, the second's base, the error (class and message) or
none, the snapshots with their users, and the files afterwards that are in no snapshot. `paimon.tar.xz` has a folder of
metadata for each. Pairs that are recorded already are left out.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path
from typing import Any

import pyspark

HERE = Path(__file__).resolve().parent
ROOT = Path("/tmp/lakes/conflicts/paimon")
KEPT, HOLD, WAREHOUSE = ROOT / "kept", ROOT / "hold", ROOT / "warehouse"
sys.path[:0] = [str(HERE.parents[2])]
os.environ["TZ"] = "UTC"
time.tzset()

from lakelens.spark import session  # noqa: E402

CONFIG = {
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
    "spark.driver.extraClassPath": str(ROOT / "classes"),
    "spark.driver.extraJavaOptions": f"-Dhold.folder={HOLD}",
    "spark.hadoop.fs.hold.impl": "HoldFileSystem",
    "spark.sql.catalog.lake": "org.apache.paimon.spark.SparkCatalog",
    "spark.sql.catalog.lake.warehouse": f"hold://{WAREHOUSE}",
    "spark.sql.catalog.lake.cache-enabled": "false",
}
#: kinds of tables: the primary key or none, properties
TABLES = {
    "append": ("", {"bucket": "-1", "compaction.max.file-num": "2"}),
    "append vectors": (
        "",
        {"bucket": "-1", "compaction.max.file-num": "2", "deletion-vectors.enabled": "true"},
    ),
    "append buckets": ("", {"bucket": "2", "bucket-key": "id"}),
    "keys": ("id, p", {"bucket": "2"}),
    "keys vectors": ("id, p", {"bucket": "2", "deletion-vectors.enabled": "true"}),
    "keys dynamic": ("id, p", {"bucket": "-1"}),
}
STATEMENTS = {
    "append there": "INSERT INTO {t} VALUES (3, 0, 'a'), (4, 0, 'a')",
    "append elsewhere": "INSERT INTO {t} VALUES (103, 1, 'a'), (104, 1, 'a')",
    "delete there": "DELETE FROM {t} WHERE p = 0 AND id = 3",
    "delete beside": "DELETE FROM {t} WHERE p = 0 AND id = 14",
    "delete elsewhere": "DELETE FROM {t} WHERE p = 1 AND id = 104",
    "update there": "UPDATE {t} SET v = 'u' WHERE p = 0 AND id = 3",
    "merge there": "MERGE INTO {t} t USING (SELECT 3 AS id, 0 AS p, 'm' AS v) s ON t.id = s.id AND t.p = s.p AND t.p = 0 "
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *",
    "overwrite there": "INSERT OVERWRITE {t} PARTITION (p = 0) VALUES (3, 'o')",
    "overwrite elsewhere": "INSERT OVERWRITE {t} PARTITION (p = 1) VALUES (103, 'o')",
    "drop there": "ALTER TABLE {t} DROP PARTITION (p = 0)",
    "truncate": "TRUNCATE TABLE {t}",
    "compaction there": "CALL lake.sys.compact(table => '{n}', partitions => 'p=0')",
    "compaction elsewhere": "CALL lake.sys.compact(table => '{n}', partitions => 'p=1')",
    "rescale there": "ALTER TABLE {t} SET TBLPROPERTIES ('bucket' = '3'); "
    "INSERT OVERWRITE {t} PARTITION (p = 0) SELECT id, v FROM {t} WHERE p = 0",
}
_WRITES = ("append there", "delete there", "overwrite there", "compaction there", "drop there")
#: by kind of table: the second statements, and those that come between
PAIRS = {
    "append": (
        (
            *("append there", "delete there", "update there", "merge there"),
            *("overwrite there", "drop there"),
            "truncate",
            "compaction there",
        ),
        (
            "append there",
            "delete there",
            "delete beside",
            "delete elsewhere",
            "overwrite there",
            "compaction there",
            "truncate",
        ),
    ),
    "append vectors": (
        ("append there", "delete there", "update there", "compaction there"),
        ("append there", "delete there", "delete beside", "overwrite there", "compaction there"),
    ),
    "append buckets": (
        ("append there", "delete there", "overwrite there", "compaction there"),
        ("append there", "delete there", "compaction there", "rescale there"),
    ),
    "keys": (
        ("append there", "delete there", "merge there", "overwrite there", "compaction there"),
        ("append there", "append elsewhere", "overwrite there", "compaction there", "rescale there"),
    ),
    "keys vectors": (
        ("append there", "delete there", "merge there", "overwrite there", "compaction there"),
        (
            "append there",
            "append elsewhere",
            "delete beside",
            "overwrite there",
            "compaction there",
            "drop there",
        ),
    ),
    "keys dynamic": (
        ("append there", "delete there", "compaction there"),
        ("append there", "overwrite there", "compaction there"),
    ),
}


def main() -> int:
    for folder in (ROOT, KEPT, HOLD):
        folder.mkdir(parents=True, exist_ok=True)
    jars = Path(pyspark.__file__).parent / "jars"
    command = ["javac", "-nowarn", "-d", str(ROOT / "classes"), "-cp", f"{jars}/*"]
    subprocess.run([*command, str(HERE / "HoldFileSystem.java")], check=True)
    lines = HERE / "paimon.jsonl"
    done = [json.loads(line) for line in lines.read_text("utf-8").splitlines()] if lines.exists() else []
    known = {row["pair"] for row in done}
    pairs = [
        (kind, second, between) for kind in PAIRS for second in PAIRS[kind][0] for between in PAIRS[kind][1]
    ]
    wanted = [pair for pair in pairs if " / ".join(pair) not in known]
    end = time.monotonic() + 780
    if wanted:
        spark = session(ROOT / "own", formats=("paimon",), config=CONFIG, progress=print)
        spark.sql("CREATE DATABASE IF NOT EXISTS lake.d")
        for pair in wanted:
            if time.monotonic() > end:
                print("time is over; start it again for the others")
                break
            row = run(spark, *pair)
            users = {user for number, _, user in row["snapshots"] if number > row["base"]}
            if not row.pop("held") or (not row["error"] and len(users) < 2):
                print(row["pair"], "| makes no commit: left out")
                continue
            with lines.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, separators=(",", ":")) + "\n")
            print(row["pair"], "|", str(row["error"])[:160].replace("\n", " "), flush=True)
        spark.stop()
    rows = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    with tarfile.open(HERE / "paimon.tar.xz", "w:xz", preset=9) as archive:
        for row in sorted(rows, key=lambda row: row["folder"]):
            archive.add(KEPT / row["folder"], row["folder"], filter=_forget)
    return 0


def _forget(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
    return info


def make_base(spark: Any, kind: str) -> Path:
    """Make the table that every pair of this kind begins with: two partitions, two inserts."""
    name = f"base_{kind.replace(' ', '_')}"
    base = WAREHOUSE / "d.db" / name
    if not base.exists():
        keys, properties = TABLES[kind]
        properties = properties | ({"primary-key": keys} if keys else {})
        text = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        spark.sql(
            f"CREATE TABLE lake.d.{name} (id INT, p INT, v STRING) PARTITIONED BY (p) TBLPROPERTIES ({text})"
        )
        for start, count in ((0, 10), (10, 10)):
            # long texts that do not compress: what a pair adds is small beside a file of the base
            spark.sql(
                f"INSERT INTO lake.d.{name} SELECT CAST(q * 100 + {start} + id AS INT), CAST(q AS INT), "
                "concat_ws('', transform(sequence(1, 40), n -> sha2(concat(id, q, n), 256))) FROM "
                f"(SELECT id FROM range({count})), (SELECT id AS q FROM range(2))"
            )
    return base


def run(spark: Any, kind: str, second: str, between: str) -> dict[str, Any]:
    """Run one pair on a fresh copy of its table, and describe what was said and left."""
    base = make_base(spark, kind)
    folder = "-".join(text.replace(" ", "_") for text in (kind, second, between))
    name = "t_" + folder.replace("-", "_")
    place = WAREHOUSE / "d.db" / name
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(base, place)
    head = max(int(path.name.partition("-")[2]) for path in (place / "snapshot").glob("snapshot-*"))
    for path in HOLD.iterdir():
        path.unlink()
    (HOLD / "HOLD").touch()
    errors: list[str] = []

    def execute(statements: str) -> None:
        for statement in statements.format(t=f"lake.d.{name}", n=f"d.{name}").split("; "):
            spark.sql(statement).collect()

    def execute_second() -> None:
        try:
            execute(STATEMENTS[second])
        except Exception as raised:
            said = [line for line in str(raised).splitlines() if not line.lstrip().startswith(("at ", "..."))]
            errors.append("\n".join(said)[:12_000])

    thread = threading.Thread(target=execute_second)
    thread.start()
    end = time.monotonic() + 40
    while thread.is_alive() and not (HOLD / "HELD").exists() and time.monotonic() < end:
        time.sleep(0.02)
    is_held = (HOLD / "HELD").exists()
    (HOLD / "HOLD").unlink(missing_ok=True)
    if is_held:
        execute(STATEMENTS[between])
        (HOLD / "GO").touch()
    thread.join(60)
    snapshots = []
    for path in sorted((place / "snapshot").glob("snapshot-*"), key=lambda path: int(path.name[9:])):
        document = json.loads(path.read_text("utf-8"))
        snapshots.append([document["id"], document["commitKind"], document["commitUser"]])
    target = KEPT / folder
    shutil.rmtree(target, ignore_errors=True)
    for part in ("snapshot", "schema", "manifest", "index"):
        if (place / part).exists():
            shutil.copytree(place / part, target / part)
    try:
        rows = spark.sql(f"SELECT count(*) FROM lake.d.{name}").first()[0]
    except Exception as raised:
        rows = str(raised).partition("\n")[0][:300]
    names = [path for path in place.rglob("*") if path.is_file() and path.parent.name.startswith("bucket-")]
    return {
        "pair": " / ".join((kind, second, between)),
        "folder": folder,
        "held": is_held,
        "base": head,
        "snapshots": snapshots,
        "error": errors[0] if errors else None,
        "rows": rows,
        "files": sorted(str(path.relative_to(place)) for path in names),
    }


if __name__ == "__main__":
    sys.exit(main())
