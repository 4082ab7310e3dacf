"""Arrange tables again with Spark, and record which files and bytes predicates read before and after.

    python tests/lakes/layouts/record.py [planted|drawn|optimized|parts] [tables] [deeds] [NUMBER]

`tables` writes the tables before (`tables.tar.xz`): Iceberg by arrival, by region and by day, Paimon by arrival and by day.
`deeds` writes each once for each of its layouts (`cases.py`) that `deeds.json` has not yet, has Spark's procedure do it, and
asks `explain` about ten predicates. Of each deed there is the layout, `outputs` (files, bytes, row groups), and of each
predicate `[files, bytes, row groups, their bytes]` after; the first deeds are without row groups. With `planted`, `drawn` or
`optimized` (Delta, of `drawn.py`) it is done with those tables, in files of that name; with `parts` parts of tables that are
packed already are arranged, which makes deeds alone. A NUMBER is how many deeds are
recorded at most: another run goes on.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tarfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = Path("/tmp/lakes/layouts")
sys.path.insert(0, str(HERE.parents[2]))
os.environ |= {"HADOOP_USER_NAME": "lakes", "TZ": "UTC"}
time.tzset()

from lakelens.analysis.explain.judgement import REASONS  # noqa: E402
from lakelens.opening import open_table  # noqa: E402
from lakelens.spark import session  # noqa: E402
from tests.lakes.layouts import cases, drawn, parts, planted  # noqa: E402


def main(arguments: list[str]) -> int:
    """Make what is named, or all of it."""
    shutil.rmtree(ROOT, ignore_errors=True)
    spark = session(
        ROOT, formats=("iceberg", "paimon", "delta"), config={"spark.driver.memory": "2g"}, progress=print
    )
    for catalog in ("iceberg", "paimon"):
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.lakes")
    asked, archive, deeds = set(arguments), "tables.tar.xz", "deeds.json"
    wanted: Mapping[str, cases.Table] = cases.TABLES
    sets: dict[str, Mapping[str, cases.Table]] = {
        "planted": planted.TABLES,
        "drawn": drawn.TABLES,
        "optimized": drawn.OPTIMIZED,
        "parts": parts.TABLES,
    }
    for name, others in sets.items():
        if name in asked:
            wanted, archive, deeds = others, f"{name}.tar.xz", f"{name}.json"
    if "tables" in asked or "deeds" not in asked:
        make_tables(spark, wanted, HERE / archive)
    if "deeds" in asked or "tables" not in asked:
        most = min((int(text) for text in asked if text.isdigit()), default=1_000)
        record_deeds(spark, wanted, HERE / deeds, most)
    spark.stop()
    shutil.rmtree(ROOT, ignore_errors=True)
    return 0


def find_place(name: str) -> Path:
    """Find where the session's catalogs have a table."""
    return next(
        path for path in ROOT.rglob(name) if path.is_dir() and path.parent.name in ("lakes", "lakes.db")
    )


def name_target(case: cases.Table, name: str) -> str:
    """Name a table as statements do: one of Delta by its place."""
    return f"delta.`{ROOT}/lakes.db/{name}`" if case.catalog == "delta" else f"{case.catalog}.lakes.{name}"


def drop_table(spark: Any, case: cases.Table, name: str) -> None:
    """Drop a table; what has only a place is removed."""
    if case.catalog == "delta":
        shutil.rmtree(ROOT / "lakes.db" / name)
    else:
        spark.sql(f"DROP TABLE {name_target(case, name)}")


def make_tables(spark: Any, wanted: Mapping[str, cases.Table], target: Path) -> None:
    """Write every table before, and pack them."""
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for name, case in wanted.items():
            write_table(spark, case, name_target(case, name))
            place = find_place(name)
            for path in sorted(place.rglob("*")):
                if path.is_file() and not path.name.endswith(".crc"):
                    archive.add(path, f"{name}/{path.relative_to(place)}", filter=strip)
            print(name, open_table(place).files, flush=True)
            drop_table(spark, case, name)
    print(f"{target.stat().st_size:,} bytes")


def strip(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Take out of an archive what is of this machine."""
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    return info


def write_table(spark: Any, case: cases.Table, target: str) -> None:
    """Write a table as its case says it arrived."""
    properties = ", ".join(f"'{key}'='{value}'" for key, value in case.properties.items())
    parts = f"PARTITIONED BY ({case.partitioned})" if case.partitioned else ""
    settings = f"TBLPROPERTIES ({properties})" if properties else ""
    kind = "USING delta" if case.catalog == "delta" else ""
    spark.sql(f"CREATE TABLE {target} ({case.columns}) {kind} {parts} {settings}")
    for batch in range(case.batches):
        spark.sql(f"INSERT INTO {target} {case.select(batch)}")


def record_deeds(spark: Any, wanted: Mapping[str, cases.Table], known: Path, most: int) -> None:
    """Arrange each table in each way that is not recorded yet, and ask what is read."""
    found: dict[str, Any] = json.loads(known.read_text("utf-8")) if known.exists() else {}
    left = [
        (f"{name}: {layout.name}", name, layout) for name, case in wanted.items() for layout in case.layouts
    ]
    left = [(key, name, layout) for key, name, layout in left if key not in found]
    print(f"{len(left)} deeds are left")
    for key, name, layout in left[:most]:
        case, start = wanted[name], time.monotonic()
        plain = f"{name}_{len(found)}"
        target = name_target(case, plain)
        write_table(spark, case, target)
        for statement in layout.statements:
            spark.sql(statement.format(table=f"lakes.{plain}", full=target))
        table = open_table(find_place(plain))
        data = table.files.where(content="data")
        found[key] = {
            "table": name,
            "layout": layout.asked,
            "outputs": [len(data), data.size_bytes, sum(len(file.row_groups) for file in data)],
            "reads": {where: count_reads(table, where) for where in case.predicates},
        }
        drop_table(spark, case, plain)
        print(key, found[key]["outputs"], f"{time.monotonic() - start:.1f} s", flush=True)
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(deed)}" for name, deed in found.items())
        known.write_text(f"{{\n{lines}\n}}\n", "utf-8")


def count_reads(table: Any, where: str) -> list[int]:
    """Count the files that are read, their bytes, and the row groups that their bounds leave, and theirs."""
    explained = table.explain(where, row_groups=True)
    groups = size = 0
    for read in explained.row_groups:
        # what dictionaries and bloom filters rule out beyond that is not foretold
        reasons = [None if code < 0 else REASONS[code] for code in read.judgement.reason.tolist()]
        left = [reason in (None, "dictionary", "bloom") for reason in reasons]
        groups += sum(left)
        size += sum(one for one, is_left in zip(read.groups.size_bytes, left, strict=True) if is_left)
    return [len(explained.kept), explained.size_bytes, groups, size]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
