"""Run pairs of concurrent statements on Spark with Delta, and record what the engine said of the second to commit.

    python tests/lakes/conflicts/record_delta.py

The second starts first: `HoldLogStore` stops it when it writes its commit, until the other one has committed; then the name
is taken, and the engine checks the second against what came, as it does in a race. Each pair begins with a copy of the same
table. `delta.isolationLevel = WriteSerializable` stands in the first commit of some: Delta's open source reads it and does
not let one set it.

A line of `delta.jsonl` is a pair: the kind of table, both statements, the second's base, the error (class and message) or
none, the versions with their operations, the rows, and the files afterwards that no commit names. `delta.tar.xz` has the
log of each. Pairs that are recorded already are left out.
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
import zipfile
from pathlib import Path
from typing import Any

import pyspark

HERE = Path(__file__).resolve().parent
ROOT = Path("/tmp/lakes/conflicts/delta")
KEPT, HOLD, CLASSES = ROOT / "kept", ROOT / "hold", ROOT / "classes"
sys.path[:0] = [str(HERE.parents[2])]
os.environ["TZ"] = "UTC"
time.tzset()

from lakelens.spark import session  # noqa: E402
from lakelens.spark.local import runtime  # noqa: E402

CONFIG = {
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "1",
    "spark.default.parallelism": "1",
    "spark.ui.enabled": "false",
    "spark.driver.extraJavaOptions": f"-Dhold.folder={HOLD}",
    "spark.jars": str(ROOT / "hold.jar"),
    "spark.delta.logStore.class": "HoldLogStore",
    "spark.databricks.delta.commitLock.enabled": "false",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.databricks.delta.stats.collect": "true",
}
#: kinds of tables: how they are partitioned, their isolation, their properties
TABLES = {
    "partitions": ("PARTITIONED BY (p)", None, "false"),
    "partitions, WriteSerializable": ("PARTITIONED BY (p)", "WriteSerializable", "false"),
    "plain": ("", None, "false"),
    "plain, WriteSerializable": ("", "WriteSerializable", "false"),
    "vectors": ("PARTITIONED BY (p)", None, "true"),
}
STATEMENTS = {
    "append there": "INSERT INTO {t} VALUES (3, 0, 'a')",
    "append elsewhere": "INSERT INTO {t} VALUES (103, 1, 'a')",
    "select there": "INSERT INTO {t} SELECT id + 1000, p, v FROM {t} WHERE p = 0 AND id = 5",
    "delete there": "DELETE FROM {t} WHERE p = 0 AND id = 3",
    "delete same": "DELETE FROM {t} WHERE p = 0 AND id = 4",
    "delete beside": "DELETE FROM {t} WHERE p = 0 AND id = 14",
    "delete elsewhere": "DELETE FROM {t} WHERE p = 1 AND id = 104",
    "delete partition": "DELETE FROM {t} WHERE p = 0",
    "delete either": "DELETE FROM {t} WHERE (p = 0 AND id = 3) OR (p = 0 AND id = 4)",
    "update there": "UPDATE {t} SET v = 'u' WHERE p = 0 AND id = 3",
    "merge there": "MERGE INTO {t} t USING (SELECT 3 AS id, 0 AS p, 'm' AS v) s ON t.id = s.id AND t.p = 0 "
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *",
    "merge all": "MERGE INTO {t} t USING (SELECT 3 AS id, 0 AS p, 'm' AS v) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *",
    "truncate": "DELETE FROM {t}",
    "compaction there": "OPTIMIZE {t} WHERE p = 0",
    "compaction all": "OPTIMIZE {t}",
    "alter": "ALTER TABLE {t} SET TBLPROPERTIES ('note' = 'a')",
    "add column": "ALTER TABLE {t} ADD COLUMNS (w STRING)",
    "upgrade": "!protocol",
    "overwrite there": {"replaceWhere": "p = 0"},
    "overwrite all": {},
    "overwrite partitions": {"partitionOverwriteMode": "dynamic"},
    "append as job": {"txnAppId": "job", "txnVersion": "5"},
    "append as other": {"txnAppId": "other", "txnVersion": "5"},
}
_CHANGES = (
    *("append there", "append elsewhere", "select there"),
    *("delete same", "delete beside", "delete elsewhere", "compaction there"),
)
_FACTS = ("alter", "upgrade", "append as job")
#: by kind of table: the second statements, and those that come between
PAIRS = (
    (
        "partitions, WriteSerializable",
        ("delete there", "merge there", "overwrite there", "compaction there", "truncate"),
        ("append there", "append elsewhere", "select there", "delete beside"),
    ),
    (
        "plain",
        ("delete there", "update there", "merge there", "overwrite there", "compaction all"),
        ("append there", "append elsewhere", "delete same", "delete beside"),
    ),
    (
        "vectors",
        ("delete there", "update there", "merge there", "compaction there"),
        ("append there", "append elsewhere", "delete same", "delete beside", "delete elsewhere", "compaction there"),
    ),
    ("partitions", ("append there",), ("append there", "delete same", "compaction there", *_FACTS, "add column")),
    ("partitions", ("alter",), ("append there", "delete same", *_FACTS)),
    ("partitions", ("upgrade",), ("append there", "alter", "upgrade")),
    ("partitions", ("append as job",), ("append as job", "append as other", "append there", "alter")),
    ("plain, WriteSerializable", ("delete there", "merge all"), ("append there", "select there", "delete beside")),
    (
        "partitions",
        ("delete there", "update there", "merge there", "overwrite there", "compaction there"),
        (*_CHANGES, *_FACTS),
    ),
    (
        "partitions",
        ("delete partition", "delete either", "merge all", "overwrite all", "overwrite partitions"),
        _CHANGES,
    ),
)  # fmt: skip


def main() -> int:
    for folder in (ROOT, KEPT, HOLD):
        folder.mkdir(parents=True, exist_ok=True)
    lines = HERE / "delta.jsonl"
    done = [json.loads(line) for line in lines.read_text("utf-8").splitlines()] if lines.exists() else []
    known = {row["pair"] for row in done}
    pairs = [
        (kind, second, between) for kind, seconds, others in PAIRS for second in seconds for between in others
    ]
    wanted = [pair for pair in pairs if " / ".join(pair) not in known]
    end = time.monotonic() + int(os.environ.get("SECONDS_AT_MOST", "840"))
    if wanted:
        compile_hold()
        spark = session(ROOT / "own", formats=("delta",), config=CONFIG, progress=print)
        for pair in wanted:
            if time.monotonic() > end:
                print("time is over; start it again for the others")
                break
            row = run(spark, *pair)
            if not row.pop("held"):
                print(row["pair"], "| makes no commit: left out", row["error"])
                continue
            with lines.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, separators=(",", ":")) + "\n")
            print(row["pair"], "|", str(row["error"])[:160].replace("\n", " "), flush=True)
        spark.stop()
    rows = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    with tarfile.open(HERE / "delta.tar.xz", "w:xz", preset=9) as archive:
        for row in sorted(rows, key=lambda row: row["folder"]):
            archive.add(KEPT / row["folder"], row["folder"], filter=_forget)
    return 0


def compile_hold() -> None:
    jars = [*(Path(pyspark.__file__).parent / "jars").glob("*.jar"), *runtime.fetch_jars(("delta",))]
    command = ["javac", "-nowarn", "-d", str(CLASSES), "-cp", ":".join(map(str, jars))]
    subprocess.run([*command, str(HERE / "HoldLogStore.java")], check=True)
    with zipfile.ZipFile(ROOT / "hold.jar", "w") as jar:
        jar.write(CLASSES / "HoldLogStore.class", "HoldLogStore.class")


def _forget(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
    return info


def make_base(spark: Any, kind: str) -> Path:
    """Make the table that every pair of this kind begins with: two files of each of two values of p."""
    base = ROOT / "bases" / kind.replace(", ", "-")
    if not base.exists():
        parts, isolation, vectors = TABLES[kind]
        first = base.with_name(f"{base.name}-first")
        spark.sql(
            f"CREATE TABLE delta.`{first}` (id INT, p INT, v STRING) USING delta {parts} "
            f"TBLPROPERTIES ('delta.enableDeletionVectors' = '{vectors}')"
        )
        for checksum in (first / "_delta_log").glob("*.crc"):
            checksum.unlink()
        if isolation is not None:
            commit = first / "_delta_log" / f"{0:020}.json"
            text = commit.read_text("utf-8")
            setting = '"configuration":{'
            assert setting in text
            commit.write_text(
                text.replace(setting, f'{setting}"delta.isolationLevel":"{isolation}",'), "utf-8"
            )
        shutil.copytree(first, base, ignore=shutil.ignore_patterns("*.crc", ".*"))
        for p, start in ((0, 0), (1, 0), (0, 10), (1, 10)):
            spark.sql(
                f"INSERT INTO delta.`{base}` SELECT CAST({p} * 100 + {start} + id AS INT), {p}, 'x' FROM range(0, 10, 1, 1)"
            )
    return base


def execute(spark: Any, name: str, place: Path) -> None:
    statement = STATEMENTS[name]
    if statement == "!protocol":
        tables = spark._jvm.io.delta.tables.DeltaTable  # py4j
        tables.forPath(spark._jsparkSession, str(place)).upgradeTableProtocol(1, 3)
    elif isinstance(statement, str):
        spark.sql(statement.format(t=f"delta.`{place}`")).collect()
    else:
        mode = "append" if "txnAppId" in statement else "overwrite"
        rows = spark.createDataFrame([(3, 0, "o")], "id INT, p INT, v STRING").coalesce(1)
        rows.write.format("delta").mode(mode).options(**statement).save(str(place))


def run(spark: Any, kind: str, second: str, between: str) -> dict[str, Any]:
    """Run one pair on a fresh copy of its table, and describe what was said and left."""
    base = make_base(spark, kind)
    folder = "-".join(text.replace(", ", "_").replace(" ", "_") for text in (kind, second, between))
    place = ROOT / "tables" / folder
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(base, place)
    log = place / "_delta_log"
    head = max(int(path.stem) for path in log.glob("*.json"))
    for path in HOLD.iterdir():
        path.unlink()
    (HOLD / "HOLD").touch()
    errors: list[str] = []

    def execute_second() -> None:
        try:
            execute(spark, second, place)
        except Exception as raised:
            said = [line for line in str(raised).splitlines() if not line.lstrip().startswith(("at ", "..."))]
            errors.append("\n".join(said)[:3_000])

    thread = threading.Thread(target=execute_second)
    thread.start()
    end = time.monotonic() + 90
    while thread.is_alive() and not (HOLD / "HELD").exists() and time.monotonic() < end:
        time.sleep(0.02)
    is_held = (HOLD / "HELD").exists()
    (HOLD / "HOLD").unlink(missing_ok=True)
    if is_held:
        execute(spark, between, place)
        (HOLD / "GO").touch()
    thread.join(60)
    versions, named = [], set()
    for path in sorted(log.glob("*.json")):
        actions = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        said = next(action["commitInfo"] for action in actions if "commitInfo" in action)
        versions.append(
            [int(path.stem), said["operation"], said.get("isolationLevel"), said.get("isBlindAppend")]
        )
        named |= {
            fields["path"]
            for action in actions
            for name, fields in action.items()
            if name in ("add", "remove")
        }
    target = KEPT / folder
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(log, target / "_delta_log", ignore=shutil.ignore_patterns("*.crc", ".*", "_*"))
    files = [
        str(path.relative_to(place)) for path in place.rglob("*.parquet") if "_delta_log" not in path.parts
    ]
    return {
        "pair": " / ".join((kind, second, between)),
        "folder": folder,
        "held": is_held,
        "base": head,
        "versions": versions[head + 1 :],
        "error": errors[0] if errors else None,
        "rows": spark.sql(f"SELECT count(*) FROM delta.`{place}`").first()[0] if is_held else None,
        "left": sorted(path for path in files if path not in named),
    }


if __name__ == "__main__":
    sys.exit(main())
