"""What is measured: each runner reads the files of one table in its own way, in a process of its own.

A runner imports what it needs when it is prepared, so that a cold process pays for it; what it gives back is summed up
after the clock has stopped, and every runner of a table must come to the same sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any


class Unavailable(Exception):
    """A runner cannot run here, or cannot read this table; the message says why."""


@dataclass(frozen=True, slots=True)
class Sums:
    """What a runner found: files, their rows and bytes, and the sum of one column's lower bounds; None: it does not tell."""

    files: int
    records: int | None = None
    bytes: int | None = None
    bounds: int | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A table to read: its format, where it lies, and the column whose lower bounds are summed up."""

    format: str
    path: Path
    proof: str = ""

    @property
    def metadata_path(self) -> str:
        """The newest metadata document of an Iceberg table."""
        return str(sorted((self.path / "metadata").glob("*.metadata.json"))[-1])

    @property
    def manifests(self) -> list[Path]:
        """Every manifest that lies in the table; a grown table has no others than its newest snapshot's."""
        if self.format == "iceberg":
            return sorted((self.path / "metadata").glob("*-m0.avro"))
        return sorted(
            path
            for path in (self.path / "manifest").glob("manifest-*")
            if not path.name.startswith("manifest-list-")
        )


@dataclass(frozen=True, slots=True)
class Prepared:
    """A runner that is ready: `run` is timed, `total` sums up what it gave."""

    run: Callable[[], Any]
    total: Callable[[Any], Sums]
    close: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Runner:
    """One way to read a table. `home` names its module here and its function; `peers`: it needs their environment."""

    name: str
    title: str
    home: str
    formats: tuple[str, ...] = ("iceberg", "paimon")
    peers: bool = False
    note: str = ""

    def prepare(self, target: Target) -> Prepared:
        """Import what is needed, and get ready. Raises Unavailable."""
        if target.format not in self.formats:
            raise Unavailable(f"does not read {target.format.capitalize()}")
        module, name = self.home.split(":")
        prepare: Callable[[Target], Prepared] = getattr(import_module(f"{__name__}.{module}"), name)
        return prepare(target)


RUNNERS = {
    one.name: one
    for one in (
        Runner("to_arrow", "lakelens `files.to_arrow()`", "ours:prepare_table", note="typed statistics"),
        Runner("no_stats", "lakelens `to_arrow(stats=False)`", "ours:prepare_narrow", note="no statistics"),
        Runner("batches", "lakelens `files.batches()`", "ours:prepare_batches", note="typed, nothing kept"),
        Runner(
            "pyiceberg", "pyiceberg `inspect.files()`", "peers:prepare_pyiceberg", ("iceberg",), True, "typed"
        ),
        Runner("pypaimon", "pypaimon `$files`", "peers:prepare_pypaimon", ("paimon",), True, "stats as JSON"),
        Runner("spark", "Spark `.files` / `$files`, in the JVM", "jvm:prepare_noop", note="typed / as text"),
        Runner("spark_pandas", "Spark's, to pandas", "jvm:prepare_pandas", note="typed / as text"),
        Runner("spark_files", "`lakelens.spark.files`", "jvm:prepare_ours", note="typed"),
        Runner("duckdb", "DuckDB `iceberg_metadata`", "peers:prepare_duckdb", ("iceberg",), True, "no stats"),
        Runner(
            "duckdb_stats",
            "DuckDB `iceberg_column_stats`",
            "peers:prepare_duckdb_stats",
            ("iceberg",),
            True,
            "stats as text",
        ),
        Runner("fastavro", "fastavro, to dicts", "raw:prepare_fastavro", note="raw records"),
        Runner("polars", "polars `read_avro`", "raw:prepare_polars", note="raw records"),
        Runner("datafusion", "DataFusion, to Arrow", "raw:prepare_datafusion", note="raw records"),
        Runner("floor", "only decompressed", "raw:prepare_floor", note="the floor"),
        Runner("history", "lakelens: open, card, history", "ours:prepare_history"),
        Runner(
            "pyiceberg_snapshots",
            "pyiceberg: open, `inspect.snapshots()`",
            "peers:prepare_pyiceberg_snapshots",
            ("iceberg",),
            True,
        ),
        Runner(
            "duckdb_snapshots",
            "DuckDB `iceberg_snapshots`",
            "peers:prepare_duckdb_snapshots",
            ("iceberg",),
            True,
        ),
    )
}
