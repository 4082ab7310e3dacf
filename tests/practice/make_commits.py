"""Makes the tables of the crash lab with Spark: three INSERTs each, the second and third of two rows in two files.

    python tests/practice/make_commits.py

They are packed into `lakelens/practice/commits/lakes.zip`, whose bytes depend on the tables alone. Written under one neutral
root that is removed afterwards, as `tests/lakes/spark/make.py` does.
"""

from __future__ import annotations

import os
import shutil
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = Path("/tmp/lakes/warehouse")
TARGET = HERE.parents[1] / "lakelens/practice/commits/lakes.zip"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that an archive can record


def main() -> None:
    # beside this script, which is run as one
    from record_crashes import NAMES, TABLES, end_session, make_base, open_session

    os.environ |= {"HADOOP_USER_NAME": "lakes", "TZ": "UTC"}  # what an engine records as owner
    time.tzset()
    shutil.rmtree(ROOT, ignore_errors=True)
    made = {}
    for kind, name in NAMES.items():
        spark = open_session(ROOT, kind)
        make_base(spark, kind)
        for values in ("(2, 'b'), (3, 'c')", "(4, 'd'), (5, 'e')"):
            spark.sql(f"INSERT INTO {name} VALUES {values}")
        end_session(spark)
        table = ROOT / TABLES[kind]
        for path in table.rglob("*"):
            if path.is_file() and not (path.name.startswith(".") and path.suffix == ".crc"):
                made[f"{kind}/{path.relative_to(table).as_posix()}"] = (
                    path.stat().st_mtime_ns,
                    path.read_bytes(),
                )
    with zipfile.ZipFile(TARGET, "w") as archive:
        for name, (_, data) in sorted(
            made.items(), key=lambda item: (item[0].partition("/")[0], item[1][0], item[0])
        ):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), data, zipfile.ZIP_DEFLATED)
    shutil.rmtree(ROOT)


if __name__ == "__main__":
    main()
