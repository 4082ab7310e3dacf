"""A snapshot of a table with the rows of its files in DuckDB, which says how many rows of each file fit a predicate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pytest

from lakelens.model.datafile import DataFile
from lakelens.model.scan.placement import open_placement
from lakelens.model.schema import Schema
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table
from tests.support.predicates import Maker, Predicate, to_duck
from tests.support.stored_rows import Column, list_columns, read_rows

duckdb = pytest.importorskip("duckdb", reason="DuckDB is the referee over the rows")


@dataclass
class State:
    """A snapshot of a table: its data files, their rows in DuckDB, one table of all of them."""

    table: Table
    snapshot: Snapshot
    schema: Schema

    @cached_property
    def files(self) -> list[DataFile]:
        return list(self.snapshot.files.where(content="data"))

    @cached_property
    def rows(self) -> dict[int, Mapping[str, pa.Array | None]]:
        """The rows of each file that there is a reader for, by number."""
        columns = list_columns(self.schema)
        read = ((number, read_rows(self.table, file, columns)) for number, file in enumerate(self.files))
        found = {number: rows for number, rows in read if rows is not None}
        return _merge_columns(self, found) if _is_evolving(self.table) else found

    @cached_property
    def columns(self) -> list[Column]:
        """The columns whose values are known in every file that is read."""
        return [
            column
            for column in list_columns(self.schema)
            if all(rows[column.name] is not None for rows in self.rows.values())
        ]

    @cached_property
    def values(self) -> pa.Table:
        """The rows of all files, with the number of the file of each."""
        parts = []
        for number, rows in self.rows.items():
            arrays = {column.name: to_duck(rows[column.name], column.kind) for column in self.columns}
            count = len(next(iter(arrays.values()), ()))
            file = self.files[number]
            place = f"{file.bucket} of {file.partition}"
            marks = {"#file": pa.array([number] * count, pa.int32()), "#bucket": pa.array([place] * count)}
            parts.append(pa.table({**arrays, **marks}))
        return pa.concat_tables(parts)

    @cached_property
    def engine(self) -> Any:
        found = duckdb.connect()
        found.execute("SET TimeZone = 'UTC'; SET threads = 1")
        found.register("given", self.values)
        found.execute("CREATE TABLE stored AS SELECT * FROM given")
        return found

    def ask(self, predicates: Sequence[str]) -> list[dict[int, tuple[int, int]]]:
        """For each predicate of each file how many rows fit, and how many there are."""
        counts = ", ".join(f"count(*) FILTER (WHERE {one})" for one in predicates)
        asked = f'SELECT "#file", count(*), {counts} FROM stored GROUP BY ALL'
        found = self.engine.execute(asked).fetchall()
        return [{row[0]: (row[number + 2], row[1]) for row in found} for number in range(len(predicates))]

    def make_predicates(self, seed: str, count: int, *, is_plain: bool = False) -> Iterator[Predicate]:
        values = {
            column.name: pa.concat_arrays(
                [getattr(rows[column.name], "storage", rows[column.name]) for rows in self.rows.values()]
            )
            for column in self.columns
        }
        maker = Maker(self.columns, values, seed, is_plain=is_plain)
        return (maker.make() for _ in range(count))


def _is_evolving(table: Any) -> bool:
    merging = open_placement(table).merging
    return merging is not None and merging.by_rows


def _merge_columns(state: State, rows: dict[int, Any]) -> dict[int, Any]:
    """Files of the same rows hold different columns of them: each column is that of the newest file that has it."""
    groups: dict[Any, list[int]] = defaultdict(list)
    for number in rows:
        groups[state.files[number].first_row_id].append(number)  # type: ignore[attr-defined]
    merged = {}
    for numbers in groups.values():
        numbers.sort(key=lambda number: state.files[number].raw["_FILE"]["_MAX_SEQUENCE_NUMBER"])
        found: dict[str, Any] = dict(rows[numbers[0]])
        for number in numbers:
            written = state.files[number].raw["_FILE"]["_WRITE_COLS"]
            for name in found:
                if written is None or name.split(".")[0] in written:
                    found[name] = rows[number][name]
        merged.update(dict.fromkeys(numbers, found))
    return merged
