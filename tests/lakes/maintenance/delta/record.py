"""Run maintenance of Delta on copies of small tables, and record what each run did.

    python tests/lakes/maintenance/delta/record.py [tables] [rows] [runs]

`tables` makes the tables of `cases.py` with delta-spark 3.3.2 and keeps them all in `tables.tar.xz`, with the times of their
files; `rows` writes to `rows.json.xz` what the engine reads of the versions of some of them, a row as JSON text each;
`runs` calls each procedure on a copy and writes `runs.json`. Of a run are recorded, by paths below the table:

    at          when the call was made, in milliseconds
    deleted     files that are there no more, `removed_dirs` directories that are there no more
    added       files that are there now, with their bytes
    dry         what VACUUM … DRY RUN answers
    commits     of each new version its operation, what it adds (with bytes), what it removes, and its metrics
    result      the first row that the engine answers with, or `error`
"""

from __future__ import annotations

import io
import json
import lzma
import os
import shutil
import sys
import tarfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

HERE = Path(__file__).resolve().parent
DELTA = HERE.parents[1] / "delta"
ROOT = Path("/tmp/lakes/delta-runs")
MADE, PLACE = ROOT / "made", ROOT / "here"
FURTHER = {
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",  # into so many parts VACUUM divides a listing
}

sys.path[:0] = [str(HERE), str(DELTA), str(HERE.parents[3])]

from cases import READ, RUNS, TABLES, Run  # noqa: E402
from make_spark import CONFIG  # noqa: E402


def main(wanted: list[str]) -> int:
    from lakelens.spark import session

    ROOT.mkdir(parents=True, exist_ok=True)
    config = {**CONFIG, **FURTHER}
    spark = session(ROOT / "warehouse", formats=("hive",), config=config, progress=print)
    spark.sparkContext.setLogLevel("OFF")
    if not wanted or "tables" in wanted:
        make_tables(spark)
    if not MADE.exists():
        with tarfile.open(HERE / "tables.tar.xz") as archive:
            archive.extractall(MADE, filter="data")
    if not wanted or "rows" in wanted:
        text = json.dumps({name: read_rows(spark, name) for name in READ}, indent=0, ensure_ascii=False)
        (HERE / "rows.json.xz").write_bytes(lzma.compress(text.encode("utf-8"), preset=9))
    if not wanted or "runs" in wanted:
        head, lines = json.dumps(f"delta-spark 3.3.2, spark {spark.version}"), list[str]()
        for run in RUNS:
            lines.append(json.dumps(record(spark, run), separators=(",", ":"), ensure_ascii=False))
            text = ",\n".join(lines)
            (HERE / "runs.json").write_text(f'{{"engine":{head},"runs":[\n{text}\n]}}\n', "utf-8")
    spark.stop()
    return 0


def make_tables(spark: Any) -> None:
    """Make every table and keep them in one archive."""
    shutil.rmtree(MADE, ignore_errors=True)
    shutil.rmtree(ROOT / "source", ignore_errors=True)
    for name, table in TABLES.items():
        path = MADE / name
        for statement in table.statements:
            spark.sql(statement.replace("{t}", f"delta.`{path}`"))
        for checksum in path.rglob(".*.crc"):  # of the local file system, not of the table
            checksum.unlink()
        if table.hours:
            move_back(path, table.hours)
        print(name, sum(one.is_file() for one in path.rglob("*")), flush=True)
    for checksum in (ROOT / "source").rglob(".*.crc"):
        checksum.unlink()
    with tarfile.open(HERE / "tables.tar.xz", "w:xz", format=tarfile.PAX_FORMAT, preset=9) as archive:
        for path in sorted(MADE.rglob("*")):
            info = archive.gettarinfo(path, str(path.relative_to(MADE)))
            info.uid = info.gid = 0
            info.uname = info.gname = "lakes"
            info.mtime = path.stat().st_mtime_ns // 1_000_000 / 1000
            archive.addfile(info, io.BytesIO(path.read_bytes()) if path.is_file() else None)


def read_rows(spark: Any, name: str) -> dict[str, list[str]]:
    """What the engine reads of each version whose files are there."""
    found = {}
    for version in list_versions(MADE / name):
        try:
            lines = (
                spark.sql(f"SELECT * FROM delta.`{MADE / name}` VERSION AS OF {version}").toJSON().collect()
            )
        except Exception as error:
            print(f"{name} {version}: {str(error).splitlines()[0][:100]}")
            continue
        found[str(version)] = sorted(lines)
    print(name, {version: len(lines) for version, lines in found.items()}, flush=True)
    return found


def move_back(path: Path, hours: tuple[float, ...]) -> None:
    """Move each version back in time: what its commit says, its files of the log, and the files that it adds."""
    now = time.time()
    log = path / "_delta_log"
    for version, ago in enumerate(hours):
        at = int((now - ago * 3600) * 1000)
        commit = log / f"{version:020}.json"
        actions = [json.loads(line) for line in commit.read_text("utf-8").splitlines()]
        for action in actions:
            for kind, name in (
                ("commitInfo", "timestamp"),
                ("remove", "deletionTimestamp"),
                ("add", "modificationTime"),
            ):
                if kind in action and name in action[kind]:
                    action[kind][name] = at
            for kind in ("add", "cdc"):
                if kind in action:
                    touch(path / unquote(action[kind]["path"]), at)
        lines = [json.dumps(action, separators=(",", ":"), ensure_ascii=False) for action in actions]
        commit.write_text("\n".join(lines) + "\n", "utf-8")
        for file in log.glob(f"{version:020}.*"):
            if file.suffix == ".crc":
                file.unlink()  # it would contradict the new times
            else:
                touch(file, at)
    for vector in path.rglob("deletion_vector_*.bin"):
        touch(vector, int((now - hours[1] * 3600) * 1000))
    for sidecar in log.glob("_sidecars/*"):
        touch(sidecar, int((now - hours[1] * 3600) * 1000))


def touch(path: Path, at: int) -> None:
    if path.exists():
        os.utime(path, (at / 1000, at / 1000))


def record(spark: Any, run: Run) -> dict[str, Any]:
    """One procedure on a fresh copy of its table, and what it did."""
    start = time.monotonic()
    path = PLACE / run.table
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(MADE / run.table, path)
    now = time.time()
    plant(path, run, now)
    table = f"delta.`{path}`"
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    options = dict(run.options)
    statement = run.statement.replace("{t}", table)
    if "timestamp" in options:
        at = datetime.fromtimestamp(int(now - options["timestamp"] * 3600), UTC)
        options["timestamp"] = at.isoformat()
        statement = statement.replace("{ago}", f"{at:%Y-%m-%d %H:%M:%S}")
    before, folders = list_files(path), list_folders(path)
    versions = set(list_versions(path))
    done: dict[str, Any] = {}
    for name, value in run.settings.items():
        spark.conf.set(name, value)
    time.sleep(0.01)
    done["at"] = int(time.time() * 1000)
    try:
        if run.procedure == "vacuum":
            rows = spark.sql(statement + " DRY RUN").collect()
            done["dry"] = sorted(unprefix(row[0], path) for row in rows)
        if run.procedure == "checkpoint":
            log = spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, str(path))
            log.checkpoint()
        else:
            rows = spark.sql(statement).collect()
            if rows and run.procedure == "restore":
                done["result"] = list(rows[0])
    except Exception as error:
        done["error"] = str(error).splitlines()[0][:160]
    for name in run.settings:
        spark.conf.unset(name)
    after = list_files(path)
    done |= {
        "deleted": sorted(set(before) - set(after)),
        "removed_dirs": sorted(set(folders) - set(list_folders(path))),
        "added": {name: after[name] for name in sorted(set(after) - set(before))},
        "changed": sorted(name for name in after if name in before and after[name] != before[name]),
        "commits": [read_commit(path, version) for version in sorted(set(list_versions(path)) - versions)],
    }
    shutil.rmtree(path)
    said = done.get("error") or f"-{len(done['deleted'])} +{len(done['added'])} {len(done['commits'])}"
    print(f"{run.table} {run.procedure} {options}: {time.monotonic() - start:.1f} s, {said}", flush=True)
    return {
        "table": run.table,
        "procedure": run.procedure,
        "options": options,
        "planted": dict(run.planted),
        "aged": run.aged,
        "statement": run.statement if "timestamp" not in options else statement.replace(table, "{t}"),
        **done,
    }


def plant(path: Path, run: Run, now: float) -> None:
    """Make files as old as the run wants them, and write those that nobody refers to."""
    if run.aged is not None:
        for file in path.rglob("*"):
            if "_delta_log" not in file.parts:
                os.utime(file, (now - 86_400 * run.aged,) * 2)
    for name, days in run.planted.items():
        file = path / name
        if name.endswith("/"):
            file.mkdir(parents=True)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"stray")
        os.utime(file, (now + 3600 if not days else now - 86_400 * days,) * 2)


def list_files(path: Path) -> dict[str, int]:
    return {
        str(file.relative_to(path)): file.stat().st_size
        for file in path.rglob("*")
        if file.is_file() and not (file.name.startswith(".") and file.name.endswith(".crc"))
    }


def list_folders(path: Path) -> list[str]:
    return [str(file.relative_to(path)) for file in path.rglob("*") if file.is_dir()]


def list_versions(path: Path) -> list[int]:
    return [int(file.name[:20]) for file in (path / "_delta_log").glob("*.json") if file.name[20:] == ".json"]


def read_commit(path: Path, version: int) -> dict[str, Any]:
    """What a new commit says of files, by decoded paths; a file with a vector is `path#id`."""
    text = (path / "_delta_log" / f"{version:020}.json").read_text("utf-8")
    actions = [json.loads(line) for line in text.splitlines()]
    info = next(action["commitInfo"] for action in actions if "commitInfo" in action)
    return {
        "operation": info["operation"],
        "metrics": info.get("operationMetrics", {}),
        "kinds": sorted({kind for action in actions for kind in action if kind not in ("add", "remove")}),
        "add": {name_file(one["add"]): one["add"]["size"] for one in actions if "add" in one},
        "remove": sorted(name_file(one["remove"]) for one in actions if "remove" in one),
    }


def name_file(action: dict[str, Any]) -> str:
    vector = action.get("deletionVector")
    path = unquote(action["path"])
    if vector is None:
        return path
    offset = vector.get("offset")
    return f"{path}#{vector['storageType']}{vector['pathOrInlineDv']}" + (
        "" if offset is None else f"@{offset}"
    )


def unprefix(path: str, place: Path) -> str:
    return path.removeprefix("file:").removeprefix(f"{place}/")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
