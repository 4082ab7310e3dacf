"""A Paimon table in a far store: how often one waits, and that the answers are those of a near one."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lakelens as ll
from lakelens.errors import AccessDenied
from lakelens.io.memory import MemoryStore
from lakelens.opening import open_in_store
from tests.support.far import Bucket
from tests.support.far_memory import ROOT, FarStore, FlatStore, UnlistedStore, open_twins, read_objects, show
from tests.support.faults import gather

LAKES = Path(__file__).parent.parent / "lakes"
SAMPLES = [sample.name for sample in ll.sample() if sample.format == "paimon"]
TABLES = sorted(
    path for pattern in ("paimon-java/*/table", "spark/paimon/*/table") for path in LAKES.glob(pattern)
)


def describe(table: Any) -> tuple[str, ...]:
    """A card without the line that counts what was read, and the findings in their order."""
    texts = [re.sub(r"no (?:problems|finding).*", "", text) for text in show(table)]
    return (*texts, *map(repr, table.findings))


@pytest.mark.parametrize("kind", [FarStore, FlatStore])
def test_the_card_of_a_table_takes_at_most_five_waves(kind: type[FarStore]) -> None:
    slow = {}
    for path in TABLES:
        near, far, _ = open_twins(path, kind)
        assert describe(far) == describe(near), path
        if far.reads.waves > 5:  # of a table with keys the last one counts what is left to merge
            slow[path.parent.name] = far.reads.waves
    assert not slow


def test_the_card_of_every_sample_takes_at_most_five_waves() -> None:
    for name in SAMPLES:
        near, far, _ = open_twins(ll.sample(name).location)
        assert describe(far) == describe(near), name
        assert far.reads.waves <= 5, name


def list_manifests(store: FlatStore) -> list[str]:
    """The manifests, and lists of them, that a store was asked for."""
    return [path for verb, path in store.asked if "/manifest/" in path and verb != "below"]


def test_opening_takes_two_waves_and_no_manifest() -> None:
    store = FlatStore(multiply(40))
    assert open_in_store(store, ROOT).reads.waves == 2
    assert not list_manifests(store)


def test_few_manifests_are_read_early_and_once() -> None:
    _, far, store = open_twins(ll.sample("paimon").location)
    known = sorted(list_manifests(store))
    assert far.reads.waves == 2 and known == sorted(path for path in store._objects if "/manifest/" in path)
    assert far.files.record_count and sorted(list_manifests(store)) == known


def test_large_manifests_are_read_when_they_are_needed() -> None:
    objects = read_objects(ll.sample("paimon").location)
    store = FlatStore(objects | {f"{ROOT}/manifest/manifest-large": bytes(1 << 20)})
    assert open_in_store(store, ROOT).reads.waves == 2 and not list_manifests(store)


def test_each_document_is_asked_for_once() -> None:
    _, far, store = open_twins(ll.sample("paimon-branches").location)
    show(far)
    read = [path for verb, path in store.asked if verb == "read"]
    assert len(read) == len(set(read))
    assert far.reads.requests == len(store.asked)


def test_all_manifests_are_read_in_one_wave() -> None:
    for name in ("paimon", "paimon-append", "paimon-compaction", "paimon-deletion-vectors"):
        near, far, _ = open_twins(ll.sample(name).location)
        assert far.files.to_arrow().equals(near.files.to_arrow())
        assert far.reads.waves <= 5, name


def multiply(count: int) -> dict[str, bytes]:
    """A table whose newest snapshot has many manifests, each of which adds one file."""
    import pyarrow.parquet as pq

    objects = read_objects(LAKES / "paimon-java/2.0.0-manifest-parquet/table")
    last = max(path for path in objects if "/snapshot/snapshot-" in path)
    document = json.loads(objects[last])
    delta = f"{ROOT}/manifest/{document['deltaManifestList']}"
    lists = pq.read_table(pa.BufferReader(objects[delta]))
    line = lists.to_pylist()[0]
    entries = pq.read_table(pa.BufferReader(objects[f"{ROOT}/manifest/{line['_FILE_NAME']}"]))
    entry = next(one for one in entries.to_pylist() if one["_KIND"] == 0)
    lines = []
    for number in range(count):
        file = {**entry["_FILE"], "_FILE_NAME": f"data-{number}.parquet"}
        data = write_parquet([{**entry, "_FILE": file}], entries.schema)
        name = f"manifest-many-{number}"
        objects[f"{ROOT}/manifest/{name}"] = data
        counts = {"_NUM_ADDED_FILES": 1, "_NUM_DELETED_FILES": 0}
        lines.append({**line, **counts, "_FILE_NAME": name, "_FILE_SIZE": len(data)})
    objects[delta] = write_parquet(lines, lists.schema)
    document.pop("deltaManifestListSize", None)
    objects[last] = json.dumps(document).encode()
    return objects


def write_parquet(rows: list[dict[str, Any]], schema: pa.Schema) -> bytes:
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema), sink)
    return sink.getvalue()


def test_a_hundred_manifests_take_at_most_six_waves() -> None:
    objects = multiply(100)
    store = FlatStore(objects)
    table, known = open_in_store(store, ROOT), open_in_store(MemoryStore(objects), ROOT)
    assert table.files.to_arrow().equals(known.files.to_arrow())
    assert len(table.files) >= 100
    assert table.reads.waves <= 6
    assert [file.path for file in open_in_store(store, ROOT).files] == [file.path for file in known.files]


def test_a_diff_of_neighbours_with_its_card_takes_at_most_five_waves() -> None:
    named = ("2.0.0-pk-deletion-vectors", "2.0.0-statistics", "2.0.0-pk-fixed-bucket")
    engines = [LAKES / f"paimon-java/{name}/table" for name in named]
    samples = [ll.sample(name).location for name in ("paimon", "paimon-append", "paimon-evolution")]
    for name in [*engines, *samples]:
        near, far, _ = open_twins(name)
        newest = [snapshot.id for snapshot in near.snapshots[-2:]]
        assert show(far.diff(*newest)) == show(near.diff(*newest))  # type: ignore[arg-type]
        assert far.reads.waves <= 5, name


#: What is asked of a table, and how often one waits at most, opening included.
ANSWERS: dict[str, tuple[int, Callable[[Any], Any]]] = {
    "tags": (2, lambda table: table.tags),
    "consumers": (3, lambda table: table.consumers),
    "manifests": (3, lambda table: table.current.manifests),
    "files": (4, lambda table: [file.path for file in table.files]),
    "rows": (4, lambda table: table.files.record_count),
    "history": (7, lambda table: str(table.snapshots)),
    "deletes": (5, lambda table: table.current.count_live_rows()),
    "changes": (5, lambda table: str(table.current.changes)),
    "preview": (7, lambda table: str(table.files[0].preview())),
    "explanation": (5, lambda table: str(table.explain("id = 2"))),
    "tree": (8, lambda table: str(table.tree())),
    "space": (9, lambda table: str(table.space())),
    "health": (8, lambda table: str(table.health())),
    "row": (9, lambda table: str(table.row("id = 2"))),
    "biography": (9, lambda table: str(table.biography(table.files[0].path))),
    "check": (13, lambda table: str(table.check())),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_those_of_a_near_table_and_take_few_waves(name: str) -> None:
    most, ask = ANSWERS[name]
    near, far, _ = open_twins(LAKES / "paimon-java/2.0.0-pk-deletion-vectors/table")
    known, found = ask(near), ask(far)
    # a far store gives more at once, and some of it early
    read = r"Read: .*|[\d,.]+ \w+ in \d+ requests?"
    assert re.sub(read, "", str(found)) == re.sub(read, "", str(known))
    assert far.reads.waves <= most


@pytest.mark.parametrize("gone", ["/snapshot/", "/schema/"])
def test_a_table_with_tags_and_without_snapshots_opens_by_these(gone: str) -> None:
    objects = {
        path: data
        for path, data in read_objects(ll.sample("paimon-tags").location).items()
        if gone not in path and "/branch/" not in path
    }
    near, far = open_in_store(MemoryStore(objects), ROOT), open_in_store(FlatStore(objects), ROOT)
    assert describe(far) == describe(near)
    assert far.reads.waves <= 4


def test_external_paths_are_looked_for_together() -> None:
    for name in ("1.4.2-external-paths", "2.0.0-external-paths"):
        folder = next(path for path in TABLES if path.parent.name == name)
        near, far, _ = open_twins(folder)
        assert [file.path for file in far.files] == [file.path for file in near.files]
        assert far.reads.waves <= 6


def test_of_a_long_history_few_snapshots_are_read() -> None:
    objects = read_objects(ll.sample("paimon").location)
    last = max(int(path.rpartition("-")[2]) for path in objects if "/snapshot/snapshot-" in path)
    document = json.loads(objects[f"{ROOT}/snapshot/snapshot-{last}"])
    for number in range(last + 1, 3_000):
        objects[f"{ROOT}/snapshot/snapshot-{number}"] = json.dumps({**document, "id": number}).encode()
    objects[f"{ROOT}/snapshot/LATEST"] = b"2999"
    store = FlatStore(objects)
    table = open_in_store(store, ROOT)
    show(table)
    assert table.reads.waves <= 4
    assert sum("/snapshot/snapshot-" in path and verb == "read" for verb, path in store.asked) <= 8


def test_the_card_of_a_branch_takes_few_waves_more() -> None:
    near, far, _ = open_twins(ll.sample("paimon-branches").location)
    for ref in near.refs.branches:
        waves = far.reads.waves
        branch = far.branch(ref.name)  # type: ignore[attr-defined]
        assert describe(branch) == describe(near.branch(ref.name))  # type: ignore[attr-defined]
        assert far.reads.waves - waves <= 4


def test_what_walks_the_whole_history_reads_it_together() -> None:
    near, far, _ = open_twins(ll.sample("paimon").location)
    assert [str(one) for one in far.list_files()] == [str(one) for one in near.list_files()]
    assert str(far.tree()) == str(near.tree())
    assert far.reads.waves <= 12


def test_files_may_be_read_where_nothing_may_be_listed() -> None:
    objects = read_objects(ll.sample("paimon").location)
    table = open_in_store(UnlistedStore(objects), ROOT)
    known = open_in_store(FlatStore(objects), ROOT)
    assert table.format == "paimon"
    assert table.current.id == known.current.id  # type: ignore[union-attr]
    assert [one.id for one in table.snapshots] == [one.id for one in known.snapshots]
    assert table.schema == known.schema
    assert table.files.to_arrow().equals(known.files.to_arrow())
    show(table)
    assert {finding.code for finding in table.findings} == {"not-listed"}
    assert dict(table.tags) == {}  # type: ignore[attr-defined]
    with pytest.raises(AccessDenied):
        list(table.list_files())


def test_schemas_that_may_not_be_listed_are_asked_for_by_number() -> None:
    objects = read_objects(ll.sample("paimon-evolution").location)
    table = open_in_store(UnlistedStore(objects), ROOT)
    known = open_in_store(FlatStore(objects), ROOT)
    assert [schema.id for schema in table.schemas] == [schema.id for schema in known.schemas]
    assert table.schema == known.schema


@pytest.mark.parametrize("hint", [b"", b"x", b"99999999999999999999999", b"7"])
def test_a_directory_without_a_hint_that_leads_anywhere_is_refused(hint: bytes) -> None:
    objects = read_objects(ll.sample("paimon").location)
    objects[f"{ROOT}/snapshot/LATEST"] = hint
    with pytest.raises(AccessDenied, match="listing may be denied"):
        open_in_store(UnlistedStore(objects), ROOT)


def test_a_hostile_hint_makes_no_list_without_end() -> None:
    objects = read_objects(ll.sample("paimon").location)
    last = f"{10**17}"
    document = objects[f"{ROOT}/snapshot/snapshot-1"]
    objects |= {f"{ROOT}/snapshot/LATEST": last.encode(), f"{ROOT}/snapshot/snapshot-{last}": document}
    objects[f"{ROOT}/snapshot/EARLIEST"] = b"1"
    table = open_in_store(UnlistedStore(objects), ROOT)
    assert table.snapshot_count == 10_000


def test_a_bucket_sees_as_many_requests_as_are_counted(bucket: Bucket) -> None:
    sample = ll.sample("paimon")
    url = bucket.put(sample.location, "paimon/orders")
    ll.open(url, storage_options=bucket.options)  # the client's own first questions
    bucket.weather.clear()
    bucket.weather.delay = 0.05
    bucket.weather.faults.append(gather(bucket.weather, 5))
    table = ll.open(url, storage_options=bucket.options)
    show(table)
    assert table.reads.waves <= 4
    assert len(bucket.weather.requests) <= table.reads.requests + 4
    assert bucket.weather.together > 4
