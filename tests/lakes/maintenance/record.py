"""Run maintenance procedures of Iceberg on copies of the kept tables, and record what each of them did.

    python tests/lakes/maintenance/record.py [GROUP …]

A group is a key of `iceberg_cases.CASES`; its record is `iceberg/GROUP.json`. Each kept table is put where its metadata say
it lies, registered in a catalog, and one procedure is called on it. Recorded are paths below the table's directory:

    deleted     files that are there no more
    added       files that are there now, each with its bytes and what it is for: of files that a state lists its content
    snapshots   the ids of those that are left, `current` the current one, `refs` where branches and tags point
    files       the live files afterwards, `path` or `path#offset` for deletion vectors: those that went and those that came
    manifests   the manifests of the current snapshot: those that went, those that came
    result      the row that the procedure answers with, or `error`
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LAKES = HERE.parent / "spark"
ROOT = Path("/tmp/lakes/warehouse")

sys.path[:0] = [str(HERE), str(LAKES), str(HERE.parents[2])]
os.environ["TZ"] = "UTC"
time.tzset()

from answers import local  # noqa: E402
from iceberg_cases import CASES, Case  # noqa: E402

from lakelens.spark import session  # noqa: E402

HADOOP = "spark.sql.catalog.hadoop"
CONFIG = {
    HADOOP: "org.apache.iceberg.spark.SparkCatalog",
    f"{HADOOP}.type": "hadoop",
    f"{HADOOP}.warehouse": str(ROOT / "hadoop"),
    f"{HADOOP}.cache-enabled": "false",
    "spark.driver.memory": "2g",
    "spark.sql.catalog.iceberg.cache-enabled": "false",
}
_CONTENT = {0: "data", 1: "position_deletes", 2: "equality_deletes"}


def main(wanted: list[str]) -> int:
    shutil.rmtree(ROOT, ignore_errors=True)
    spark = session(ROOT, formats=("hive", "iceberg"), config=CONFIG, progress=print)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakes")
    (HERE / "iceberg").mkdir(exist_ok=True)
    for group in wanted or CASES:
        lines = []
        for case in CASES[group]:
            start = time.monotonic()
            record = run(spark, case)
            lines.append(json.dumps(record, separators=(",", ":"), sort_keys=True))
            said = record.get("error") or record.get("result")
            print(
                f"{case.table} {case.procedure}: {time.monotonic() - start:.1f} s, {str(said)[:150]}",
                flush=True,
            )
        head = json.dumps(f"iceberg 1.12.0, spark {spark.version}")
        text = f'{{"engine":{head},"runs":[\n' + ",\n".join(lines) + "\n]}\n"
        (HERE / "iceberg" / f"{group}.json").write_text(text, "utf-8")
    spark.stop()
    shutil.rmtree(ROOT)
    return 0


def run(spark: Any, case: Case) -> dict[str, Any]:
    """One procedure on a fresh copy of its table, and what it did."""
    folder = LAKES / "iceberg" / case.table
    answers = json.loads((folder / "answers.json").read_text("utf-8"))
    place = Path(local(answers["location"]))
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder / "table", place)
    plant(place, case)
    catalog, name = answers["table"].split(".", 1)
    if catalog == "iceberg":
        metadata = answers["metadata_location"]
        spark.sql(f"CALL iceberg.system.register_table(table => '{name}', metadata_file => '{metadata}')")
    rows = sorted(answers["snapshots"], key=lambda row: row["committed_at"])
    times = [row["committed_at"].replace("T", " ").removesuffix("+00:00") for row in rows]
    arguments, options = case.make([row["snapshot_id"] for row in rows], times)
    arguments = arguments.replace("{location}", str(place))
    before, seen = take_stock(spark, answers["table"], place), list_files(place)
    done: dict[str, Any] = {}
    try:
        call = f"CALL {catalog}.system.{case.procedure}(table => '{name}'{', ' + arguments if arguments else ''})"
        answered = [row.asDict() for row in spark.sql(call).collect()]
        done["result"] = answered if case.procedure == "remove_orphan_files" else answered[0]
        if case.procedure == "remove_orphan_files":
            done["result"] = len(answered)
    except Exception as error:
        done["error"] = str(error).splitlines()[0][:200]
    after, now = take_stock(spark, answers["table"], place), list_files(place)
    if catalog == "iceberg":
        spark.sql(f"DROP TABLE {answers['table']}")
    shutil.rmtree(place, ignore_errors=True)
    kinds = {line.partition("#")[0]: kind for line, kind in after["files"].items()}
    kinds |= dict.fromkeys(after["manifests"], "manifest")
    return {
        "table": case.table,
        "procedure": case.procedure,
        "arguments": arguments,
        "options": options,
        "planted": dict(case.planted),
        **done,
        "deleted": sorted(set(seen) - set(now)),
        "added": {
            path: [now[path], kinds.get(path) or name_kind(path)] for path in sorted(set(now) - set(seen))
        },
        "snapshots": after["snapshots"],
        "current": after["current"],
        "refs": after["refs"],
        "files": {
            "gone": sorted(set(before["files"]) - set(after["files"])),
            "new": sorted(set(after["files"]) - set(before["files"])),
        },
        "manifests": {
            "gone": sorted(set(before["manifests"]) - set(after["manifests"])),
            "new": sorted(set(after["manifests"]) - set(before["manifests"])),
        },
    }


def plant(place: Path, case: Case) -> None:
    """Write the files of a case, and make every file as old as it should be."""
    if not case.planted:
        return
    now = time.time()
    for path in place.rglob("*"):
        os.utime(path, (now - 86_400 * 30, now - 86_400 * 30))
    for name, days in case.planted.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"stray")
        os.utime(path, (now - 86_400 * days,) * 2)


def take_stock(spark: Any, table: str, place: Path) -> dict[str, Any]:
    """What the engine says of the current state."""
    asked = f"SELECT content, file_path, content_offset, file_format FROM {table}.files"

    def shorten(path: str) -> str:
        return str(local(path)).removeprefix(f"{place}/")

    files = {}
    for content, path, offset, kind in spark.sql(asked).collect():
        is_vector = kind == "PUFFIN"
        line = f"{shorten(path)}#{offset}" if is_vector else shorten(path)
        files[line] = "deletion_vector" if is_vector else _CONTENT[content]
    manifests = [shorten(row[0]) for row in spark.sql(f"SELECT path FROM {table}.manifests").collect()]
    snapshots = [row[0] for row in spark.sql(f"SELECT snapshot_id FROM {table}.snapshots").collect()]
    refs = {row[0]: row[1] for row in spark.sql(f"SELECT name, snapshot_id FROM {table}.refs").collect()}
    return {
        "files": files,
        "manifests": manifests,
        "snapshots": sorted(snapshots),
        "refs": refs,
        "current": refs.get("main"),
    }


def list_files(place: Path) -> dict[str, int]:
    """Every file below a directory with its size, but for the local file system's checksums of others."""
    return {
        str(path.relative_to(place)): path.stat().st_size
        for path in place.rglob("*")
        if path.is_file()
        and not (path.name.startswith(".") and path.name.endswith(".crc") and "stray" not in path.name)
    }


def name_kind(path: str) -> str:
    """What a new file is for that no state lists."""
    name = path.rpartition("/")[2]
    if name.endswith(".metadata.json") or name.startswith("version-hint"):
        return "table metadata"
    return "manifest list" if name.startswith("snap-") else "other"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
