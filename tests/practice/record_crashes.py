"""Kills a real INSERT of Spark before one change of a file after the other, and records what it left: `crashes.json`.

    python tests/practice/record_crashes.py SCRATCH [FORMAT …]

The changes are those of files below the warehouse, seen and stopped by `halt_at.c` (gcc): each run restores the table as it
was before the INSERT, starts a Java of its own, and kills it there. Last, a new session of Spark selects from each state.
The suite compares the lab of `lakelens.practice.commits` with the record; it needs neither Spark nor a compiler.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NAMES = {
    "hive": "spark_catalog.default.t",
    "iceberg": "iceberg.lab.t",
    "paimon": "paimon.lab.t",
    "delta": "spark_catalog.default.d",
}
CREATE = {
    "hive": "STORED AS PARQUET",
    "iceberg": "USING iceberg",
    "paimon": "USING paimon",
    "delta": "USING delta",
}
TABLES = {
    "hive": "hive/t",
    "iceberg": "iceberg/lab/t",
    "paimon": "paimon/lab.db/t",
    "delta": "hive/d",
}
MOST = 40  # changes of one INSERT


def open_session(root: Path, kind: str) -> Any:
    from lakelens.spark import session

    config = {
        "spark.master": "local[1]",
        "spark.default.parallelism": "2",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
    }
    return session(root, formats=("hive", kind) if kind != "hive" else ("hive",), config=config)


def make_base(spark: Any, kind: str) -> None:
    """Make the table as it is before the INSERT that is killed."""
    if kind in ("iceberg", "paimon"):
        spark.sql(f"CREATE NAMESPACE {NAMES[kind].rpartition('.')[0]}")
    spark.sql(f"CREATE TABLE {NAMES[kind]} (id BIGINT, name STRING) {CREATE[kind]}")
    spark.sql(f"INSERT INTO {NAMES[kind]} VALUES (1, 'a')")


def end_session(spark: Any) -> None:
    """End a session with its Java: the next one takes the metastore, which has one user at a time."""
    process = spark.sparkContext._gateway.proc
    spark.stop()
    process.stdin.close()
    process.wait()


def run_part(part: str, root: Path, kind: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a part of this script in a process of its own, and so in a Java of its own."""
    command = [sys.executable, __file__, part, str(root), kind]
    return subprocess.run(command, env={**os.environ, **more}, capture_output=True, text=True)


def list_state(root: Path, kind: str) -> dict[str, Any]:
    """List the files of the table's folder, and where the catalog's pointer of an Iceberg table is."""
    table = root / TABLES[kind]
    files = (path.relative_to(table).as_posix() for path in table.rglob("*") if path.is_file())
    state: dict[str, Any] = {"files": normalise(name for name in files if not name.endswith(".crc"))}
    if kind == "iceberg":
        with sqlite3.connect(root / "iceberg-catalog.db") as catalog:
            [(pointer,)] = catalog.execute("SELECT metadata_location FROM iceberg_tables").fetchall()
        state["pointer"] = normalise([pointer.rpartition("/")[2]])[0]
    return state


def select_rows(root: Path, kind: str) -> list[int]:
    """What a SELECT in a new session sees."""
    run = run_part("select", root, kind)
    assert run.returncode == 0, run.stderr[-3000:]
    rows: list[int] = json.loads(run.stdout.splitlines()[-1])
    return rows


def normalise(files: Iterable[str]) -> list[str]:
    """Names of files without what is random in them: UUIDs, numbers of tasks and of snapshots."""
    rules = (
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "U"),
        (r"(attempt|task)_[0-9_m]+", r"\1"),
        (r"^(data/\d{5})-\d+-", r"\1-"),
        (r"snap-\d+", "snap"),
        (r"\.[^./]+\.tmp$", ".tmp"),
    )
    names = []
    for name in files:
        for pattern, text in rules:
            name = re.sub(pattern, text, name)
        names.append(name)
    return sorted(names)


def record(scratch: Path, kind: str, library: Path) -> list[dict[str, Any]]:
    root, base, log = scratch / "root", scratch / f"base-{kind}", scratch / f"log-{kind}"
    for folder in (root, base):
        shutil.rmtree(folder, ignore_errors=True)
    made = run_part("base", root, kind)
    assert made.returncode == 0, made.stderr[-3000:]
    shutil.copytree(root, base)
    states = []
    for number in range(1, MOST + 1):
        shutil.rmtree(root)
        shutil.copytree(base, root)
        log.unlink(missing_ok=True)
        halt = {
            "LD_PRELOAD": library,
            "HALT_ROOT": root / TABLES[kind],
            "HALT_ALSO": root / "iceberg-catalog.db-journal",
            "HALT_AT": number,
            "HALT_LOG": log,
        }
        run = run_part("insert", root, kind, **{name: str(value) for name, value in halt.items()})
        changes = [line.split("\t") for line in log.read_text().splitlines()]
        is_whole = run.returncode == 0
        last = [] if is_whole else changes[-1][1:]
        state = {
            "changes": number - 1 if not is_whole else len(changes),
            "before": normalise([" ".join(last).removeprefix("killed before ").strip()])[0]
            .replace(f"{root / TABLES[kind]}/", "")
            .replace(f"{root}/", ""),
            **list_state(root, kind),
        }
        state["rows"] = select_rows(root, kind)
        again = run_part("insert", root, kind)
        state["again"] = select_rows(root, kind) if again.returncode == 0 else "failed"
        states.append(state)
        print(kind, number, state["before"], len(state["files"]), state["rows"], flush=True)
        (scratch / f"{kind}.json").write_text(json.dumps(states, indent=1))
        if is_whole:
            return states
    raise AssertionError(f"the INSERT makes more than {MOST} changes")


def main(arguments: list[str]) -> None:
    if arguments[0] == "base":
        spark = open_session(Path(arguments[1]), arguments[2])
        make_base(spark, arguments[2])
        end_session(spark)
    elif arguments[0] == "insert":
        spark = open_session(Path(arguments[1]), arguments[2])
        spark.sql(f"INSERT INTO {NAMES[arguments[2]]} VALUES (2, 'b'), (3, 'c')")
        end_session(spark)
    elif arguments[0] == "select":
        spark = open_session(Path(arguments[1]), arguments[2])
        rows = sorted(row[0] for row in spark.sql(f"SELECT id FROM {NAMES[arguments[2]]}").collect())
        end_session(spark)
        print(json.dumps(rows), flush=True)
    else:
        scratch = Path(arguments[0]).resolve()
        scratch.mkdir(parents=True, exist_ok=True)
        library = scratch / "halt_at.so"
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-o", str(library), str(HERE / "halt_at.c"), "-ldl"], check=True
        )
        target = HERE / "crashes.json"
        document = json.loads(target.read_text()) if target.exists() else {}
        for kind in arguments[1:] or list(NAMES):
            document[kind] = record(scratch, kind, library)
        lines = (
            f" {json.dumps(kind)}: [\n" + ",\n".join(f"  {json.dumps(state)}" for state in states) + "\n ]"
            for kind, states in document.items()
        )
        target.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
