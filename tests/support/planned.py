"""What a plan gives when its bins are read here, as an executor reads them, beside what the local path gives."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from lakelens.model.scan.files_to_arrow import build_table, choose_columns
from lakelens.model.scan.plan import ScanTask
from lakelens.model.table import Table
from lakelens.spark.frames.planning import ReadPlan
from lakelens.spark.frames.scanning import IDENTITY, ORDER, read_files, read_removals
from lakelens.spark.frames.types import carrier_schema, carry_batch
from tests.support import LAKES


def list_lakes(below: str = "") -> list[Path]:
    """The directories of the tables that engines wrote, views left out."""
    found = sorted((LAKES / below).glob("**/table"))
    return [path for path in found if "iceberg/view/" not in path.as_posix()]


def unpack_tasks(bins: Iterable[bytes]) -> list[ScanTask]:
    return [task for packed in bins for task in pickle.loads(packed)]


def read_plan(plan: ReadPlan) -> pa.Table:
    """The rows of a plan; where entries remove files, what the join would leave."""
    head = plan.pickle_head()
    batches = [batch for packed in plan.bins for batch in read_files(head, packed)]
    if not batches:
        return carrier_schema(plan.layout.schema).empty_table()
    rows = pa.Table.from_batches(batches)
    if not plan.removing:
        return rows
    last: dict[bytes, int] = {}
    for packed in plan.removing:
        for batch in read_removals(head, packed):
            for row in batch.to_pylist():
                last[row[IDENTITY]] = max(row[ORDER], last.get(row[IDENTITY], -1))
    places = zip(rows[IDENTITY].to_pylist(), rows[ORDER].to_pylist(), strict=True)
    return rows.filter(pa.array([order > last.get(name, -1) for name, order in places])).drop_columns(
        [IDENTITY, ORDER]
    )


def build_local(table: Table, *, stats: bool = True, columns: Iterable[str] | None = None) -> pa.Table:
    """What the record path gives for the current files, in the types that travel to Spark, dropped columns included."""
    files = table.files
    names = choose_columns(files.columns, stats=stats, wanted=columns)
    built = build_table(list(files), files.columns, stats=stats, wanted=names, keep_dropped=True)
    return carry_table(built)


def carry_table(built: pa.Table) -> pa.Table:
    schema = carrier_schema(built.schema)
    batches = [carry_batch(batch, schema) for batch in built.combine_chunks().to_batches()]
    return pa.Table.from_batches(batches, schema)


def word_rows(rows: pa.Table) -> list[str]:
    """The rows in an order of their own; NaN equals NaN."""
    return sorted(map(repr, rows.to_pylist()))


def collect_rows(frame: Any) -> pa.Table:
    """What a DataFrame holds, as Arrow, in types that travel: Spark 3.5 has no public verb for it."""
    from lakelens.spark import spark_schema

    batches = frame._collect_as_arrow() if not hasattr(frame, "toArrow") else frame.toArrow().to_batches()
    rows = pa.Table.from_batches(batches) if batches else None
    if rows is not None:
        assert spark_schema(rows.schema).simpleString() == frame.schema.simpleString()
    return rows
