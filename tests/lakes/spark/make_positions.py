"""Ask Iceberg which rows of which file it reads: `positions.json` beside the `answers.json` of each table with deletes.

    python tests/lakes/spark/make_positions.py [CASE …]

Each kept table is put where its metadata say it lies, registered in a catalog, and read by
`SELECT _file, _pos FROM table VERSION AS OF snapshot` for each snapshot that the kept directory still has all files of.
The tables are not written to; the root is removed afterwards.

    {"engine": …, "live": {snapshot id: {file as recorded: [positions that the engine reads, ascending]}}}

Three and more positions in a row are one `[first, last]`.
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
ROOT = Path("/tmp/lakes/warehouse")

sys.path[:0] = [str(HERE), str(HERE.parents[2])]
os.environ["TZ"] = "UTC"
time.tzset()

from answers import local, write  # noqa: E402

from lakelens.spark import session  # noqa: E402


def main(wanted: list[str]) -> int:
    shutil.rmtree(ROOT, ignore_errors=True)
    chosen = [
        path.parent
        for path in sorted(HERE.glob("iceberg/*/answers.json"))
        if (not wanted or path.parent.name in wanted) and has_deletes(json.loads(path.read_text("utf-8")))
    ]
    spark = session(ROOT, formats=("hive", "iceberg"), config={"spark.driver.memory": "2g"}, progress=print)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakes")
    for folder in chosen:
        write(folder / "positions.json", ask_positions(spark, folder))
        print(folder.name, flush=True)
    spark.stop()
    shutil.rmtree(ROOT)
    return 0


def has_deletes(answers: dict[str, Any]) -> bool:
    """Whether any snapshot has delete files."""
    taken = answers.get("files_at", {}).values()
    return any(row["content"] for rows in taken if isinstance(rows, list) for row in rows)


def ask_positions(spark: Any, folder: Path) -> dict[str, Any]:
    """The positions that the engine reads of each file at each snapshot; `error` where it refuses to."""
    answers = json.loads((folder / "answers.json").read_text("utf-8"))
    place = local(answers["location"])
    shutil.copytree(folder / "table", place)
    name = f"lakes.{folder.name.replace('-', '_')}"
    spark.sql(
        f"CALL iceberg.system.register_table(table => '{name}', metadata_file => '{answers['metadata_location']}')"
    )
    live: dict[str, Any] = {}
    for snapshot_id, count in answers["row_count_at"].items():
        asked = f"SELECT _file, _pos FROM iceberg.{name} VERSION AS OF {snapshot_id} ORDER BY _file, _pos"
        try:
            rows = spark.sql(asked).collect()
        except Exception as error:
            live[snapshot_id] = {"error": str(error).splitlines()[0][:300]}
            continue
        assert len(rows) == count, f"{folder.name} at {snapshot_id}: {len(rows)} rows, counted {count} before"
        found: dict[str, list[int]] = {}
        for file, position in rows:
            found.setdefault(file, []).append(position)
        live[snapshot_id] = {file: shorten(positions) for file, positions in found.items()}
    spark.sql(f"DROP TABLE iceberg.{name}")
    shutil.rmtree(place, ignore_errors=True)
    return {"engine": f"iceberg 1.12.0, spark {spark.version}", "live": live}


def shorten(positions: list[int]) -> list[int | list[int]]:
    """Ascending positions with runs as pairs."""
    runs: list[list[int]] = []
    for position in positions:
        if runs and position == runs[-1][1] + 1:
            runs[-1][1] = position
        else:
            runs.append([position, position])
    return [
        item
        for first, last in runs
        for item in ([[first, last]] if last > first + 1 else range(first, last + 1))
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
