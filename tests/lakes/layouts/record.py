"""Arrange tables again with Spark, and record which files and bytes predicates read before and after: `deeds.json`.

    python tests/lakes/layouts/record.py [tables] [deeds]

`tables` writes the tables before (`tables.tar.xz`): Iceberg by arrival, by region and by day, Paimon by arrival and by day.
`deeds` writes each once for each of its layouts (`cases.py`) that is not in `deeds.json` yet, has Spark's procedure do it,
and asks `explain` about ten predicates. `deeds.json` has of each the layout, `outputs` (files, bytes), and of each predicate
`[files, bytes]` after.
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
ROOT = Path("/tmp/lakes/layouts")
sys.path[:0] = [str(HERE), str(HERE.parents[2])]
os.environ |= {"HADOOP_USER_NAME": "lakes", "TZ": "UTC"}
time.tzset()

import cases  # noqa: E402

from lakelens.opening import open_table  # noqa: E402
from lakelens.spark import session  # noqa: E402


def main(arguments: list[str]) -> int:
    """Make what is named, or all of it."""
    shutil.rmtree(ROOT, ignore_errors=True)
    spark = session(ROOT, formats=("iceberg", "paimon"), config={"spark.driver.memory": "2g"}, progress=print)
    for catalog in ("iceberg", "paimon"):
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.lakes")
    if not arguments or "tables" in arguments:
        make_tables(spark)
    if not arguments or "deeds" in arguments:
        record_deeds(spark)
    spark.stop()
    shutil.rmtree(ROOT, ignore_errors=True)
    return 0


def find_place(name: str) -> Path:
    """Find where the session's catalogs have a table."""
    return next(
        path for path in ROOT.rglob(name) if path.is_dir() and path.parent.name in ("lakes", "lakes.db")
    )


def make_tables(spark: Any) -> None:
    """Write every table before, and pack them."""
    target = HERE / "tables.tar.xz"
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for name in cases.TABLES:
            write_table(spark, name, f"{cases.TABLES[name].catalog}.lakes.{name}")
            place = find_place(name)
            for path in sorted(place.rglob("*")):
                if path.is_file() and not path.name.endswith(".crc"):
                    archive.add(path, f"{name}/{path.relative_to(place)}", filter=strip)
            print(name, open_table(place).files, flush=True)
            spark.sql(f"DROP TABLE {cases.TABLES[name].catalog}.lakes.{name}")
    print(f"{target.stat().st_size:,} bytes")


def strip(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Take out of an archive what is of this machine."""
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    return info


def write_table(spark: Any, name: str, target: str) -> None:
    """Write a table as its case says it arrived."""
    case = cases.TABLES[name]
    properties = ", ".join(f"'{key}'='{value}'" for key, value in case.properties.items())
    parts = f"PARTITIONED BY ({case.partitioned})" if case.partitioned else ""
    spark.sql(f"CREATE TABLE {target} ({case.columns}) {parts} TBLPROPERTIES ({properties})")
    for batch in range(case.batches):
        spark.sql(f"INSERT INTO {target} {case.select(batch)}")


def record_deeds(spark: Any) -> None:
    """Arrange each table in each way that is not recorded yet, and ask what is read."""
    known = HERE / "deeds.json"
    found: dict[str, Any] = json.loads(known.read_text("utf-8")) if known.exists() else {}
    for name, case in cases.TABLES.items():
        for layout in case.layouts:
            key = f"{name}: {layout.name}"
            if key in found:
                continue
            start = time.monotonic()
            plain = f"{name}_{len(found)}"
            target = f"{case.catalog}.lakes.{plain}"
            write_table(spark, name, target)
            for statement in layout.statements:
                spark.sql(statement.format(table=f"lakes.{plain}", full=target))
            table = open_table(find_place(plain))
            reads = {}
            for where in case.predicates:
                explained = table.explain(where)
                reads[where] = [len(explained.kept), explained.size_bytes]
            data = table.files.where(content="data")
            found[key] = {
                "table": name,
                "layout": layout.asked,
                "outputs": [len(data), data.size_bytes],
                "reads": reads,
            }
            spark.sql(f"DROP TABLE {target}")
            print(key, found[key]["outputs"], f"{time.monotonic() - start:.1f} s", flush=True)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(deed)}" for name, deed in found.items())
    known.write_text(f"{{\n{lines}\n}}\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
