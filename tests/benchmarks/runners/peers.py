"""Other libraries that read a table's files: they live in an environment of their own (`make benchmark-venv`)."""

from __future__ import annotations

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
    """DuckDB's view of an Iceberg table's manifests, where its extension is installed or can be had."""
    try:
        import duckdb
    except ImportError as error:
        raise Unavailable(f"not installed ({error.name})") from error
    connection = duckdb.connect()
    try:
        connection.execute("INSTALL iceberg")
        connection.execute("LOAD iceberg")
    except duckdb.Error as error:
        raise Unavailable("its iceberg extension is not available here") from error
    query = f"SELECT * FROM iceberg_metadata('{target.metadata_path}')"
    return Prepared(lambda: connection.execute(query).to_arrow_table(), lambda table: Sums(table.num_rows))
