"""SQL over Arrow tables, with DuckDB if it is installed, else with DataFusion: a query sees these tables alone.

`parse_sql` parses what is no query of an engine: conditions and statements.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, TypeVar

from lakelens.errors import LakeError, Unsupported, WrongArgument
from lakelens.installed import write_command
from lakelens.lazy import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
Engine = Literal["duckdb", "datafusion"]
_BATCH = 4_096
_START = 20.0  # seconds in which a process starts and its views are there, beside those of its query
_TOO_LONG = 75  # the status of a process whose time was over
_WHOLE, _CUT, _FAILED = b"W", b"C", b"F"


def parse_sql(parse: Callable[[], T]) -> T:
    """Parse by sqlglot: what it raises beside its own errors over a text that is no SQL is a `ValueError` without words.

    >>> parse_sql(lambda: [][1])
    Traceback (most recent call last):
    ValueError
    """
    try:
        return parse()
    except (AttributeError, IndexError, TypeError):
        raise ValueError from None


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


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a query may take: seconds, and rows of its result; `memory` is in bytes, beside its views."""

    seconds: float
    rows: int
    memory: int = 1 << 30


def run_bounded(
    query: str, views: dict[str, pa.Table], engine: Engine, bounds: Bounds
) -> tuple[pa.Table, bool]:
    """Run a query in a process of its own, which ends with its time; its first rows, and whether there are more.

    Raises `LakeError` where the time or the memory is over, and RuntimeError with the words of the engine.

    >>> import pyarrow as pa
    >>> found, is_cut = run_bounded("SELECT id FROM t", {"t": pa.table({"id": [3, 4]})}, choose_engine(None), Bounds(60, 1))
    >>> found["id"].to_pylist(), is_cut
    ([3], True)
    """
    import pyarrow as pa

    said = f"the query was ended: it takes longer than {bounds.seconds:g} seconds"
    asked = pickle.dumps((query, engine, bounds, views))
    try:
        answered = subprocess.run(
            write_command("lakelens.model.scan.engines:answer_parent"),
            input=asked,
            capture_output=True,
            timeout=bounds.seconds + _START,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LakeError(said, hint="ask for less") from None
    if answered.returncode == _TOO_LONG:
        raise LakeError(said, hint="ask for less")
    kind, content = answered.stdout[:1], answered.stdout[1:]
    if kind == _FAILED:
        raise RuntimeError(content.decode(errors="replace"))
    if kind not in (_WHOLE, _CUT):
        words = f"the process of the query ended with status {answered.returncode}"
        raise LakeError(f"{words}: it may have taken more than its memory", hint="ask for less")
    return pa.ipc.open_stream(content).read_all(), kind == _CUT


def answer_parent() -> None:
    """Run the query on the standard input, and write its first rows, or what went wrong, to the standard output."""
    import pyarrow as pa

    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answer:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
        query, engine, bounds, views = pickle.load(sys.stdin.buffer)
        run = _run_duckdb if engine == "duckdb" else _run_datafusion
        import_module(engine)  # which is not the query's time
        ending = threading.Timer(bounds.seconds, os._exit, (_TOO_LONG,))
        ending.daemon = True
        ending.start()
        try:
            found = run(query, views, bounds)
        except Exception as error:
            answer.write(_FAILED + str(error).encode(errors="replace"))
            return
        answer.write(_WHOLE if len(found) <= bounds.rows else _CUT)
        with pa.ipc.new_stream(answer, found.schema) as stream:
            stream.write_table(found.slice(0, bounds.rows))


def _take(batches: Iterable[pa.RecordBatch], bounds: Bounds) -> list[pa.RecordBatch]:
    """Take batches until there are more rows than are wanted."""
    taken, rows = [], 0
    for batch in batches:
        taken.append(batch)
        rows += len(batch)
        if rows > bounds.rows:
            break
    return taken


def _run_duckdb(query: str, views: dict[str, pa.Table], bounds: Bounds | None = None) -> pa.Table:
    import duckdb
    import pyarrow as pa

    with duckdb.connect(":memory:") as connection:
        for name, view in views.items():
            connection.register(name, view)
        connection.execute("SET TimeZone = 'UTC'")
        # a query must reach neither files nor the variables of this process
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET temp_directory = ''")
        if bounds is not None:
            connection.execute(f"SET memory_limit = '{bounds.memory}B'")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        found = connection.sql(query)
        if found is None:
            return pa.table({})
        if bounds is None:
            return found.to_arrow_table()
        reader = found.to_arrow_reader(_BATCH)
        return pa.Table.from_batches(_take(reader, bounds), reader.schema)


def _run_datafusion(query: str, views: dict[str, pa.Table], bounds: Bounds | None = None) -> pa.Table:
    import pyarrow as pa
    from datafusion import RuntimeEnvBuilder, SessionContext, SQLOptions

    runtime = RuntimeEnvBuilder().with_disk_manager_disabled()
    context = SessionContext(
        runtime=runtime if bounds is None else runtime.with_greedy_memory_pool(bounds.memory)
    )
    for name, view in views.items():
        nothing = [pa.nulls(0, field.type) for field in view.schema]
        batches = view.to_batches() or [pa.RecordBatch.from_arrays(nothing, schema=view.schema)]
        context.register_record_batches(name, [batches])
    reading = SQLOptions().with_allow_ddl(False).with_allow_dml(False).with_allow_statements(False)
    found = context.sql_with_options(query, reading)
    if bounds is None:
        return found.to_arrow_table()
    batches = _take((batch.to_pyarrow() for batch in found.execute_stream()), bounds)
    return pa.Table.from_batches(batches, found.schema())
