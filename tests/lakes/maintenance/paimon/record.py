"""Run Paimon's own procedures on copies of tables and record, as JSON, what each has done to the files.

    python tests/lakes/maintenance/paimon/record.py [--tables] [PART OF A CASE'S NAME …]

`--tables` makes the tables of `cases.py` again first. Each case copies a table into a warehouse, calls the procedure there
(`CALL paimon.sys.…`; what Spark's connector 0.9 has no call for is asked of the engine's Java classes) and compares the
directory before and after. `record.json` then has of each case:

    deleted, written     paths relative to the table, identifiers cut to 8 characters
    before, after        of the current state: {name: [level, rows, bytes]}
    snapshots, tags, changelogs   what is left
    error                the engine's, where it failed
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LAKES = HERE.parents[1]
ROOT = Path("/tmp/lakes/maintenance")
RECORD = HERE / "record.json"
sys.path[:0] = [str(HERE), str(HERE.parents[3])]
os.environ |= {"HADOOP_USER_NAME": "lakes", "TZ": "UTC"}
time.tzset()

import cases  # noqa: E402

from lakelens.opening import open_table  # noqa: E402
from lakelens.spark import session  # noqa: E402

_UUID = re.compile(r"([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def cut(path: str) -> str:
    """A path with its identifiers cut."""
    return _UUID.sub(r"\1", path)


def main(arguments: list[str]) -> int:
    shutil.rmtree(ROOT, ignore_errors=True)
    wanted = [one for one in arguments if not one.startswith("--")]
    spark = session(ROOT, formats=("paimon",), config={"spark.driver.memory": "2g"}, progress=print)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS paimon.lakes")
    if "--tables" in arguments:
        make_tables(spark, wanted)
    known = json.loads(RECORD.read_text("utf-8"))["cases"] if RECORD.exists() else {}
    chosen = [case for case in cases.list_cases() if not wanted or any(one in case.name for one in wanted)]
    known = {name: found for name, found in known.items() if name in {one.name for one in cases.list_cases()}}
    for number, case in enumerate(chosen):
        start = time.monotonic()
        known[case.name] = run_case(spark, case, f"t{number}")
        error = known[case.name]["error"]
        print(
            f"{case.name}: {len(known[case.name]['deleted'])} deleted {error or ''} {time.monotonic() - start:.1f} s",
            flush=True,
        )
        if number % 20 == 0:
            write_record(known)
    write_record(known)
    spark.stop()
    shutil.rmtree(ROOT)
    return 0


def write_record(known: dict[str, Any]) -> None:
    """A line for each case, in their order."""
    ordered = {case.name: known[case.name] for case in cases.list_cases() if case.name in known}
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(found, separators=(',', ':'))}" for name, found in ordered.items()
    )
    RECORD.write_text(f'{{"engine": "paimon 0.9.0, spark 3.5.9", "cases": {{\n{lines}\n}}}}\n', "utf-8")


def make_tables(spark: Any, wanted: list[str]) -> None:
    for name, make in cases.TABLES.items():
        if wanted and not any(one in f"{cases.OWN}{name}" for one in wanted):
            continue
        plain = name.replace("-", "_")
        make(spark, f"paimon.lakes.{plain}")
        target = HERE / name / "table"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(find_place(plain), target, ignore=shutil.ignore_patterns("*.crc"))
        print(
            f"{name}: {sum(path.stat().st_size for path in target.rglob('*') if path.is_file()):,} bytes",
            flush=True,
        )


def find_place(name: str) -> Path:
    """Where the session's catalog has a table."""
    (found,) = ROOT.rglob("lakes.db")
    return found / name


def run_case(spark: Any, case: cases.Case, name: str) -> dict[str, Any]:
    """Copy, plant, call, compare."""
    place = find_place("x").with_name(name)
    shutil.copytree(LAKES / case.lake / "table", place)
    for path, text in case.planted.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, "utf-8")
    before, live = list_paths(place), list_live(place)
    error = None
    try:
        call(spark, case, f"lakes.{name}", place)
    except Exception as caught:
        error = describe_error(caught)
    after = list_paths(place)
    found = describe(place) if error is None else {}
    shutil.rmtree(place)
    return {
        "error": error,
        "deleted": sorted(map(cut, before - after)),
        "written": sorted(map(cut, after - before)),
        "before": live,
        **found,
    }


def describe_error(caught: Exception) -> str:
    """The last cause that the engine names, else the first line."""
    lines = str(caught).strip().splitlines()
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return cut((causes or lines)[-1 if causes else 0].removeprefix("Caused by: "))[:200]


def list_paths(place: Path) -> set[str]:
    return {
        str(path.relative_to(place)) for path in place.rglob("*") if path.is_file() and path.suffix != ".crc"
    }


def list_live(place: Path) -> dict[str, list[int | None]]:
    table = open_table(place)
    return {
        cut(file.path.rpartition("/")[2]): [file.level, file.record_count, file.size_bytes]
        for file in table.files
    }


def describe(place: Path) -> dict[str, Any]:
    """What the directory says afterwards."""
    table = open_table(place)
    left: dict[str, Any] = {"after": list_live(place)}
    for kind in ("snapshot", "tag", "changelog"):
        names = [path.name for path in place.glob(f"{kind}/{kind}-*")]
        left[f"{kind}s"] = sorted(name.removeprefix(f"{kind}-") for name in names)
    left["current"] = None if table.current is None else table.current.id
    return left


def call(spark: Any, case: cases.Case, name: str, place: Path) -> None:
    """Run the procedure."""
    if case.procedure == "compact":
        if not case.options["full"]:
            compact_next(spark, place)
            return
        spark.sql(f"CALL paimon.sys.compact(table => '{name}')")
    elif case.procedure == "expire_tags":
        expire_tags(spark, place)
    else:
        words = [f"table => '{name}'", *(f"{key} => {write(value)}" for key, value in case.options.items())]
        if case.procedure == "expire_snapshots":
            words = [re.sub(r"(older_than => )", r"\1TIMESTAMP ", word) for word in words]
        spark.sql(f"CALL paimon.sys.{case.procedure}({', '.join(words)})")


def write(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    return f"'{value}'"


TABLE = "org.apache.paimon.table.Table"
STORE_TABLE = "org.apache.paimon.table.FileStoreTable"


def ask(spark: Any, thing: Any, kind: str, method: str) -> Any:
    """Call a method of a public interface on an object whose class is not public."""
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    found = jvm.java.lang.Class.forName(kind, True, loader)
    none = gateway.new_array(jvm.java.lang.Class, 0)
    return found.getMethod(method, none).invoke(thing, gateway.new_array(jvm.java.lang.Object, 0))


def open_java(spark: Any, place: Path) -> Any:
    """The table as the engine's own class; of one that only writes a copy of the options says otherwise."""
    paimon = spark._jvm.org.apache.paimon
    schema = place / "schema"
    for document in schema.glob("schema-*"):
        document.write_text(
            document.read_text("utf-8").replace('"write-only" : "true"', '"write-only" : "false"'), "utf-8"
        )
    return paimon.table.FileStoreTableFactory.create(
        paimon.fs.local.LocalFileIO(), paimon.fs.Path(str(place))
    )


def compact_next(spark: Any, place: Path) -> None:
    """The next pick of every bucket, without forcing a full compaction."""
    table = open_java(spark, place)
    builder = ask(spark, table, TABLE, "newBatchWriteBuilder")
    write_all, commit = builder.newWrite(), builder.newCommit()
    spills = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.String, 1)
    spills[0] = str(ROOT / "spill")
    write_all.withIOManager(spark._jvm.org.apache.paimon.disk.IOManagerImpl(spills))
    seen = set()
    for split in ask(spark, table, STORE_TABLE, "newSnapshotReader").read().splits():
        key = (split.partition().hashCode(), split.bucket())
        if key not in seen:
            seen.add(key)
            write_all.compact(split.partition(), split.bucket(), False)
    commit.commit(write_all.prepareCommit())


def expire_tags(spark: Any, place: Path) -> None:
    """What a writer does after its commit."""
    table = open_java(spark, place)
    store = ask(spark, table, STORE_TABLE, "store")
    tags = spark._jvm.org.apache.paimon.tag.TagTimeExpire
    callbacks = spark._jvm.java.util.ArrayList()
    tags.create(store.snapshotManager(), store.newTagManager(), store.newTagDeletion(), callbacks).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
