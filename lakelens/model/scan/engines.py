"""SQL over Arrow tables, with DuckDB if it is installed, else with DataFusion: a query sees these tables alone."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from lakelens.errors import Unsupported, WrongArgument

if TYPE_CHECKING:
    import pyarrow as pa

Engine = Literal["duckdb", "datafusion"]


def choose_engine(engine: str | None) -> Engine:
    """Choose the engine to use. Raises `Unsupported` if it is not installed, `WrongArgument` if there is no such engine."""
    if engine not in (None, "duckdb", "datafusion"):
        raise WrongArgument(f"engine is 'duckdb' or 'datafusion', not {engine!r}")
    if engine != "datafusion" and find_spec("duckdb") is not None:
        return "duckdb"
    if engine == "duckdb":
        raise Unsupported("DuckDB is not installed", hint="pip install duckdb, or engine='datafusion'")
    if find_spec("datafusion") is not None:
        return "datafusion"
    if engine == "datafusion":
        raise Unsupported(
            "DataFusion is not installed", hint="pip install 'lakelens[fast]', or engine='duckdb'"
        )
    raise Unsupported(
        "SQL needs DuckDB or DataFusion, and neither is installed",
        hint="pip install 'lakelens[fast]' or pip install duckdb; files.where(…) filters without either",
    )


def run_query(query: str, views: dict[str, pa.Table], engine: Engine | None = None) -> pa.Table:
    """The rows of a query over tables by name; it can read and write nothing else. Raises what the engine raises."""
    run = _run_duckdb if choose_engine(engine) == "duckdb" else _run_datafusion
    return run(query, views)


def _run_duckdb(query: str, views: dict[str, pa.Table]) -> pa.Table:
    import duckdb
    import pyarrow as pa

    with duckdb.connect(":memory:") as connection:
        for name, view in views.items():
            connection.register(name, view)
        connection.execute("SET TimeZone = 'UTC'")
        # a query must reach neither files nor the variables of this process
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        found = connection.sql(query)
        return pa.table({}) if found is None else found.to_arrow_table()


def _run_datafusion(query: str, views: dict[str, pa.Table]) -> pa.Table:
    import pyarrow as pa
    from datafusion import SessionContext, SQLOptions

    context = SessionContext()
    for name, view in views.items():
        nothing = [pa.nulls(0, field.type) for field in view.schema]
        batches = view.to_batches() or [pa.RecordBatch.from_arrays(nothing, schema=view.schema)]
        context.register_record_batches(name, [batches])
    reading = SQLOptions().with_allow_ddl(False).with_allow_dml(False).with_allow_statements(False)
    return context.sql_with_options(query, reading).to_arrow_table()
