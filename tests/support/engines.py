"""The engines of `Table.sql`: DataFusion comes with the extra `fast`, DuckDB where somebody has it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal

#: The engine of tests that ask one: DataFusion, or DuckDB where the extra `fast` is not installed.
ENGINE: Literal["duckdb", "datafusion"] = "datafusion" if find_spec("datafusion") is not None else "duckdb"
REASONS = {
    "duckdb": "DuckDB is not installed: it is no dependency, only used where it is",
    "datafusion": "DataFusion is not installed: it comes with the extra `fast`",
}
