"""What nests in manifests, over every manifest that engines wrote: each value is the model's own, each byte has its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from lakelens.codecs.avro.container import decompress_block, encode_header, encode_long, iter_blocks
from lakelens.codecs.avro.records import decode_header
from lakelens.codecs.kinds import explain
from lakelens.codecs.paimon.binary_row import BinaryRow
from lakelens.codecs.paimon.index.file_index_spans import explain_file_index
from lakelens.codecs.span.span import Span
from lakelens.errors import Corrupt, LakeError, Missing
from lakelens.formats.iceberg.explain.nested import nested_for_metadata as nest_iceberg
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
from lakelens.formats.iceberg.table import IcebergTable
from lakelens.formats.paimon.explain import nested_for_metadata as nest_paimon
from lakelens.formats.paimon.manifests.manifest import PaimonManifest, PaimonManifestList
from lakelens.formats.paimon.table import PaimonTable
from tests.support import iceberg_lakes, paimon_lakes


@dataclass
class Told:
    """One record of a file: its span, and the spans of what nests in it by path."""

    record: Span
    nested: dict[tuple[Any, ...], Span]


def tell_records(data: bytes, nested: Any) -> Iterator[Told]:
    """Each record of an Avro file, wholly explained and checked."""
    found: dict[tuple[Any, ...], Span] = {}

    def remember(path: Any, record: Mapping[str, Any]) -> Any:
        explainer = nested(path, record)
        if explainer is None:
            return None

        def explain_and_keep(content: Any, start: int, end: int) -> Span:
            found[path] = explainer(content, start, end)
            return found[path]

        return explain_and_keep

    root = explain(data, "avro", nested=remember)
    for block in root.children:
        if not block.label.startswith("block"):
            continue
        records = next(part for part in block.children if part.label == "records")
        if records.is_packed:
            records = records.unpack()[1]
        for record in records.children:
            found.clear()
            check_leaves(record)
            yield Told(record, dict(found))


def check_leaves(record: Span) -> None:
    """In one pass: every byte in one leaf, no error, nothing unexplained but what has no specified layout."""
    position = record.start
    for leaf in record.leaves():
        assert leaf.start == position, leaf
        assert leaf.error is None, leaf
        assert leaf.role != "unexplained" or "of no specified layout" in leaf.note, leaf
        assert "not explained" not in leaf.note, leaf
        position = leaf.end
    assert position == record.end


def same_row(span: Span | None, row: BinaryRow | None) -> bool:
    """Whether a span tells the model's row; the model has none where nothing was kept."""
    if span is None or row is None or not len(row):
        return not row and (span is None or span.value is None or not len(span.value))
    return repr(span.value) == repr(BinaryRow(row.names, row.values, row.kind))


# ------------------------------------------------------------------ Paimon


def list_paimon_containers(table: PaimonTable) -> tuple[list[PaimonManifestList], list[PaimonManifest]]:
    lists: dict[str, PaimonManifestList] = {}
    manifests: dict[str, PaimonManifest] = {}
    for snapshot in table.snapshots:
        for listed in snapshot.manifest_lists:
            lists.setdefault(listed.path, listed)
            try:
                for manifest in listed.manifests:
                    manifests.setdefault(manifest.path, manifest)
            except Missing:
                continue  # expired
    return list(lists.values()), list(manifests.values())


def check_paimon_list(listed: PaimonManifestList, data: bytes, table: PaimonTable) -> int:
    counted = 0
    for told, manifest in zip(tell_records(data, nest_paimon(table.context)), listed.manifests, strict=True):
        stats = manifest.partition_stats
        assert same_row(told.nested[("_PARTITION_STATS", "_MIN_VALUES")], stats.min_values)
        assert same_row(told.nested[("_PARTITION_STATS", "_MAX_VALUES")], stats.max_values)
        counted += 1
    return counted


def check_paimon_manifest(manifest: PaimonManifest, data: bytes, table: PaimonTable) -> int:
    counted = 0
    for told, entry in zip(tell_records(data, nest_paimon(table.context)), manifest.entries, strict=True):
        file, nested = entry.file, told.nested
        partition = nested[("_PARTITION",)].value
        assert repr({} if partition is None else partition.to_dict()) == repr(dict(file.partition))
        assert same_row(nested[("_FILE", "_MIN_KEY")], file.min_key)
        assert same_row(nested[("_FILE", "_MAX_KEY")], file.max_key)
        for name, stats in (("_KEY_STATS", file.key_stats), ("_VALUE_STATS", file.value_stats)):
            assert same_row(nested[("_FILE", name, "_MIN_VALUES")], stats.min_values)
            assert same_row(nested[("_FILE", name, "_MAX_VALUES")], stats.max_values)
        index = nested.get(("_FILE", "_EMBEDDED_FILE_INDEX"))
        assert (index is None) == (file.embedded_file_index is None)
        if index is not None:
            assert repr(index.value) == repr(explain_file_index(file.embedded_file_index).value)
        counted += 1
    return counted


def check_paimon_lake(lake: paimon_lakes.Lake) -> dict[str, int]:
    table = lake.open()
    counts = {"lists": 0, "entries": 0, "index": 0}
    lists, manifests = list_paimon_containers(table)
    for listed in (*lists, *manifests):
        try:
            data = table.context.store.read(listed.path)
        except Missing:
            continue
        if data[:3] != b"Obj":
            continue  # ORC and Parquet containers have no Avro records
        if isinstance(listed, PaimonManifestList):
            counts["lists"] += check_paimon_list(listed, data, table)
        else:
            counts["entries"] += check_paimon_manifest(listed, data, table)
    for path in {file.manifest for snapshot in table.snapshots for file in snapshot.index_files}:
        data = table.context.store.read(path)
        if data[:3] == b"Obj":
            files = [f for s in table.snapshots for f in s.index_files if f.manifest == path]
            for told, file in zip(tell_records(data, nest_paimon(table.context)), files, strict=False):
                partition = told.nested[("_PARTITION",)].value
                assert repr({} if partition is None else partition.to_dict()) == repr(
                    dict(file.partition or {})
                )
                counts["index"] += 1
    return counts


def test_rows_in_every_paimon_manifest() -> None:
    lakes = paimon_lakes.list_lakes()
    counts = {"lists": 0, "entries": 0, "index": 0}
    for lake in lakes:
        try:
            found = check_paimon_lake(lake)
        except (AssertionError, LakeError, KeyError, ValueError) as error:
            raise AssertionError(f"{lake.name}: {error!r}") from error
        counts = {key: counts[key] + found[key] for key in counts}
    assert counts["lists"] > 1000, counts
    assert counts["entries"] > 800, counts
    assert counts["index"] > 20, counts


def test_a_missing_schema_leaves_the_row_as_one_leaf() -> None:
    lake = next(lake for lake in paimon_lakes.list_lakes() if lake.open().current is not None)
    table = lake.open()
    manifest = next(m for m in table.current.manifests if m.entries)
    hook = nest_paimon(table.context)
    record = {**manifest.entries[0].raw, "_FILE": {**manifest.entries[0].raw["_FILE"], "_SCHEMA_ID": 77}}
    for path in (("_FILE", "_VALUE_STATS", "_MIN_VALUES"), ("_FILE", "_MIN_KEY")):
        with pytest.raises(LakeError, match="needs schema 77"):
            hook(path, record)
    assert hook(("_FILE", "_FILE_NAME"), record) is None
    unknown = {"_FILE": {**manifest.entries[0].raw["_FILE"], "_VALUE_STATS_COLS": ["no such column"]}}
    with pytest.raises(LakeError, match="'no such column'"):
        hook(("_FILE", "_VALUE_STATS", "_MIN_VALUES"), unknown)


# ------------------------------------------------------------------ Iceberg


def check_iceberg_list(listed: Any, data: bytes, table: IcebergTable) -> int:
    hook, counted = nest_iceberg(table._context, decode_header(data)), 0
    for told, manifest in zip(tell_records(data, hook), listed.manifests, strict=True):
        for i, summary in enumerate(manifest.partition_summary):
            stored = (manifest.partitions or [])[i]
            for name, value in (("lower_bound", summary.lower), ("upper_bound", summary.upper)):
                span = told.nested.get(("partitions", i, name))
                assert (span is None) == (stored.get(name) is None)
                if span is not None:
                    assert repr(span.value) == repr(value), (span, value)
                    assert summary.name in span.note
                    counted += 1
    return counted


def check_iceberg_manifest(manifest: IcebergManifest, data: bytes, table: IcebergTable) -> int:
    entries, counted = manifest.entries, 0
    hook = nest_iceberg(table._context, decode_header(data))
    for told, entry in zip(tell_records(data, hook), entries, strict=True):
        file, stored = entry.file, entry.raw["data_file"]
        bounds = {bound.field_id: bound for bound in file.bounds.values()}
        for path, span in told.nested.items():
            if path[1] not in ("lower_bounds", "upper_bounds"):
                continue
            bound = bounds[stored[path[1]][path[2]]["key"]]
            value = bound.lower if path[1] == "lower_bounds" else bound.upper
            assert repr(span.value) == repr(value), (path, span, value)
            assert bound.name in span.note
            counted += 1
        kept = [len(stored.get(name) or ()) for name in ("lower_bounds", "upper_bounds")]
        assert sum(kept) == sum(path[1] in ("lower_bounds", "upper_bounds") for path in told.nested)
        for (_, kind, name), span in ((p, s) for p, s in told.nested.items() if p[1:2] == ("partition",)):
            assert repr(span.value) in map(repr, file.partition.values()), (kind, name, span)
            counted += 1
    return counted


def test_values_in_every_iceberg_manifest() -> None:
    counts = {"summaries": 0, "bounds": 0}
    for lake in iceberg_lakes.find_lakes():
        if lake.is_view:
            continue
        table = lake.open()
        read = table._context.access.store.read
        try:
            lists = {s.path: s.manifest_lists[0] for s in table.snapshots if s.manifest_lists[0].path}
            for listed in lists.values():
                counts["summaries"] += check_iceberg_list(listed, read(listed.path), table)
            for manifest in iceberg_lakes.reachable_manifests(table):
                data = read(manifest.path)
                if data[:4] != b"PAR1":  # of format version 4, whose bytes are tested with its manifests
                    counts["bounds"] += check_iceberg_manifest(manifest, data, table)
        except Missing:
            continue
        except (AssertionError, LakeError, KeyError, ValueError) as error:
            raise AssertionError(f"{lake.name}: {error!r}") from error
    assert counts["summaries"] > 200, counts
    assert counts["bounds"] > 2000, counts


def find_iceberg(name: str) -> tuple[IcebergTable, bytes]:
    """A table and its newest manifest."""
    table = next(lake for lake in iceberg_lakes.find_lakes() if lake.path.name == name).open()
    manifest = iceberg_lakes.reachable_manifests(table)[-1]
    return table, table._context.access.store.read(manifest.path)


@pytest.mark.parametrize("name", ["v2-types", "v1-types", "v2-partition-identity", "v3-deletion-vectors"])
def test_a_manifest_tells_its_bounds_without_its_table(name: str) -> None:
    table, data = find_iceberg(name)
    header = decode_header(data)
    with_table = list(tell_records(data, nest_iceberg(table._context, header)))
    alone = list(tell_records(data, nest_iceberg(None, header)))
    unheaded = list(tell_records(data, nest_iceberg(table._context)))
    assert with_table
    for told, others in zip(with_table, zip(alone, unheaded, strict=True), strict=True):
        for other in others:
            assert {path: repr(span.value) for path, span in other.nested.items()} == {
                path: repr(span.value) for path, span in told.nested.items()
            }


def test_values_of_unknown_types_stay_one_leaf_that_says_why() -> None:
    table, data = find_iceberg("v2-types")
    hook = nest_iceberg(table._context, decode_header(data))
    file = {"lower_bounds": [{"key": 999, "value": b"a"}], "key_metadata": b"k"}
    asked = {
        ("data_file", "lower_bounds", 0, "value"): "column 999 is in no schema that is known here",
        ("data_file", "key_metadata"): "key metadata, in the key provider's own layout",
    }
    for path, note in asked.items():
        explainer = hook(path, {"data_file": file})
        assert explainer is not None
        span = explainer(b"a", 0, 1)
        assert (span.note, span.is_leaf, span.error) == (note, True, None)
    summaries = {"partition_spec_id": 77, "partitions": [{"lower_bound": b"a"}]}
    explainer = hook(("partitions", 0, "lower_bound"), summaries)
    assert explainer is not None
    assert explainer(b"a", 0, 1).note == "partition spec 77 is not known here"
    with pytest.raises(LakeError, match="without a column id"):
        hook(("data_file", "lower_bounds", 0, "value"), {"data_file": {"lower_bounds": [{"key": None}]}})


# ------------------------------------------------------------------ damage


def make_plain(data: bytes) -> tuple[bytes, int]:
    """The same file with codec null, and where its blocks start."""
    header = decode_header(data)
    plain = encode_header({**header.metadata, "avro.codec": b"null"}, header.sync_marker)
    first = len(plain)
    for block in iter_blocks(data, header):
        content = decompress_block(data, block, header.codec)
        plain += encode_long(block.count) + encode_long(len(content)) + content + header.sync_marker
    return plain, first


def check_damage(data: bytes, hook: Any) -> int:
    """Flip bits all over the blocks: the tree tiles, and what is wrong is an error with a byte. Gives how many were."""
    plain, first = make_plain(data)
    refused = 0
    for place in range(first * 8, len(plain) * 8, max(1, (len(plain) - first) * 8 // 150)):
        flipped = bytearray(plain)
        flipped[place // 8] ^= 1 << place % 8
        position, error = 0, None
        for leaf in explain(bytes(flipped), "avro", nested=hook).leaves():
            assert leaf.start == position, (place, leaf)
            position, error = leaf.end, error or leaf.error
        assert position == len(plain)
        assert error is None or (isinstance(error, Corrupt) and error.offset is not None), (place, error)
        refused += error is not None
    return refused


def test_damage_inside_of_what_nests() -> None:
    table, data = find_iceberg("v2-types")
    assert check_damage(data, nest_iceberg(table._context, decode_header(data))) > 10
    paimon = paimon_lakes.get_lake("pk-types").open()
    assert paimon.current is not None
    manifest = paimon.current.manifests[-1]
    assert check_damage(paimon.context.store.read(manifest.path), nest_paimon(paimon.context)) > 10
