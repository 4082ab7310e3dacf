"""Make tables of 300 keys that change over many commits, with the rows that the engine reads at every snapshot.

    python tests/lakes/spark/make_lives.py [CASE …]

Each case is one file, `tests/lakes/lives/CASE.tar.xz`: the table's directory as `table/`, and `rows.json`:

    {"engine": …, "location": …, "columns": {snapshot: [names]}, "rows": {snapshot: [[values], …]}}

The rows are those of `SELECT * FROM table VERSION AS OF snapshot`; of branches too.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "lives"
ROOT = Path("/tmp/lakes/warehouse")

sys.path[:0] = [str(HERE), str(HERE.parents[2])]
os.environ |= {"HADOOP_USER_NAME": "lakes", "TZ": "UTC"}
time.tzset()

from answers import local, plain  # noqa: E402

from lakelens.spark import session  # noqa: E402

CONFIG = {
    "spark.driver.memory": "1500m",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
}
_SMALL = (
    "'write.metadata.delete-after-commit.enabled'='true', 'write.metadata.previous-versions-max'='1', "
    "'write.metadata.compression-codec'='gzip', 'commit.manifest.min-count-to-merge'='5'"
)
_CHANGES = "SELECT id, CAST(id % 5 AS STRING) grp, CAST(id * {n} AS INT) v, concat('m', id, '-{n}') name FROM range({a}, {b}, 1, 1)"  # noqa: E501


def iceberg(version: int, mode: str, *more: str) -> Callable[[Any, str], None]:
    """Merges, updates, deletes, a rewrite, an evolved schema, a branch."""

    def make(spark: Any, t: str) -> None:
        modes = ", ".join(f"'write.{verb}.mode'='{mode}'" for verb in ("delete", "update", "merge"))
        merge = (
            "MERGE INTO {t} USING ({s}) s ON {t}.id = s.id WHEN MATCHED AND s.id % 4 = 0 THEN DELETE "
            "WHEN MATCHED THEN UPDATE SET v = s.v, name = s.name "
            "WHEN NOT MATCHED THEN INSERT (id, grp, v, name) VALUES (s.id, s.grp, s.v, s.name)"
        )
        for statement in (
            f"CREATE TABLE {{t}} (id BIGINT NOT NULL, grp STRING, v INT, name STRING) USING iceberg PARTITIONED BY (bucket(3, id)) "  # noqa: E501
            f"TBLPROPERTIES ('format-version'='{version}', {modes}, {_SMALL})",
            *more,
            "INSERT INTO {t} " + _CHANGES.format(n=1, a=0, b=200),
            "INSERT INTO {t} " + _CHANGES.format(n=1, a=200, b=300),
            "UPDATE {t} SET v = v + 1000 WHERE id % 7 = 3",
            "DELETE FROM {t} WHERE id % 11 = 5",
            merge.replace("{s}", _CHANGES.format(n=2, a=40, b=90)),
            "ALTER TABLE {t} ADD COLUMN note STRING",
            "ALTER TABLE {t} ALTER COLUMN v TYPE BIGINT",
            "UPDATE {t} SET note = concat('n', id) WHERE id BETWEEN 100 AND 130",
            "CALL iceberg.system.rewrite_data_files(table => '{t}', options => map('min-input-files', '2'))",
            "ALTER TABLE {t} RENAME COLUMN name TO title",
            "INSERT INTO {t} SELECT id, grp, CAST(v AS BIGINT), name, 'again' FROM ("
            + _CHANGES.format(n=3, a=40, b=60)
            + ")",
            "ALTER TABLE {t} CREATE BRANCH audit",
            "UPDATE {t}.branch_audit SET title = 'audited' WHERE id % 50 = 1",
            "DELETE FROM {t} WHERE id % 13 = 7 AND grp = '2'",
            "UPDATE {t} SET v = -v WHERE id < 20",
            "ALTER TABLE {t} DROP COLUMN grp",
            "DELETE FROM {t} WHERE title LIKE 'm1%'",
        ):
            spark.sql(statement.replace("{t}", t))

    return make


def paimon(columns: str, writes: list[str], *options: str) -> Callable[[Any, str], None]:
    def make(spark: Any, t: str) -> None:
        pairs = ", ".join("'{}'='{}'".format(*option.split("=", 1)) for option in options)
        spark.sql(f"CREATE TABLE {t} ({columns}) TBLPROPERTIES ({pairs})")
        for statement in writes:
            spark.sql(statement.replace("{t}", t).replace("{name}", t.split(".", 1)[1]))

    return make


_UPSERTS = [
    "INSERT INTO {t} SELECT CAST(id AS INT), CAST(id AS INT), concat('a', id) FROM range(0, 200, 1, 1)",
    "INSERT INTO {t} SELECT CAST(id AS INT), CAST(id * 2 AS INT), concat('b', id) FROM range(150, 300, 1, 1)",
    "INSERT INTO {t} SELECT CAST(id AS INT), CAST(id * 3 AS INT), IF(id % 2 = 0, NULL, concat('c', id)) FROM range(40, 120, 1, 1)",  # noqa: E501
]
_COMPACT = "CALL paimon.sys.compact(table => '{name}')"
_CHANGE = [
    "DELETE FROM {t} WHERE id % 11 = 5",
    "UPDATE {t} SET n = n + 1000 WHERE id % 7 = 3",
    _COMPACT,
    "ALTER TABLE {t} ADD COLUMN note STRING",
    "INSERT INTO {t} SELECT CAST(id AS INT), CAST(id * 4 AS INT), concat('d', id), 'new' FROM range(0, 60, 1, 1)",
    "MERGE INTO {t} USING (SELECT CAST(id AS INT) id FROM range(55, 75, 1, 1)) s ON {t}.id = s.id "
    "WHEN MATCHED AND s.id % 3 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET n = -1",
    _COMPACT,
]
_ID = "id INT NOT NULL, n INT, name STRING"
_MORE = [
    "INSERT INTO {t} SELECT CAST(id AS INT), CAST(id % 9 AS INT), concat('d', id) FROM range(0, 60, 1, 1)",
    _COMPACT,
    "INSERT INTO {t} SELECT CAST(id AS INT), CAST(NULL AS INT), concat('e', id) FROM range(50, 160, 1, 1)",
]
_GROUPS = "id INT NOT NULL, a INT, g1 INT, b STRING, g2 INT, c STRING"
CASES: dict[str, Callable[[Any, str], None]] = {
    "iceberg-v2-merge-on-read": iceberg(2, "merge-on-read"),
    "iceberg-v3-merge-on-read": iceberg(3, "merge-on-read"),
    "iceberg-v2-copy-on-write": iceberg(2, "copy-on-write", "ALTER TABLE {t} SET IDENTIFIER FIELDS id"),
    "paimon-deduplicate": paimon(_ID, [*_UPSERTS, *_CHANGE], "primary-key=id", "bucket=2"),
    "paimon-deletion-vectors": paimon(
        _ID, [*_UPSERTS, *_CHANGE], "primary-key=id", "bucket=2", "deletion-vectors.enabled=true"
    ),
    "paimon-sequence-field": paimon(
        _ID, [*_UPSERTS, *_MORE], "primary-key=id", "bucket=1", "sequence.field=n"
    ),
    "paimon-first-row": paimon(
        _ID, [*_UPSERTS, *_MORE], "primary-key=id", "bucket=1", "merge-engine=first-row"
    ),
    "paimon-partial-update": paimon(
        _ID, [*_UPSERTS, *_MORE], "primary-key=id", "bucket=1", "merge-engine=partial-update"
    ),
    "paimon-sequence-groups": paimon(
        _GROUPS,
        [
            "INSERT INTO {t} SELECT CAST(id AS INT), CAST(id AS INT), 1, concat('b', id), 1, 'c' FROM range(0, 300, 1, 1)",
            "INSERT INTO {t} SELECT CAST(id AS INT), CAST(id * 2 AS INT), CAST(id % 3 AS INT), concat('x', id), 2, NULL FROM range(0, 150, 1, 1)",  # noqa: E501
            "INSERT INTO {t} SELECT CAST(id AS INT), NULL, 5, NULL, CAST(NULL AS INT), 'late' FROM range(100, 200, 1, 1)",
            _COMPACT,
            "INSERT INTO {t} SELECT CAST(id AS INT), 7, CAST(NULL AS INT), 'y', 3, 'z' FROM range(180, 260, 1, 1)",
        ],
        *("primary-key=id", "bucket=1", "merge-engine=partial-update"),
        *("fields.g1.sequence-group=a,b", "fields.g2.sequence-group=c"),
    ),
    "paimon-aggregation": paimon(
        "id INT NOT NULL, s INT, m INT, l STRING, f STRING, k STRING",
        [
            f"INSERT INTO {{t}} SELECT CAST(id AS INT), CAST(id % {n} AS INT), CAST(id * {n} % 17 AS INT), "
            f"IF(id % 3 = 0, NULL, concat('l{n}-', id)), concat('f{n}-', id), IF(id % 4 = 0, NULL, 'k{n}') FROM range({a}, {b}, 1, 1)"  # noqa: E501
            for n, a, b in ((5, 0, 300), (7, 50, 200), (3, 100, 250))
        ]
        + [
            _COMPACT,
            "INSERT INTO {t} SELECT CAST(id AS INT), 1, NULL, NULL, 'x', 'k' FROM range(0, 120, 1, 1)",
        ],
        *("primary-key=id", "bucket=1", "merge-engine=aggregation"),
        *("fields.s.aggregate-function=sum", "fields.m.aggregate-function=max"),
        *("fields.f.aggregate-function=first_value", "fields.k.aggregate-function=listagg"),
    ),
    "paimon-append": paimon(
        _ID.replace(" NOT NULL", ""), [*_UPSERTS[:2], *_CHANGE[:2], *_CHANGE[3:7]], "bucket=-1"
    ),
}


def main(wanted: list[str]) -> int:
    chosen = [name for name in CASES if not wanted or name in wanted]
    shutil.rmtree(ROOT, ignore_errors=True)
    failed = []
    for kind in ("iceberg", "paimon"):
        names = [name for name in chosen if name.startswith(kind)]
        if not names:
            continue
        spark = session(ROOT, formats=("hive", kind), config=CONFIG, progress=print)
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {kind}.lives")
        for name in names:
            start = time.monotonic()
            table = f"{kind}.lives.{name.replace('-', '_')}"
            try:
                CASES[name](spark, table)
                place, document = (ask_iceberg if kind == "iceberg" else ask_paimon)(spark, table)
            except Exception as error:
                print(f"{name} FAILED: {type(error).__name__}: {str(error)[:1500]}", flush=True)
                failed.append(name)
                continue
            pack(name, place, document)
            print(f"{name}  {time.monotonic() - start:.1f} s", flush=True)
        spark.stop()
    shutil.rmtree(ROOT)
    return bool(failed)


def ask_iceberg(spark: Any, table: str) -> tuple[Path, dict[str, Any]]:
    place = spark.sql(f"SELECT file FROM {table}.metadata_log_entries").collect()[-1][0]
    folder = local(place).parent.parent
    ids = [row[0] for row in spark.sql(f"SELECT snapshot_id FROM {table}.snapshots").collect()]
    return folder, read(
        spark,
        folder,
        "iceberg 1.12.0",
        ids,
        lambda one: spark.sql(f"SELECT * FROM {table} VERSION AS OF {one}"),
    )


def ask_paimon(spark: Any, table: str) -> tuple[Path, dict[str, Any]]:
    _, database, name = table.split(".")
    folder = next(ROOT.rglob(f"{database}.db/{name}"))
    ids = [
        row[0]
        for row in spark.sql(
            f"SELECT snapshot_id FROM {database}.`{name}$snapshots`".replace(
                database, f"paimon.{database}", 1
            )
        ).collect()
    ]
    reader = lambda one: spark.sql(f"SELECT * FROM {table} VERSION AS OF {one}")  # noqa: E731
    return folder, read(spark, folder, "paimon 0.9", ids, reader)


def read(
    spark: Any, folder: Path, engine: str, ids: list[int], select: Callable[[int], Any]
) -> dict[str, Any]:
    """The rows of every snapshot."""
    columns: dict[str, list[str]] = {}
    rows: dict[str, list[Any]] = {}
    for number in ids:
        frame = select(number)
        kinds = [field.dataType for field in frame.schema.fields]
        columns[str(number)] = frame.columns
        found = [
            [plain(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in frame.collect()
        ]
        rows[str(number)] = sorted(found, key=lambda row: json.dumps(row))
    return {
        "engine": f"{engine}, spark {spark.version}",
        "location": str(folder),
        "columns": columns,
        "rows": rows,
    }


def pack(name: str, place: Path, document: dict[str, Any]) -> None:
    """One archive of the table and what the engine read."""
    TARGET.mkdir(exist_ok=True)
    with tarfile.open(TARGET / f"{name}.tar.xz", "w:xz", preset=9) as archive:
        for path in sorted(place.rglob("*")):
            if path.is_file() and not path.name.endswith(".crc"):
                info = archive.gettarinfo(path, f"table/{path.relative_to(place)}")
                info.uid = info.gid = info.mtime = 0
                info.uname = info.gname = ""
                with path.open("rb") as file:
                    archive.addfile(info, file)
        data = json.dumps(document, separators=(",", ":")).encode()
        info = tarfile.TarInfo("rows.json")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
