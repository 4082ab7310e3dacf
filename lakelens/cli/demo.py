"""`lakelens demo`: a table of each format, one inserted line each, and what that did to storage."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

import lakelens as ll

if TYPE_CHECKING:
    from lakelens.analysis.trace import Trace
    from lakelens.model.table import Table


@dataclass(frozen=True)
class Walkthrough:
    """One format's part of the demo: the SQL, the table's name, and what to show of it afterwards."""

    title: str
    name: str
    create: str
    show: Callable[[Table, Table], Iterator[tuple[str, Any]]]
    lesson: str

    @property
    def insert(self) -> str:
        """The one-line insert, the same for every format."""
        return f"INSERT INTO {self.name} VALUES (1, 'a')"


def run_demo(directory: Path, console: Console | None = None) -> list[Path]:
    """Make the tables below `directory`, show what happened, and return the paths of the HTML pages."""
    console = console or Console(highlight=False, soft_wrap=True)
    spark = start_spark(directory / "warehouse", console)
    try:
        return show_inserts(spark, directory, console)
    finally:
        spark.stop()


def show_inserts(spark: Any, directory: Path, console: Console) -> list[Path]:
    """Insert one line into a table of each format on a running session, and show what that did to storage."""
    pages = [_walk_through(walkthrough, spark, directory, console) for walkthrough in WALKTHROUGHS]
    console.print()
    console.rule("pages")
    for page in pages:
        console.print(Text(str(page)))
    console.print()
    console.rule("walk through them by clicking, from the warehouse to a byte")
    console.print(Text(f"{_name_command()} serve {shlex.quote(str(directory / 'warehouse'))}", style="bold"))
    return pages


def _name_command() -> str:
    """Name how this command is called from here: by its name where it is on the PATH."""
    own = Path(sys.argv[0])
    if own.name != "lakelens" or shutil.which("lakelens") == str(own.absolute()):
        return "lakelens"
    return os.path.relpath(own)


def start_spark(warehouse: Path, console: Console) -> Any:
    """A local Spark session; what it waits for is shown."""
    with console.status("fetching what Spark needs") as status:

        def report(line: str) -> None:
            status.update(line)
            if not console.is_terminal:
                console.print(Text(f"  {line}"))

        console.print("getting Spark's jars (the first time they are downloaded, then kept)")
        ll.spark.fetch_jars(progress=report)
        console.print("starting Spark with catalogs for Hive, Iceberg, Paimon and Delta Lake")
        status.update("starting Spark")
        return ll.spark.session(warehouse=str(warehouse))


def _walk_through(walkthrough: Walkthrough, spark: Any, directory: Path, console: Console) -> Path:
    console.print()
    console.rule(walkthrough.title)
    with console.status(f"{walkthrough.title}: creating the table and inserting one line"):
        before, change, after = _insert_one_line(walkthrough, spark)
    console.print(Text(walkthrough.create, style="bold"))
    console.print(Text(walkthrough.insert, style="bold"))
    console.print(Text("\nWhat it did to storage:"))
    console.print(Text(str(change)))
    for caption, shown in walkthrough.show(before, after):
        console.print(Text(f"\n{caption}", style="bold"))
        console.print(Text(str(shown)))
    console.print(Text(f"\n{walkthrough.lesson}"))
    page = directory / f"{walkthrough.title.lower()}.html"
    after.to_html(page)
    return page


def _insert_one_line(walkthrough: Walkthrough, spark: Any) -> tuple[Table, Trace, Table]:
    spark.sql(f"DROP TABLE IF EXISTS {walkthrough.name}")
    spark.sql(walkthrough.create)
    before = ll.open(walkthrough.name, spark=spark)
    with ll.watch(walkthrough.name, spark=spark) as change:
        spark.sql(walkthrough.insert)
    change.statements = (walkthrough.insert,)
    return before, change, ll.open(walkthrough.name, spark=spark)


def _show_hive(before: Table, after: Table) -> Iterator[tuple[str, Any]]:
    for file in after.files:
        yield "The data file's footer: what the file says of itself", file.footer
        yield "Its rows", file.preview(5).to_pandas().to_string(index=False)
    yield "Everything else is in the metastore", _describe_facts(after.catalog or {})


def _describe_facts(facts: Any, depth: int = 0) -> str:
    """Describe a metastore's facts, one a line, nested ones indented; empty ones are left out."""
    lines = []
    for key, value in facts.items():
        if value in (None, "", {}, []):
            continue
        if isinstance(value, dict):
            lines += ["  " * depth + f"{key}:", _describe_facts(value, depth + 1)]
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append("  " * depth + f"{key}:")
            lines += [
                "  " * (depth + 1) + ", ".join(f"{k} {v}" for k, v in item.items() if v) for item in value
            ]
        else:
            lines.append("  " * depth + f"{key}: {value}")
    return "\n".join(line for line in lines if line)


def _show_iceberg(before: Table, after: Table) -> Iterator[tuple[str, Any]]:
    changes = ll.diff_json(before.metadata, after.metadata)
    yield "metadata.json, before and after", "\n".join(str(change) for change in changes)
    yield from _show_snapshot(after)


def _show_paimon(before: Table, after: Table) -> Iterator[tuple[str, Any]]:
    yield "The schema", after.schema
    yield from _show_snapshot(after)


def _show_delta(before: Table, after: Table) -> Iterator[tuple[str, Any]]:
    snapshot = after.snapshots[-1]
    yield f"Version {snapshot.id}", snapshot
    for action in Path(snapshot.path or "").read_text("utf-8").splitlines():
        yield "An action of its commit, as it is written", action
    for file in snapshot.changes.added:
        yield "The file that it adds, with bounds as values", file.to_text(detail=2)


def _show_snapshot(table: Table) -> Iterator[tuple[str, Any]]:
    snapshot = table.snapshots[-1]
    yield f"Snapshot {snapshot.id}", snapshot
    for manifest_list in snapshot.manifest_lists:
        yield f"The manifest list ({manifest_list.role})", manifest_list
        for manifest in manifest_list.manifests:
            yield "A manifest, decoded", manifest
            for entry in manifest.entries:
                yield "Its entry: one file, with bounds as values", entry.file.to_text(detail=2)
    for index_file in snapshot.index_files:
        yield f"An index file ({index_file.index_type})", index_file


WALKTHROUGHS = (
    Walkthrough(
        "Hive",
        "spark_catalog.default.example_table",
        "CREATE TABLE spark_catalog.default.example_table (id BIGINT, name STRING) STORED AS PARQUET",
        _show_hive,
        "In Hive storage holds data files only; everything else is in the metastore.",
    ),
    Walkthrough(
        "Iceberg",
        "iceberg.default.example_table",
        "CREATE TABLE iceberg.default.example_table (id BIGINT, name STRING) USING iceberg",
        _show_iceberg,
        "In Iceberg a chain leads to the row: metadata.json, manifest list, manifest, data file.",
    ),
    Walkthrough(
        "Paimon",
        "paimon.default.example_table",
        "CREATE TABLE paimon.default.example_table (id BIGINT NOT NULL, name STRING) "
        "TBLPROPERTIES ('primary-key' = 'id')",
        _show_paimon,
        "In Paimon a snapshot names two lists: base holds what was there before, delta what this commit changed.",
    ),
    Walkthrough(
        "Delta",
        "spark_catalog.default.example_delta_table",
        "CREATE TABLE spark_catalog.default.example_delta_table (id BIGINT, name STRING) USING delta",
        _show_delta,
        "In Delta Lake a log of numbered commits says what was added and removed: the table is what they add up to.",
    ),
)
