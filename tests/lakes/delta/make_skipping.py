"""Record in `skipping.json` which files delta-spark reads of the tables of `spark/` and `rs/` for each of some predicates.

    python tests/lakes/delta/make_skipping.py [TABLE …]      (of all, or of those that the installed Spark has written)

A table has its live `files`, and of each predicate by their numbers those that Spark's scan reads (`read`) and those in
which a row fits (`fits`, counted by Spark).
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from make_spark import CONFIG, HERE, IS_NEWER, NEWER, ROOT

#: What every table with these two columns is asked.
PLAIN = [
    "id = 4",
    "id < 4",
    "id > 7 AND id <= 9",
    "id IN (1, 12)",
    "NOT (id < 6)",
    "id <> 3",
    "id IS NULL",
    "id IS NOT NULL",
    "id BETWEEN 6 AND 8 OR id = 100",
    "id < 0",
    "id = 5 OR {text} = 'row 1'",
]
TEXT = [
    "{text} = 'row 9'",
    "{text} > 'row 5'",
    "{text} LIKE 'row 1%'",
    "{text} IN ('row 2', 'x')",
    "{text} IS NULL",
]
INTEGERS = [
    "{c} = 1",
    "{c} <> 1",
    "{c} > 1",
    "{c} <= -5",
    "{c} IN (-5, 7)",
    "{c} IS NULL",
    "{c} IS NOT NULL",
    "NOT ({c} > 1)",
]


def write_all(predicates: list[str], **names: str) -> list[str]:
    return [predicate.format(**names) for predicate in predicates]


NUMBERED = PLAIN + TEXT
TIMES = [
    "at = TIMESTAMP '2024-02-01 00:00:00'",
    "at < TIMESTAMP '2024-01-01 00:00:00'",
    "at <= TIMESTAMP '2024-01-31 10:11:12'",
    "at < TIMESTAMP '2024-02-01 00:00:00'",
    "at >= TIMESTAMP '2024-02-29 23:30:00'",
    "at > TIMESTAMP '2024-02-01 00:00:00'",
    "at > TIMESTAMP '2024-01-15 00:00:00' AND at < TIMESTAMP '2024-02-15 00:00:00'",
    "at BETWEEN TIMESTAMP '2023-12-31 12:00:00' AND TIMESTAMP '2024-01-31 12:00:00'",
    "at IN (TIMESTAMP '2024-01-01 00:00:00', TIMESTAMP '2024-03-01 10:00:00')",
    "at IS NULL",
    "at IS NOT NULL",
    "at > TIMESTAMP '2024-02-15 00:00:00' OR id = 1",
    "m = 2",
    "y = 2024 AND m > 1",
]
PREDICATES: dict[str, list[str]] = {
    **{f"spark/generated-{name}": TIMES for name in ("months", "days", "hours")},
    "spark/widened-further": [
        *(
            text
            for column in ("y_d", "h_d", "i_d", "i_l", "i_c", "y_c", "l_c", "p", "st.x")
            for text in write_all(INTEGERS, c=column)
        ),
        "f > 1.1",
        "f > 1.2",
        "f = 0.1",
        "f < 1e300",
        "i_d = 0.25",
        "i_c > 2147483647",
        "i_c = 1234567890.12",
        "l_c > 9223372036854775807",
        "c > 999.99",
        "c = 0.0100",
        "c >= 12345.6789",
        "r = 12.30",
        "r > 12.3",
        "r IS NULL",
        "t = TIMESTAMP_NTZ '2024-02-29 00:00:00'",
        "t > TIMESTAMP_NTZ '2024-02-29 00:00:00'",
        "t > TIMESTAMP_NTZ '2024-02-29 10:11:12.123456'",
        "t < TIMESTAMP_NTZ '2000-01-01 00:00:00'",
        "st.t > TIMESTAMP_NTZ '2024-01-01 00:00:00'",
        "st.t < TIMESTAMP_NTZ '1970-01-01 00:00:00'",
        "q = TIMESTAMP_NTZ '2024-01-31 00:00:00'",
        "q > TIMESTAMP_NTZ '2024-01-31 00:00:00'",
        "q <= TIMESTAMP_NTZ '2024-01-31 00:00:00'",
        "q IS NULL",
    ],
    **{
        table: write_all(NUMBERED, text="name")
        for table in (
            "spark/multi-part",
            "spark/v2-checkpoints",
            "spark/cloned",
            "spark/vectors-inline",
            "spark/compacted",
            "rs/checkpointed",
            "rs/struct-stats",
        )
    },
    "spark/mapped-id": write_all(NUMBERED, text="title"),
    "spark/mapped-name": [
        *write_all(INTEGERS, c="id"),
        *write_all(INTEGERS, c="renamed.a"),
        "renamed.b = 'x'",
        "renamed.b > 'y'",
        "`part of it` = 'u'",
        "`part of it` <> 'u' AND id < 3",
        "`part of it` IN ('v', 'w')",
    ],
    "spark/widened": [
        *(text for column in ("b", "s", "st.x", "p") for text in write_all(INTEGERS, c=column)),
        "b > 40000",
        "s > 32767",
        "p = 300",
        "p BETWEEN 5 AND 6",
    ],
    "spark/struct-stats": [
        *write_all(INTEGERS, c="id"),
        *write_all(INTEGERS, c="p"),
        "d = DATE '2024-01-02'",
        "d < DATE '2024-01-04'",
        "d IN (DATE '2024-01-05', DATE '2025-01-05')",
        "d IS NULL",
    ],
    "spark/partitioned": [
        "part = 'a b'",
        "part <> 'c=d'",
        "part IS NULL",
        "part IS NOT NULL",
        "part LIKE 'x%'",
        "part = ''",
        "day = DATE '2024-01-03'",
        "day < DATE '2024-01-03'",
        "day IS NULL",
        "day IS NULL OR part = 'x:y'",
        "id > 5 AND day IS NOT NULL",
        "NOT (part = 'q?#&+')",
    ],
    "rs/partitioned": [
        "part = 'a b'",
        "part IS NULL",
        "part IS NOT NULL",
        "part > 'c'",
        "day IS NULL",
        "day = DATE '2024-01-03'",
        "day >= DATE '2024-01-02'",
        "id = 3",
        "id < 4 AND day IS NOT NULL",
        "name = 'row 2' OR part = 'a b'",
        "NOT (day = DATE '2024-01-03')",
    ],
    "spark/typed-partitions": [
        *write_all(INTEGERS, c="i"),
        "dec = 12.30",
        "dec > 12.3",
        "b = true",
        "b IS NULL",
        "ts = TIMESTAMP '2024-01-31 10:11:12.123456'",
        "ts < TIMESTAMP '2024-01-31 10:11:12.123456'",
        "ts > TIMESTAMP '2024-01-31 10:11:12.123455'",
        "ntz IS NOT NULL",
        "f = 1.5",
        "f > 2.5",
    ],
    "rs/typed-partitions": [
        *write_all(INTEGERS, c="i"),
        "dec > 12.3",
        "b = false",
        "d < DATE '2024-02-01'",
        "d IS NULL",
        "f < 1.0",
        "l > 100",
    ],
    "spark/generated": [
        "at = TIMESTAMP '2024-01-31 10:11:12'",
        "at < TIMESTAMP '2024-02-01 00:00:00'",
        "at >= TIMESTAMP '2024-02-01 00:00:00'",
        "at > TIMESTAMP '2024-06-01 00:00:00'",
        "at BETWEEN TIMESTAMP '2024-01-31 00:00:00' AND TIMESTAMP '2024-01-31 23:59:59'",
        "at IS NULL",
        "day = DATE '2025-01-31'",
        "day <> DATE '2025-01-31' AND id > 1",
        "day IN (DATE '2024-01-31', DATE '2024-02-01')",
        "id = 1",
        "id > 3",
        "NOT (at > TIMESTAMP '2024-06-01 00:00:00')",
    ],
    "spark/types": [
        *write_all(INTEGERS, c="i32"),
        "i64 > 9223372036854775806",
        "f64 > 1e300",
        "f32 < -1.5",
        "nan = 5",
        "nan > 1e308",
        "dec = 3.10",
        "dec < 3.1",
        "b = true",
        "s > 'zzzz'",
        "s < 'a'",
        "d < DATE '1969-12-31'",
        "d = DATE '2024-02-29'",
        "ts > TIMESTAMP '2024-01-31 10:11:12.123456'",
        "ts >= TIMESTAMP '2024-01-31 10:11:12.123456'",
        "ts < TIMESTAMP '1960-01-31 10:11:12.123456'",
        "st.x > 1",
        "st.inner.y = 'r'",
        "v > 'é'",
    ],
    "spark/nested-wide": [
        "a.x.y.z = TIMESTAMP '2024-01-01 00:00:00.123456'",
        "a.x.y.z > TIMESTAMP '2024-01-01 00:00:00.123'",
        "a.x.y.z > TIMESTAMP '2024-01-01 00:00:00.123456'",
        "a.x.y.z > TIMESTAMP '2024-01-01 00:00:00.125'",
        "a.x.y.z < TIMESTAMP '2024-01-01 00:00:00.123'",
        "text > 'ac'",
        "text < 'abababababababababababababababab'",
        "text = 'abababababababababababababababab'",
        "w1 = 2",
        "w2 IS NULL",
        "id > 2",
        "id = 1 AND w1 = 1",
    ],
}


def list_names(places: Any) -> list[str]:
    """List the names of files, which are unique; how Spark encodes their folders differs from answer to answer."""
    return sorted(unquote(place).rpartition("/")[2] for place in places)


def ask(spark: Any, path: Path, predicates: list[str]) -> dict[str, Any]:
    name = f"delta.`{path}`"
    counts = ", ".join(f"count_if({predicate})" for predicate in predicates)
    counted = spark.sql(f"SELECT _metadata.file_path, {counts} FROM {name} GROUP BY 1").collect()
    files = list_names(spark.table(name).inputFiles())
    said = []
    for number, predicate in enumerate(predicates, 1):
        # the optimised plan has the files that are left of the scan
        read = list_names(spark.sql(f"SELECT * FROM {name} WHERE {predicate}").inputFiles())
        fits = list_names(row[0] for row in counted if row[number])
        numbers = {"read": [files.index(file) for file in read], "fits": [files.index(file) for file in fits]}
        said.append({"predicate": predicate, **numbers})
    return {"files": files, "predicates": said}


def main(wanted: list[str]) -> None:
    sys.path[:0] = [str(HERE.parents[2])]
    from lakelens.spark import session

    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir(parents=True)
    spark = session(ROOT / "warehouse", formats=("hive",), config=CONFIG, progress=print)
    written = {f"spark/{name}" for name in NEWER}
    found = json.loads((HERE / "skipping.json").read_text("utf-8"))
    for table, predicates in PREDICATES.items():
        if (table in written) != IS_NEWER or (wanted and table not in wanted):
            continue
        folder = HERE / table
        place = ROOT / (Path(table).name if table.startswith("spark/") else table)
        shutil.copytree(folder / "table", place)
        if (folder / "source").exists():
            shutil.copytree(folder / "source", ROOT / "source")
        found[table] = ask(spark, place, predicates)
        print(table, len(predicates))
    spark.stop()
    parts = []
    for table, said in found.items():
        head = f'"files": {json.dumps(said["files"])}'
        lines = ",\n  ".join(json.dumps(line, ensure_ascii=False) for line in said["predicates"])
        parts.append(f'"{table}": {{{head},\n "predicates": [\n  {lines}]}}')
    lines = ",\n".join(parts)
    (HERE / "skipping.json").write_text("{\n" + lines + "\n}\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
