"""The columns of a Hive-style table: recorded by the metastore, or inferred from the files and directories."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from lakelens.formats.hive.datafile import HiveFile, fetch_facts
from lakelens.formats.hive.type_texts import make_scalar, merge_fields, number_fields, parse_type
from lakelens.model.finding import Findings
from lakelens.model.schema import DataType, Field, PartitionField, PartitionSpec, Schema

# of more files the columns of the oldest and of the newest are read, half of this each
MAX_FOOTERS = 100

_INT = re.compile(r"^[+-]?\d+$")
_DOUBLE = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
_DATE = re.compile(r"^\d{4}-\d{2}-\d{2}$")
_TIMESTAMP = re.compile(r"^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?$")


def parse_catalog_schema(catalog: Mapping[str, Any]) -> Schema | None:
    """Parse the columns that the metastore records, partition columns last; None when it records none."""
    columns = [*catalog.get("columns", ()), *catalog.get("partition_columns", ())]
    if not columns:
        return None
    fields = [
        Field(0, column["name"], parse_type(column["type"]), True, column.get("comment"))
        for column in columns
    ]
    return Schema(None, number_fields(fields), raw=columns)


def infer_schema(
    files: Sequence[HiveFile], partition_columns: Sequence[str], findings: Findings, path: str
) -> Schema:
    """Infer the union of the columns in the files, then the partition columns as strings.

    Every column is nullable, as readers of files take them. At most `MAX_FOOTERS` files are opened; a finding says so when
    there are more. Files that do not agree on a column's type, and partition columns that are stored in the files too,
    become findings; the directory's value is what counts.
    """
    merged: list[Field] = []
    keys = {name.casefold() for name in partition_columns}
    chosen = _choose(files, findings, path)
    fetch_facts(chosen)
    for file in chosen:
        if not file.columns:
            continue
        for column in file.columns:
            if column.name.casefold() in keys:
                message = f"column {column.name!r} is also in the file; readers take the directory's value"
                findings.add("note", "partition-column-in-file", file.path, message)
        stored = [column for column in file.columns if column.name.casefold() not in keys]
        if not merged:
            merged = stored
            continue
        merged, disagreeing = merge_fields(merged, stored)
        for known, other in disagreeing:
            message = f"column {other.name!r} is {other.type} here and {known.type} in other files"
            findings.add("warning", "column-types-differ", file.path, message)
    merged += [Field(0, name, make_scalar("string"), True, None) for name in partition_columns]
    readable = [Field(0, f.name, f.type, True, f.doc) for f in merged]
    return Schema(None, number_fields(readable))


def _choose(files: Sequence[HiveFile], findings: Findings, path: str) -> Sequence[HiveFile]:
    if len(files) <= MAX_FOOTERS:
        return files
    message = f"columns were taken from {MAX_FOOTERS} of {len(files)} files, the oldest and the newest"
    findings.add("note", "schema-sampled", path, message)
    dated = sorted(files, key=lambda file: (file.modified is not None, file.modified, file.path))
    half = MAX_FOOTERS // 2
    return [*dated[:half], *dated[-half:]]


def make_partitioning(
    schema: Schema | None, columns: Sequence[str], values: Mapping[str, Iterable[str | None]]
) -> PartitionSpec:
    """Make the partition columns with their types: the metastore's, else as the directories' texts look ("inferred")."""
    known = {} if schema is None else {column.name.casefold(): column.type for column in schema}
    fields = tuple(
        PartitionField(
            name,
            None,
            name,
            "identity",
            None,
            known[name.casefold()] if name.casefold() in known else infer_type(values.get(name, ())),
        )
        for name in columns
    )
    return PartitionSpec(None, fields, raw={"types": "metastore" if schema is not None else "inferred"})


def infer_type(values: Iterable[str | None]) -> DataType:
    """Give the type that Spark would infer from directory names: int, bigint, double, date, timestamp, else string.

    It is a guess: `01` and `1` are one int and two directories.

    >>> infer_type(["1", "2", None]), infer_type(["2024-01-01"]), infer_type(["1", "x"]), infer_type(["1", "1.5"])
    ('int', 'date', 'string', 'double')
    """
    kinds = {_infer_one(value) for value in values if value is not None}
    if not kinds:
        return make_scalar("string")
    if kinds <= {"int", "bigint", "double"}:
        return make_scalar(next(kind for kind in ("double", "bigint", "int") if kind in kinds))
    if kinds <= {"date", "timestamp"}:
        return make_scalar("timestamp" if "timestamp" in kinds else "date")
    return make_scalar("string")


def _infer_one(text: str) -> str:
    if _INT.match(text):
        number = int(text)
        if -(2**31) <= number < 2**31:
            return "int"
        return "bigint" if -(2**63) <= number < 2**63 else "string"
    if _DOUBLE.match(text):
        return "double"
    try:
        if _DATE.match(text):
            date.fromisoformat(text)
            return "date"
        if _TIMESTAMP.match(text):
            datetime.fromisoformat(text[:19])
            return "timestamp"
    except ValueError:
        return "string"
    return "string"
