"""Every object of an open table that came from bytes, with what its bytes must decode to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lakelens.codecs.bitmaps.deletion_vector import (
    decode_hash_index,
    decode_iceberg_dv,
)
from lakelens.errors import LakeError
from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.table import PaimonTable
from lakelens.model.bytes_view import BytesView
from lakelens.model.table import Table
from tests.codecs.bitmaps.test_deletion_vector import decode_vectors

ANY = object()  # a value that the tests of its codec know


class Explained:
    """One object, the way to its explanation, and the value that its bytes have; `name` says which one it is."""

    def __init__(self, name: str, thing: Any, value: Any = ANY, view: Any = None) -> None:
        self.name = name
        self.thing = thing
        self.value = value
        self.view = view or thing.bytes_view

    def explain(self) -> BytesView:
        explanation: BytesView = self.view()
        return explanation

    def __repr__(self) -> str:
        return self.name


def list_objects(table: Table) -> Iterator[Explained]:
    """The objects of a table from the outside in; what no bytes stand behind is left out."""
    if table.format == "hive":
        yield from _list_hive(table)
    elif isinstance(table, PaimonTable):
        yield from _list_paimon(table)
    else:
        yield from _list_iceberg(table)


def _list_iceberg(table: Any) -> Iterator[Explained]:
    yield Explained("table", table, table.metadata)
    yield from (Explained(f"schema {one.id}", one, one.raw) for one in table.schemas)
    yield from (Explained(f"spec {one.id}", one) for one in table.specs)
    yield from (Explained(f"sort order {one.id}", one) for one in table.sort_orders)
    for ref in table.refs:
        yield Explained(f"ref {ref.name}", ref, ref.snapshot_id if ref.raw is None else ref.raw)
    yield from (Explained(f"log {one.path}", one) for one in table.metadata_log)
    met: set[str] = set()
    for snapshot in table.snapshots:
        yield Explained(f"snapshot {snapshot.id}", snapshot, snapshot.raw)
        for listed in snapshot.manifest_lists:
            yield Explained(f"list of {snapshot.id}", listed)
        for manifest in snapshot.manifests:
            if manifest.path not in met:
                met.add(manifest.path)
                yield from _list_entries(manifest)
        for index in snapshot.index_files:
            yield Explained(f"index {index.path}", index)
            yield from _list_iceberg_vectors(index, table)
        yield from (Explained(f"statistics {one.path}", one) for one in snapshot.statistics)


def _list_iceberg_vectors(index: Any, table: Any) -> Iterator[Explained]:
    for one in index.ranges:
        data = table._context.access.store.read_range(index.path, one["offset"], one["length"])
        rows = decode_iceberg_dv(data)
        name = one["data_file"]
        yield Explained(f"vector of {name}", index, rows, lambda name=name: index.vector_view(name))


def _list_entries(manifest: Any) -> Iterator[Explained]:
    is_avro = manifest.header["format"] == "avro"
    entries = manifest.entries
    yield Explained(f"manifest {manifest.path}", manifest, [one.raw for one in entries] if is_avro else ANY)
    for position, entry in enumerate(entries):
        name = f"entry {position} of {manifest.path}"
        yield Explained(name, entry, entry.raw if is_avro else ANY)
        if not entry.is_live:
            continue
        yield from _list_file(name, entry.file)


def _list_file(name: str, file: Any) -> Iterator[Explained]:
    yield Explained(f"file of {name}", file)
    try:
        footer = file.footer
    except LakeError:
        pass
    else:
        yield Explained(f"footer of {name}", footer)
    if isinstance(file, PaimonDataFile):
        yield from _list_rows(name, file)
        return
    for column in file.bounds.values():
        stored = (
            ("lower_bounds", column.lower_raw, column.lower),
            ("upper_bounds", column.upper_raw, column.upper),
        )
        if isinstance(file, IcebergDataFile):
            values = {label: value for label, raw, value in stored if raw is not None}
        else:
            labels = {"lower_bounds": "min_value", "upper_bounds": "max_value"}
            values = {labels[label]: value for label, raw, value in stored if raw is not None}
        if values:
            yield Explained(f"bounds of {column.name} of {name}", column, values)


def _list_rows(name: str, file: PaimonDataFile) -> Iterator[Explained]:
    for label in ("min_key", "max_key"):
        row = getattr(file, label)
        if row is not None:
            yield Explained(f"{label} of {name}", row, row)
    for label in ("key_stats", "value_stats"):
        stats = getattr(file, label)
        yield Explained(f"{label} of {name}", stats)
        for row in (stats.min_values, stats.max_values):
            yield Explained(f"{row.label} of {name}", row, row)
    partition = file.partition
    yield Explained(f"partition of {name}", partition, dict(partition))
    for column in file.bounds.values():
        if column.lower is not None or column.upper is not None:
            yield Explained(f"bounds of {column.name} of {name}", column)
    if file.embedded_file_index is not None or any(one.endswith(".index") for one in file.extra_files):
        yield Explained(f"file index of {name}", file, ANY, file.file_index_view)


def _list_paimon(table: PaimonTable) -> Iterator[Explained]:
    documents = {
        key: value for key, value in table.metadata.items() if "/schema-" in key or "/snapshot-" in key
    }
    documents = {key: value for key, value in documents.items() if not key.startswith("tag/")}
    yield Explained("table", table, documents if len(documents) > 1 else next(iter(documents.values())))
    yield from (Explained(f"schema {one.id}", one, one.raw) for one in table.schemas)
    yield from (Explained(f"tag {one.name}", one, one.raw) for one in table.refs.tags)
    met: set[str] = set()
    yield from (Explained(f"changelog {one.id}", one, one.raw) for one in table.changelogs)
    snapshots: list[Any] = list(table.snapshots)
    for snapshot in snapshots:
        yield Explained(f"snapshot {snapshot.id}", snapshot, snapshot.raw)
        for listed in snapshot.manifest_lists:
            yield Explained(f"{listed.role} list of {snapshot.id}", listed)
        for manifest in snapshot.manifests:
            if manifest.path not in met:
                met.add(manifest.path)
                yield from _list_entries(manifest)
                yield from _list_partition_stats(manifest)
        yield from (Explained(f"statistics {one.path}", one, one.raw) for one in snapshot.statistics)
        if snapshot.index_manifest is not None:
            data = table.context.store.read(table.context.layout.shared("manifest", snapshot.index_manifest))
            value = [one.raw for one in snapshot.index_files] if data.startswith(b"Obj\x01") else ANY
            yield Explained(f"index manifest of {snapshot.id}", snapshot, value, snapshot.index_manifest_view)
        for index in snapshot.index_files:
            if index.path not in met:
                met.add(index.path)
                yield from _list_index(table, index)


def _list_partition_stats(manifest: Any) -> Iterator[Explained]:
    stats = manifest.partition_stats
    yield Explained(f"partition stats of {manifest.path}", stats)
    for row in (stats.min_values, stats.max_values):
        yield Explained(f"{row.label} of {manifest.path}", row, row)


def _list_index(table: PaimonTable, index: Any) -> Iterator[Explained]:
    data = table.context.store.read(index.path)
    value: Any = ANY
    if index.index_type == "HASH":
        value = decode_hash_index(data).tolist()
    if index.index_type == "DELETION_VECTORS":
        ranges = [(one["data_file"], one["offset"], one["length"]) for one in index.ranges]
        value = decode_vectors(data, ranges)
        for name, rows in value.items():
            yield Explained(f"vector of {name}", index, rows, lambda name=name: index.vector_view(name))
    yield Explained(f"index {index.path}", index, value)


def _list_hive(table: Table) -> Iterator[Explained]:
    for file in table.files:
        if file.size_bytes:
            yield from _list_file(file.path, file)


def assert_stored(explanation: BytesView) -> None:
    """Where the explanation says that its bytes lie in a file, there they lie."""
    if explanation.base is None:
        return
    assert explanation.path is not None
    start = explanation.base + explanation.start
    stored = Path(explanation.path).read_bytes()[start : start + len(explanation)]
    assert bytes(explanation.data[explanation.start : explanation.end]) == stored
