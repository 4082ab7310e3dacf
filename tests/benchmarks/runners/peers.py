"""Other libraries that read a table's files: they live in an environment of their own (`make benchmark-venv`)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.benchmarks.runners import Prepared, Sums, Target, Unavailable


def prepare_pyiceberg(target: Target) -> Prepared:
    """pyiceberg's table of files, with its readable metrics."""
    try:
        import pyarrow.compute as pc
        from pyiceberg.table import StaticTable
    except ImportError as error:
        raise Unavailable(f"not installed ({error.name})") from error

    def total(table: Any) -> Sums:
        bounds = None
        if target.proof:
            column = pc.struct_field(table["readable_metrics"], [target.proof, "lower_bound"])
            bounds = pc.sum(column).as_py() or 0
        records, sizes = pc.sum(table["record_count"]).as_py(), pc.sum(table["file_size_in_bytes"]).as_py()
        return Sums(table.num_rows, records, sizes, bounds)

    return Prepared(lambda: StaticTable.from_metadata(target.metadata_path).inspect.files(), total)


def prepare_pyiceberg_snapshots(target: Target) -> Prepared:
    """pyiceberg's table of snapshots."""
    try:
        from pyiceberg.table import StaticTable
    except ImportError as error:
        raise Unavailable(f"not installed ({error.name})") from error
    return Prepared(
        lambda: StaticTable.from_metadata(target.metadata_path).inspect.snapshots(),
        lambda table: Sums(table.num_rows),
    )


def prepare_pypaimon(target: Target) -> Prepared:
    """pypaimon's `$files` system table; it gives statistics as JSON text."""
    try:
        import pyarrow.compute as pc
        from pypaimon import CatalogFactory
    except ImportError as error:
        raise Unavailable(f"not installed ({error.name})") from error
    catalog = CatalogFactory.create({"warehouse": str(target.path.parent.parent)})
    name = f"{target.path.parent.stem}.{target.path.name}$files"

    def run() -> Any:
        builder = catalog.get_table(name).new_read_builder()
        return builder.new_read().to_arrow(builder.new_scan().plan().splits())

    def total(table: Any) -> Sums:
        records, sizes = pc.sum(table["record_count"]).as_py(), pc.sum(table["file_size_in_bytes"]).as_py()
        return Sums(table.num_rows, records, sizes)

    return Prepared(run, total)


def prepare_duckdb(target: Target) -> Prepared:
    """DuckDB's list of an Iceberg table's files: their paths and rows, without sizes and statistics."""
    query = f"SELECT * FROM iceberg_metadata('{target.metadata_path}')"

    def total(table: Any) -> Sums:
        return Sums(table.num_rows, sum(table["record_count"].to_pylist()))

    return _prepare_query(query, total)


def prepare_duckdb_stats(target: Target) -> Prepared:
    """DuckDB's statistics of an Iceberg table's files: a row of texts for each column of each file."""
    query = f"SELECT * FROM iceberg_column_stats('{target.metadata_path}')"

    def total(table: Any) -> Sums:
        import pyarrow.compute as pc

        rows = table.filter(pc.equal(table["column_name"], target.proof))
        known = rows.filter(pc.not_equal(rows["lower_bound"], "NULL"))["lower_bound"]
        return Sums(rows.num_rows, bounds=sum(int(text) for text in known.to_pylist()))

    return _prepare_query(query, total)


def prepare_duckdb_snapshots(target: Target) -> Prepared:
    """DuckDB's list of an Iceberg table's snapshots."""
    query = f"SELECT * FROM iceberg_snapshots('{target.metadata_path}')"
    return _prepare_query(query, lambda table: Sums(table.num_rows))


def _prepare_query(query: str, total: Callable[[Any], Sums]) -> Prepared:
    connection = _connect_duckdb()
    return Prepared(lambda: connection.execute(query).to_arrow_table(), total, connection.close)


def _connect_duckdb() -> Any:
    """DuckDB with its iceberg extension, which a package brings: nothing is downloaded."""
    try:
        import duckdb

        homes = [import_module(f"duckdb_extension_{name}") for name in ("avro", "iceberg")]
    except ImportError as error:
        raise Unavailable(f"not installed ({error.name})") from error
    connection = duckdb.connect()
    for home in homes:
        # the file is signed by DuckDB itself, so it loads with the settings as they are
        for extension in Path(str(home.__file__)).parent.rglob("*.duckdb_extension"):
            connection.execute(f"LOAD '{extension}'")
    return connection
