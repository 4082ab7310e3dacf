"""Every object that came from bytes shows them: the very bytes of the stored file, tiled, and of the object's own value."""

from __future__ import annotations

import copy
import math
import pickle
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError, Missing
from lakelens.formats import stored as stored_bytes
from lakelens.model.bytes_view import BytesView
from tests.support import LAKES
from tests.support.explained_objects import ANY, Explained, assert_stored, list_objects
from tests.support.span_checks import assert_tiles, find_error

CASES = (
    *(
        f"spark/iceberg/{name}"
        for name in ("v1-types", "v2-gzip-metadata", "v3-merge-on-read", "v2-statistics")
    ),
    *(
        f"spark/iceberg/{name}"
        for name in ("v2-merge-on-read", "v3-statistics", "v1-no-snapshot", "v2-types-orc")
    ),
    *(f"spark/iceberg/{name}" for name in ("v2-types-avro", "v2-uuid-and-fixed", "v3-branches-and-tags")),
    "spark/iceberg/v4-types",
    *(f"spark/paimon/{name}" for name in ("pk-types", "partition-types", "types-avro", "statistics", "tags")),
    *(f"spark/paimon/{name}" for name in ("pk-dynamic-bucket", "append-deletion-vectors", "schema-only")),
    *(f"spark/paimon/{name}" for name in ("file-index-embedded", "file-index-in-file", "manifest-parquet")),
    *(f"spark/paimon/{name}" for name in ("manifest-uncompressed", "changelog-kept")),
    *(
        f"paimon-java/2.0.0-{name}"
        for name in ("manifest-avro-null", "manifest-orc", "data-csv", "data-json")
    ),
    *(
        f"paimon-java/2.0.0-{name}"
        for name in ("pk-deletion-vectors-bitmap64", "global-index", "blob", "pk-bitmap-index")
    ),
    *(f"spark/hive/{name}" for name in ("text", "parquet", "orc", "avro", "csv", "json", "codecs")),
)


def open_lake(case: str, **options: Any) -> Any:
    return ll.open(LAKES / case / "table", **options)


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("case", CASES)
def test_every_object_shows_its_bytes(case: str) -> None:
    table = open_lake(case)
    objects = list(list_objects(table))
    assert objects
    for one in objects:
        explanation = one.explain()
        assert_tiles(explanation, explanation.start, explanation.end)
        assert find_error(explanation) is None, one
        assert_stored(explanation)
        assert explanation.what and explanation.summary, one
        if one.value is not ANY:
            assert is_same(find_value(explanation), one.value), one


def find_value(explanation: BytesView) -> Any:
    """The value; of a compressed document that of its content."""
    for span in explanation.walk():
        if span.is_packed and explanation.what == "Table metadata":
            return span.unpack()[1].value
    return explanation.value


def is_same(seen: Any, expected: Any) -> bool:
    """Equal, where NaN equals NaN, and sequences and sets of numbers are what they hold."""
    if isinstance(expected, float) and isinstance(seen, float) and math.isnan(expected):
        return math.isnan(seen)
    if isinstance(expected, dict):
        mine = seen.to_dict() if hasattr(seen, "to_dict") else dict(seen)
        return mine.keys() == expected.keys() and all(is_same(mine[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        held = list(seen)
        return len(held) == len(expected) and all(map(is_same, held, expected))
    return bool(seen == expected or repr(seen) == repr(expected))


def copy_lake(case: str, folder: Path) -> Any:
    """A table that a test may damage, with everything of it read once."""
    return ll.open(shutil.copytree(LAKES / case / "table", folder / "table"))


def list_stored(objects: list[Explained]) -> Iterator[tuple[Explained, Path]]:
    """The objects that are a place of a file, with that file."""
    for one in objects:
        explanation = one.explain()
        if explanation.path is not None:
            yield one, Path(explanation.path)


DAMAGED = (
    "spark/iceberg/v3-merge-on-read",
    "spark/iceberg/v2-gzip-metadata",
    "spark/paimon/pk-dynamic-bucket",
    "spark/paimon/append-deletion-vectors",
    "paimon-java/2.0.0-manifest-avro-null",
    "spark/hive/text",
)


@pytest.mark.parametrize("case", DAMAGED)
def test_damage_is_shown_in_its_place(case: str, tmp_path: Path) -> None:
    objects = list(list_objects(copy_lake(case, tmp_path)))
    for one, path in list(list_stored(objects)):
        whole = path.read_bytes()
        for damaged in (b"", whole[: len(whole) // 2], whole[:-1], bytes(len(whole)), b"{}", whole[::-1]):
            path.write_bytes(damaged)
            explanation = one.explain()
            assert_tiles(explanation, explanation.start, explanation.end)
            find_error(explanation)
            assert_stored(explanation)
        path.write_bytes(whole)
        assert find_error(one.explain()) is None, one


def test_what_is_cut_short_is_damaged(tmp_path: Path) -> None:
    table = copy_lake("spark/paimon/pk-dynamic-bucket", tmp_path)
    for thing in (table.current, table.schema, table.current.manifest_lists[0], table.current.manifests[0]):
        path = Path(thing.path)
        path.write_bytes(path.read_bytes()[:-7])
        explanation = thing.bytes_view()
        assert any(leaf.role == "damage" for leaf in explanation.leaves()), thing
        assert isinstance(find_error(explanation), LakeError)


@pytest.mark.parametrize("case", DAMAGED)
def test_missing_files_are_missing(case: str, tmp_path: Path) -> None:
    objects = list(list_objects(copy_lake(case, tmp_path)))
    found = [one for one, _ in list_stored(objects) if one.explain().base is not None]
    assert found
    shutil.rmtree(tmp_path / "table")
    for one in found:
        if one.name.startswith(("_", "min_", "max_", "partition of", "file index")):
            one.explain()  # the bytes were read with the manifest
        else:
            with pytest.raises(Missing):
                one.explain()


@pytest.mark.parametrize(
    "case", ["spark/iceberg/v3-merge-on-read", "spark/paimon/pk-types", "spark/hive/parquet"]
)
def test_bytes_are_read_when_they_are_asked_for(case: str) -> None:
    table = open_lake(case)
    file = next(iter(table.files))
    _ = file.bounds, file.partition
    before = table.reads
    view = file.bytes_view
    assert table.reads == before
    view()
    assert table.reads.requests > before.requests
    assert file.path in table.reads.paths


def test_a_large_file_is_read_as_far_as_it_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    numbers = pa.table({"n": pa.array([i * 7919 % 1_000_003 for i in range(50_000)], pa.int64())})
    pq.write_table(numbers, tmp_path / "part-0.parquet", row_group_size=5_000, use_dictionary=False)
    whole = ll.open(tmp_path).files[0].bytes_view()
    monkeypatch.setattr(stored_bytes, "WHOLE", 10_000)
    monkeypatch.setattr(stored_bytes, "BLOCK", 4096)
    table = ll.open(tmp_path)
    file = table.files[0]
    before = table.reads.bytes
    explanation = file.bytes_view()
    first = next(explanation.leaves())
    assert (first.label, len(first)) == ("magic", 4)
    assert explanation.find(len(whole) - 1).label == "magic"
    assert table.reads.bytes - before < len(whole) / 4
    assert_tiles(explanation, 0, len(whole))
    assert [repr(leaf) for leaf in explanation.leaves()] == [repr(leaf) for leaf in whole.leaves()]


HELD: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    ("spark/iceberg/v3-merge-on-read", "schema", lambda table: table.schema),
    ("spark/iceberg/v3-merge-on-read", "ref", lambda table: table.refs[0]),
    ("spark/iceberg/v3-merge-on-read", "log entry", lambda table: table.metadata_log[0]),
    ("spark/iceberg/v3-merge-on-read", "sort order", lambda table: table.sort_orders[0]),
    ("spark/iceberg/v3-merge-on-read", "bounds", lambda table: next(iter(table.files[0].bounds.values()))),
    ("spark/iceberg/v2-statistics", "statistics", lambda table: table.snapshots[-1].statistics[0]),
    ("spark/iceberg/v3-merge-on-read", "footer", lambda table: table.files[0].footer),
    ("spark/paimon/pk-types", "schema", lambda table: table.schema),
    ("spark/paimon/tags", "tag", lambda table: table.refs.tags[0]),
    ("spark/paimon/pk-types", "row", lambda table: table.files[0].min_key),
    ("spark/paimon/pk-types", "stats", lambda table: table.files[0].value_stats),
    ("spark/paimon/pk-types", "bounds", lambda table: next(iter(table.files[0].bounds.values()))),
    ("spark/paimon/pk-partitioned", "partition", lambda table: table.files[0].partition),
    ("spark/paimon/pk-dynamic-bucket", "index", lambda table: table.current.index_files[0]),
    ("spark/hive/parquet", "bounds", lambda table: next(iter(table.files[0].bounds.values()))),
)


@pytest.mark.parametrize(("case", "name", "get"), HELD, ids=[f"{case}-{name}" for case, name, _ in HELD])
def test_plain_objects_stay_plain(case: str, name: str, get: Callable[[Any], Any]) -> None:
    """Copies know their bytes, pickles leave the open table behind; all are equal and look the same."""
    thing = get(open_lake(case))
    bytes_before = list(thing.bytes_view().leaves())
    for copied in (copy.copy(thing), copy.deepcopy(thing)):
        assert copied == thing
        assert repr(copied) == repr(thing)
        assert len(list(copied.bytes_view().leaves())) == len(bytes_before)
    loaded = pickle.loads(pickle.dumps(thing))
    assert loaded == thing
    assert repr(loaded) == repr(thing)
    with pytest.raises(LakeError, match="no bytes belong to"):
        loaded.bytes_view()


def test_rows_and_partitions_equal_plain_ones() -> None:
    from lakelens.codecs.paimon.binary_row import decode_binary_row
    from lakelens.model.stats import Partition

    file = open_lake("spark/paimon/pk-partitioned").files[0]
    row = decode_binary_row(file.min_key.data, file.schema.key_columns)
    assert row == file.min_key
    assert file.min_key == row
    assert (hash(row), repr(row)) == (hash(file.min_key), repr(file.min_key))
    plain = Partition(dict(file.partition), file.partition.texts)
    assert plain == file.partition
    assert (hash(plain), repr(plain), str(plain)) == (
        hash(file.partition),
        repr(file.partition),
        str(file.partition),
    )


def test_octets_of_a_stored_file_are_its_bytes() -> None:
    from hypothesis import given
    from hypothesis import strategies as st

    from lakelens.io.memory import MemoryStore
    from lakelens.io.tracing import TracingStore

    data = bytes(range(256)) * 4096
    store = TracingStore(MemoryStore({"/f": data}))
    octets = stored_bytes.StoredOctets(store, "/f", len(data))

    @given(st.integers(-len(data) - 9, len(data) + 9), st.integers(-len(data) - 9, len(data) + 9))
    def check(start: int, stop: int) -> None:
        assert octets[start:stop] == data[start:stop]
        assert octets[start:] == data[start:]
        assert octets[:stop] == data[:stop]

    check()
    assert octets[5] == data[5]
    assert octets[-5] == data[-5]
    with pytest.raises(IndexError):
        octets[len(data)]
    requests = store.counts.requests
    assert octets[10:20] == octets[10:20] == data[10:20]
    assert store.counts.requests <= requests + 1
