"""How often one waits for an Iceberg table behind a network, and that what it answers is what the same files answer here."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lakelens import options
from lakelens.errors import AccessDenied
from lakelens.io.ahead import PIECE_BYTES, cut_pieces
from lakelens.io.store import walk
from lakelens.io.tracing import TracingStore
from lakelens.model.scan import scan_to_arrow
from lakelens.model.table import Table
from lakelens.opening import open_in_store, open_table
from tests.benchmarks.histories import commit_iceberg
from tests.support import growth
from tests.support.far import Bucket
from tests.support.far_memory import (
    ROOT,
    FarStore,
    UnlistedStore,
    count_card,
    open_far,
    open_near,
    read_objects,
    read_samples,
)
from tests.support.faults import gather
from tests.support.iceberg_lakes import Lake, find_lakes

MANIFESTS = 110
SAMPLES = dict(read_samples("iceberg"))
LAKES = [lake for lake in find_lakes() if not lake.is_view]
LAKES_BY_NAME = {lake.name: lake for lake in LAKES}
#: Of the engine-written tables those with something of their own: containers, deletes, names, evolution.
CHOSEN = [
    *("v1-partition-void", "v2-hadoop-gzip", "v2-position-deletes-orc", "v3-deletion-vectors"),
    *("v3-statistics", "v4-evolution", "v2-object-storage"),
]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A table whose newest snapshots name more than a hundred manifests, each of one file."""
    root = growth.grow_iceberg(tmp_path_factory.mktemp("waves") / "table")
    commit_iceberg(root, MANIFESTS, merge=1_000)
    return read_objects(root)


def describe(table: Table) -> list[Any]:
    """What a table answers, without what depends on how it was read."""
    last = table.snapshots[-1] if table.snapshots else None
    first = table.snapshots[0] if table.snapshots else None
    return [
        table.files.to_arrow().to_pylist(),
        [str(file) for file in table.files],
        "" if last is None else str(table.diff(first, last)),
        [(one.id, [m.path for m in one.manifests]) for one in table.snapshots],
        [(found.path, found.role, found.size_bytes, tuple(found.referenced_by)) for found in table.tree()],
        str(table.check()),
        sorted((found.severity, found.code, found.path, found.message) for found in table.findings),
    ]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_card_of_a_sample_takes_three_waves(name: str) -> None:
    assert count_card(open_far(SAMPLES[name])) <= 3


@pytest.mark.parametrize("lake", LAKES, ids=lambda lake: lake.name)
def test_the_card_of_an_engines_table_takes_three_waves(lake: Lake) -> None:
    assert count_card(open_far(read_objects(lake.table_path))) <= 3


@pytest.mark.parametrize("name", CHOSEN)
def test_a_far_table_answers_what_a_near_one_does(name: str) -> None:
    lake = LAKES_BY_NAME[name]
    objects = read_objects(lake.table_path)
    assert describe(open_far(objects)) == describe(open_near(objects))


def test_a_hundred_manifests_take_two_waves_of_sixty_four(history: dict[str, bytes]) -> None:
    table = open_far(history)
    files = table.files.to_arrow()
    assert len(table.current.manifests) > 100 and table.reads.waves <= 5
    assert str(files.to_pylist()) == str(open_near(history).files.to_arrow().to_pylist())  # there are NaNs
    asked = table.reads.requests
    assert table.files.to_arrow(columns=["path"]).num_rows == len(files) and table.reads.requests == asked


def test_as_many_requests_are_together_as_the_option_says(
    history: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "max_connections", 200)
    table = open_far(history)
    assert len(table.files) and table.reads.waves == 4


def test_manifests_are_asked_for_in_pieces_that_are_kept(
    history: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [len(data) for path, data in history.items() if path.endswith("-m0.avro")]
    monkeypatch.setattr(scan_to_arrow, "FETCHED_BYTES", sum(sizes) // 10)
    monkeypatch.setattr(scan_to_arrow, "PORTION_BYTES", sum(sizes) // 20)
    monkeypatch.setattr(scan_to_arrow.cut_portions, "__defaults__", (sum(sizes) // 20,))
    table = open_far(history)
    near = open_near(history)
    assert str(table.files.to_arrow().to_pylist()) == str(near.files.to_arrow().to_pylist())
    assert 7 <= table.reads.waves <= 20
    assert table.reads.requests < len(sizes) + 30  # each once
    pieces = list(cut_pieces([10 << 20] * 5, lambda size: ("/a", size)))
    assert [len(piece) for piece in pieces] == [2, 2, 1] and PIECE_BYTES >= 20 << 20


@pytest.mark.parametrize("distance", [1, 2, MANIFESTS])
def test_a_comparison_takes_at_most_five_waves(history: dict[str, bytes], distance: int) -> None:
    table = open_far(history)
    place = len(table.snapshots) - 1
    diff = table.diff(table.snapshots[place - distance], table.snapshots[place])
    assert str(diff) and diff._repr_html_() and table.reads.waves <= 5
    near = open_near(history)
    assert str(diff) == str(near.diff(near.snapshots[place - distance], near.snapshots[place]))


@pytest.mark.parametrize("name", ["v3-deletion-vectors", "v2-position-deletes-orc", "v4-evolution"])
def test_what_a_commit_changed_takes_at_most_five_waves(name: str) -> None:
    lake = LAKES_BY_NAME[name]
    table = open_far(read_objects(lake.table_path))
    changes = table.current.changes
    assert str(changes) and changes._repr_html_() and table.reads.waves <= 5


VERBS = [
    pytest.param(lambda table: table.current._repr_html_(), 3, id="snapshot"),
    pytest.param(lambda table: table.files._repr_html_(), 5, id="files"),
    pytest.param(lambda table: (table.files[0].bounds, str(table.files[0])), 6, id="bounds"),
    pytest.param(lambda table: table.snapshots.to_arrow(), 2, id="snapshots"),
    pytest.param(lambda table: str(table.timeline()), 2, id="timeline"),
    pytest.param(lambda table: str(table.explain("true")), 5, id="explain"),
    pytest.param(lambda table: str(table.biography(table.files[-1])), 9, id="biography"),
    pytest.param(lambda table: list(table.list_files()), 19, id="listing"),
]
#: Verbs that look at data files.
ANSWERS = [
    pytest.param(lambda table: str(table.check(data=True)), 16, id="check"),
    pytest.param(lambda table: str(table.space()), 9, id="space"),
    pytest.param(lambda table: str(table.health()), 6, id="health"),
    pytest.param(lambda table: str(table.explain("id > 0", row_groups=True)), 6, id="row-groups"),
    pytest.param(lambda table: str(table.row("id = 1")), 8, id="row"),
    pytest.param(lambda table: str(table.current.count_live_rows()), 6, id="live-rows"),
    pytest.param(lambda table: [str(file.deletes) for file in table.files], 6, id="deletes"),
    pytest.param(lambda table: str(table.current.index_files), 6, id="index-files"),
]


#: What an answer read says how much had been read early.
READ = r"Read: .*|[\d,.]+ \w+ in \d+ requests?"


@pytest.mark.parametrize(("verb", "most"), VERBS)
def test_a_verb_waits_for_a_few_waves(
    verb: Callable[[Table], Any], most: int, history: dict[str, bytes]
) -> None:
    table = open_far(history)
    verb(table)
    assert table.reads.waves <= most


@pytest.mark.parametrize("name", ["v3-deletion-vectors", "v2-position-deletes-orc"])
@pytest.mark.parametrize(("verb", "most"), ANSWERS)
def test_an_answer_waits_for_a_few_waves(verb: Callable[[Table], Any], most: int, name: str) -> None:
    objects = read_objects(LAKES_BY_NAME[name].table_path)
    table = open_far(objects)
    said, near = (re.sub(READ, "", str(verb(one))) for one in (table, open_near(objects)))
    assert said == near and table.reads.waves <= most


# --- directories that may not be listed ----------------------------------------------------------------------------------


def _rename(objects: dict[str, bytes]) -> dict[str, bytes]:
    """The same table with the names of a table without a catalog: v1, v2 and so on."""
    documents = sorted(path for path in objects if path.endswith(".metadata.json"))
    names = {path: f"{ROOT}/metadata/v{number}.metadata.json" for number, path in enumerate(documents, 1)}
    return {names.get(path, path): data for path, data in objects.items()}


def _open_unlisted(objects: dict[str, bytes], path: str = ROOT) -> Table:
    return open_in_store(UnlistedStore(objects), path)


def test_a_document_that_is_opened_by_its_path_needs_no_listing() -> None:
    objects = SAMPLES["iceberg"]
    path = max(path for path in objects if path.endswith(".metadata.json"))
    table = _open_unlisted(objects, path)
    assert table.reads.waves == 1 and table.metadata_path == path
    assert [found.code for found in table.findings] == ["not-listed"]
    assert table.files.to_arrow().equals(open_near(objects, path).files.to_arrow())


@pytest.mark.parametrize(
    "hint", ["6", "2", "5\n", "v6.metadata.json", "s3://lake/table/metadata/v6.metadata.json", "v6"]
)
def test_the_hint_leads_to_the_newest_document(hint: str) -> None:
    objects = _rename(SAMPLES["iceberg"]) | {f"{ROOT}/metadata/version-hint.text": hint.encode()}
    near, table = open_near(objects), _open_unlisted(objects)
    assert table.metadata_path == near.metadata_path == f"{ROOT}/metadata/v6.metadata.json"
    assert table.evidence.version_choice == near.evidence.version_choice
    assert table.files.to_arrow().equals(near.files.to_arrow())
    assert "not-listed" in {found.code for found in table.findings} and table.reads.waves <= 5


@pytest.mark.parametrize("ending", ["gz.metadata.json", "metadata.json.gz"])
def test_the_hint_leads_to_a_packed_document(ending: str) -> None:
    import gzip

    objects = {
        path.replace("metadata.json", ending): gzip.compress(data) if path.endswith(".json") else data
        for path, data in _rename(SAMPLES["iceberg"]).items()
    } | {f"{ROOT}/metadata/version-hint.text": b"6"}
    assert _open_unlisted(objects).metadata_path == f"{ROOT}/metadata/v6.{ending}"


@pytest.mark.parametrize(
    "hint", [None, b"", b"77", b"\xff\xfe\x00", b"../../other/v77.metadata.json", b"9" * 99]
)
def test_without_a_hint_that_leads_anywhere_it_is_denied(hint: bytes | None) -> None:
    objects = _rename(SAMPLES["iceberg"])
    if hint is not None:
        objects[f"{ROOT}/metadata/version-hint.text"] = hint
    with pytest.raises(AccessDenied, match="name the table's metadata file itself"):
        _open_unlisted(objects)


def test_what_a_listing_would_tell_is_said_to_be_unknown() -> None:
    objects = _rename(SAMPLES["iceberg"]) | {f"{ROOT}/metadata/version-hint.text": b"6"}
    table = _open_unlisted(objects)
    check = table.check()
    assert check.ok and not check.missing and not check.orphans and check.strays.not_listed == (ROOT,)
    assert f"which files are in {ROOT}" in str(check)
    assert list(table.tree()) == [] and "accessdenied" in {found.code for found in table.findings}
    assert str(table.space()) and str(table.health())


def test_a_walk_of_a_far_store_is_the_walk_of_a_near_one() -> None:
    objects = {
        f"/t/a{one}/b{two}/c{three}": b"x" for one in range(4) for two in range(5) for three in range(3)
    }
    far, near = TracingStore(FarStore(objects)), FarStore(objects)
    assert list(walk(far, "/t")) == list(walk(near, "/t"))
    assert far.counts.waves.count == 3 and far.counts.requests == 1 + 4 + 20
    assert list(walk(far, "/t", depth=2)) == list(walk(near, "/t", depth=2))


# --- a real server -------------------------------------------------------------------------------------------------------


def test_a_bucket_sees_as_few_requests_as_are_counted(bucket: Bucket) -> None:
    url = bucket.put(LAKES_BY_NAME["v2-manifest-merge"].table_path, "waves/merge")
    bucket.weather.clear()
    bucket.weather.delay = 0.05
    table = open_table(url, storage_options=bucket.options)
    assert count_card(table) <= 3
    asked = [request for request in bucket.weather.requests if request[0] != "HEAD"]
    assert len(asked) <= 2 * table.reads.requests and bucket.weather.together > 3
    near = open_table(LAKES_BY_NAME["v2-manifest-merge"].table_path)
    assert len(table.files) == len(near.files) and table.reads.waves <= 4


def test_a_bucket_gives_a_hundred_manifests_together(
    bucket: Bucket, tmp_path: Path, history: dict[str, bytes]
) -> None:
    for path, data in history.items():
        (tmp_path / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path.lstrip("/")).write_bytes(data)
    url = bucket.put(tmp_path / ROOT.lstrip("/"), "waves/history")
    bucket.weather.clear()
    bucket.weather.delay = 0.05
    table = open_table(url, storage_options=bucket.options)
    bucket.weather.faults.append(gather(bucket.weather, 32, when="-m0.avro"))
    assert table.files.to_arrow().num_rows == open_near(history).files.to_arrow().num_rows
    assert table.reads.waves <= 6 and bucket.weather.together >= 32
    read = [path for method, path, _ in bucket.weather.requests if method == "GET" and path.endswith(".avro")]
    assert len(read) == len(set(read)) > 100
