"""The executors' side of an inventory, in Arrow: places in, rows out; portions of manifests in, entries out."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lakelens.model.arrow import map_distinct
from lakelens.options import adopt_limits, export_limits
from lakelens.spark.warehouse.columns import DESCRIBED, READ, data_schema, widen_rows
from lakelens.spark.warehouse.facts import (
    OWN_SIZE,
    SCANNED,
    Known,
    Row,
    describe_finding,
    describe_place,
    request_entries,
)
from lakelens.spark.warehouse.tables import TablePlace

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.finding import Finding
    from lakelens.model.scan.plan import FileBatch, FileScan

Batches = Iterator["pa.RecordBatch"]

_FLUSH_ROWS = 2_000
_LEAST, _MOST = -(2**63), 2**63 - 1


def limit_work(work: Callable[[Batches], Batches]) -> Callable[[Batches], Batches]:
    """Give the same work within the limits of this process, wherever it is done."""
    return partial(_work_within, work, export_limits())


def _work_within(work: Callable[[Batches], Batches], limits: Mapping[str, Any], batches: Batches) -> Batches:
    adopt_limits(limits)
    yield from work(batches)


def describe_batches(batches: Batches) -> Batches:
    """From rows of `mapInArrow` with a pickled `TablePlace` and what is `known` about it to rows of `DESCRIBED`."""
    for batch in batches:
        for row in batch.to_pylist():
            place: TablePlace = pickle.loads(row["place"])
            known = Known(
                row["signature"],
                bool(row["is_incomplete"]),
                frozenset(row["snapshots"] or ()),
                frozenset(row["manifests"] or ()),
            )
            yield from gather_rows(describe_place(place, known), DESCRIBED)


def read_batches(batches: Batches) -> Batches:
    """From portions of manifests, rows of `mapInArrow`, to rows of `READ`."""
    for batch in batches:
        for plan in batch.column("plan").to_pylist():
            yield from read_portion(plan)


def gather_rows(rows: Iterable[tuple[str, Row]], names: tuple[str, ...]) -> Batches:
    """Rows, each with the name of its data set, as batches of the wide schema, some thousand rows at a time."""
    remaining = iter(rows)
    while chunk := list(islice(remaining, _FLUSH_ROWS)):
        for name in dict.fromkeys(name for name, _ in chunk):
            chosen = [row for of, row in chunk if of == name]
            try:
                yield widen_rows(name, chosen, names)
            except (ValueError, OverflowError, TypeError):  # lone surrogates, huge numbers
                yield widen_rows(name, [_clean(row) for row in chosen], names)


def read_portion(plan: bytes) -> Batches:
    """Read some manifests of one table: their entries, a row for each manifest, and the findings."""
    key, scan, decode, lines = pickle.loads(plan)
    batches, errors = _read_scan(scan, [line["manifest"] for line in lines])
    findings = list(scan.findings)
    for one in findings:
        if one.severity == "error":
            errors.setdefault(one.path, one.message)
    origins = {line["manifest"]: line["snapshot_id"] for line in lines if line["role"] != "all"}
    counted = dict.fromkeys((line["manifest"] for line in lines), 0)
    for batch in batches:
        entries = assemble_entries(batch, key, origins, errors, decode)
        for one in entries.column("manifest").value_counts().to_pylist():
            counted[one["values"]] = counted.get(one["values"], 0) + one["counts"]
        yield widen_rows("entries", entries, READ)
    yield from gather_rows(_describe_reading(key, lines, counted, errors, findings), READ)


def _read_scan(scan: FileScan, paths: Sequence[str]) -> tuple[list[FileBatch], dict[str, str]]:
    """Read the batches of all tasks; if an error that is not damage stops that, manifest by manifest."""
    request = request_entries(scan.columns)
    errors: dict[str, str] = {}
    try:
        return list(scan.read(scan.tasks, request)), errors
    except Exception:  # one bad manifest must not hide the others
        batches: list[FileBatch] = []
        for task in scan.tasks:
            try:
                batches += scan.read([task], request)
            except Exception as error:
                errors[task.path] = f"{type(error).__name__}: {error}"
        return batches, errors


def _describe_reading(
    key: Row, lines: Sequence[Row], counted: dict[str, int], errors: dict[str, str], findings: list[Finding]
) -> Iterator[tuple[str, Row]]:
    for line in lines:
        path = line["manifest"]
        error = errors.get(path)
        yield "manifests", {**line, "entry_count": counted[path], "error": error}
        read = {"manifests": 1, "entries": counted[path], "bytes": line["size_bytes"] or 0}
        yield "counts", {**read, "unread": int(error is not None)}
    for finding in findings:
        yield "findings", describe_finding(finding, key, of_state=finding.path in errors)


def assemble_entries(
    batch: FileBatch,
    key: Row,
    origins: dict[str, int | None],
    errors: dict[str, str],
    decode: Callable[[str], str] = unquote,
) -> pa.RecordBatch:
    """Assemble a batch of a scan as rows of `entries`. Paimon's get the commit whose delta list names their manifest."""
    import pyarrow as pa
    import pyarrow.compute as pc

    schema = data_schema("entries")
    plain = dict(batch.plain)
    manifests = plain["manifest"]
    columns: dict[str, Any] = {
        name: pa.repeat(pa.scalar(value, pa.string()), batch.rows) for name, value in key.items()
    }
    columns |= {name: plain[name] for name in SCANNED if name in plain}
    if origins:
        columns["snapshot_id"] = map_distinct(manifests, origins.get, pa.int64())
    own = plain.get(OWN_SIZE)
    columns["own_size_bytes"] = (
        plain["size_bytes"]
        if own is None
        else pc.if_else(
            pc.equal(plain["content"], "deletion_vector"),
            pc.coalesce(own, plain["size_bytes"]),
            plain["size_bytes"],
        )
    )
    columns["partition_texts"] = map_distinct(
        plain["partition"], lambda text: split_partition(text, decode), pa.map_(pa.string(), pa.string())
    )
    assert batch.order is not None and batch.identity is not None
    columns["position"] = pc.bit_wise_and(batch.order, pa.scalar(2**32 - 1, pa.int64()))
    keys = [hashlib.md5(one, usedforsecurity=False).digest() for one in batch.identity.to_pylist()]
    columns["file_key"] = pa.array(keys, pa.binary())
    columns["partial"] = map_distinct(manifests, lambda path: path in errors, pa.bool_())
    arrays = [
        pa.nulls(batch.rows, field.type)
        if field.name not in columns
        else columns[field.name].cast(field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def split_partition(text: str | None, decode: Callable[[str], str] = unquote) -> list[tuple[str, str]]:
    """Split the names and texts of a partition's path, unescaped.

    >>> split_partition("day=2024-01-01/k=x%2Fy")
    [('day', '2024-01-01'), ('k', 'x/y')]
    """
    parts = (part.partition("=") for part in (text or "").split("/") if part)
    return list({decode(name): decode(value) for name, _, value in parts}.items())


def _clean(value: Any) -> Any:
    """Clean a value that Arrow can hold: numbers beyond 64 bits become null, lone surrogates question marks."""
    if isinstance(value, dict):
        return {_clean(key): _clean(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(one) for one in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not isinstance(value, bool) and not _LEAST <= value <= _MOST:
        return None
    return value
