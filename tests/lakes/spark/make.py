"""Make the engine-written test tables of this folder, each with the engine's own answers.

    python tests/lakes/spark/make.py [--new] [FORMAT | FORMAT/CASE …]

`--new` makes only the cases that have no folder yet.

Tables are written under one neutral root that is removed afterwards: the absolute locations that their metadata record
do not exist any more, as in nearly every table that somebody else has copied. `tests/lakes/README.md` tells the layout
and how values are put into JSON.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = Path("/tmp/lakes/warehouse")

sys.path[:0] = [str(HERE), str(HERE.parents[2])]
os.environ |= {
    "HADOOP_USER_NAME": "lakes",
    "TZ": "UTC",
}  # what the engine records as owner, what collect() converts to
time.tzset()

import answers  # noqa: E402
import hive_cases  # noqa: E402
import iceberg_cases  # noqa: E402
import iceberg_delete_cases  # noqa: E402, F401
import iceberg_evolution_cases  # noqa: E402, F401
import iceberg_java_cases  # noqa: E402, F401
import iceberg_maintenance_cases  # noqa: E402, F401
import iceberg_partition_cases  # noqa: E402, F401
import iceberg_planning_cases  # noqa: E402, F401
import iceberg_v4_cases  # noqa: E402, F401
import paimon_cases  # noqa: E402
import paimon_storage_cases  # noqa: E402, F401

from lakelens.spark import session  # noqa: E402

HADOOP = "spark.sql.catalog.hadoop"
CONFIG = {
    HADOOP: "org.apache.iceberg.spark.SparkCatalog",
    f"{HADOOP}.type": "hadoop",
    f"{HADOOP}.warehouse": str(ROOT / "hadoop"),
    f"{HADOOP}.cache-enabled": "false",
    "spark.driver.memory": "2g",
}
CATALOGS = {"iceberg": ("iceberg", "hadoop"), "paimon": ("paimon",), "hive": ("spark_catalog",)}
CASES = {"iceberg": iceberg_cases.CASES, "paimon": paimon_cases.CASES, "hive": hive_cases.CASES}


def main(wanted: list[str]) -> int:
    shutil.rmtree(ROOT, ignore_errors=True)
    only_new = "--new" in wanted
    wanted = [word for word in wanted if word != "--new"]
    chosen = [
        (kind, name)
        for kind, cases in CASES.items()
        for name in cases
        if (not wanted or kind in wanted or f"{kind}/{name}" in wanted)
        and not (only_new and (HERE / kind / name).exists())
    ]
    if not chosen:
        print(
            f"no such case; there are: {', '.join(f'{kind}/{name}' for kind in CASES for name in CASES[kind])}"
        )
        return 2
    failed = []
    for kind in dict.fromkeys(kind for kind, _ in chosen):
        # One format at a time: Iceberg's SQL rules refuse Paimon's UPDATE.
        spark = session(
            ROOT, formats=("hive", kind), config=CONFIG if kind == "iceberg" else None, progress=print
        )
        for catalog in CATALOGS[kind]:
            spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.lakes")
        failed += [
            f"{kind}/{name}" for other, name in chosen if other == kind and not make(spark, kind, name)
        ]
        spark.stop()
    shutil.rmtree(ROOT)
    print(f"{len(chosen) - len(failed)} made; failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def make(spark, kind: str, name: str) -> bool:
    """Make one case and copy it with its answers; a case that fails leaves what was there before."""
    start = time.monotonic()
    try:
        made = CASES[kind][name](spark, name.replace("-", "_").replace(".", "_"))
        place, document = made if isinstance(made, tuple) else answers.collect(spark, kind, made)
    except Exception as error:
        print(f"{kind}/{name} FAILED: {type(error).__name__}: {str(error)[:1500]}", flush=True)
        return False
    target = HERE / kind / name
    shutil.rmtree(target, ignore_errors=True)
    keep = kind == "hive" and name == "text"  # one table keeps the local file system's checksums
    shutil.copytree(place, target / "table", ignore=None if keep else shutil.ignore_patterns("*.crc"))
    answers.write(target / "answers.json", document)
    print(f"{kind}/{name}  {time.monotonic() - start:.1f} s", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
