"""Manifests that several threads decode and build give the same files, and are read again where a piece is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lakelens.codecs.avro.bulk import cut_file
from lakelens.codecs.avro.records import decode_records
from lakelens.formats.paimon.manifests import containers
from lakelens.formats.paimon.scan import plan
from lakelens.formats.paimon.scan.columns import PlainColumns
from lakelens.model.scan import scan_to_arrow
from lakelens.model.scan.columnar import NotColumnar
from lakelens.model.scan.files_to_arrow import build_table
from lakelens.model.scan.plan import ScanRequest
from lakelens.model.scan.scan_to_arrow import iterate_batches, read_table
from lakelens.model.scan.sharing import share_work
from tests.formats.paimon.test_scan import each_lake, force, iterate_snapshots
from tests.formats.paimon.test_scan_damage import list_manifests, open_files
from tests.support.growth import TYPED_PAIMON, grow_paimon
from tests.support.paimon_lakes import Lake
from tests.support.scans import assert_same_files, stream_columnar

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)


@pytest.mark.exhaustive(keep=4)
@each_lake
@pytest.mark.parametrize("refused", [False, True])
def test_small_pieces_equal_the_recorded(lake: Lake, refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "LARGE_BYTES", 0)
    monkeypatch.setattr(plan, "BATCH_ROWS", 2)
    if refused:
        refuse_some(monkeypatch)
    for snapshot in iterate_snapshots(lake, most=2):
        scan = snapshot.scan_files()
        assert scan is not None
        columnar = read_table(force(scan))
        if columnar is not None:
            assert_same_files(columnar, build_table(list(snapshot.files), snapshot.files.columns))


@each_lake
@pytest.mark.parametrize("refused", [False, True])
def test_a_stream_of_small_pieces_equals_the_recorded(
    lake: Lake, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    spare_memory(monkeypatch)
    if refused:
        refuse_some(monkeypatch)
    for snapshot in iterate_snapshots(lake, most=2):
        files = list(snapshot.files)
        if files:
            recorded = build_table(files, snapshot.files.columns, keep_dropped=True)
            assert_same_files(stream_columnar(force(snapshot.scan_files())), recorded)


def test_a_large_manifest_is_streamed_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spare_memory(monkeypatch)
    root = grow_paimon(tmp_path / "grown", files=1_000, manifests=0, typed=12, lake=TYPED_PAIMON)
    files = {f"/t/{path.relative_to(root)}": path.read_bytes() for path in root.rglob("*") if path.is_file()}
    whole = open_files(files).current
    assert whole is not None
    table = read_table(force(whole.scan_files()))
    assert table is not None and table.num_rows > 1_000
    streamed = stream_columnar(force(whole.scan_files()), size=500).select(table.column_names)
    assert_same_files(streamed, table)
    request, scan = ScanRequest(identity=True), force(whole.scan_files())
    places = [
        [place for batch in iterate_batches(scan, asked, workers=1) for place in batch.order.to_pylist()]
        for asked in (request, replace(request, sparing=True))
    ]
    assert places[0] == places[1]
    with monkeypatch.context() as patched:  # from a piece on the entries come one by one
        refuse_some(patched)
        streamed = stream_columnar(force(whole.scan_files())).select(table.column_names)
    assert_same_files(streamed, table)
    (path,) = [path for path in list_manifests(files) if len(files[path]) > 20_000]
    for length in (len(files[path]) // 2, len(files[path]) - 1):
        snapshot = open_files({**files, path: files[path][:length]}).current
        assert snapshot is not None
        streamed = stream_columnar(force(snapshot.scan_files()))
        of_others = [name for name in table["manifest"].to_pylist() if name != path]
        assert streamed["manifest"].to_pylist() == of_others and of_others
        assert {finding.path for finding in snapshot.context.findings if finding.code == "corrupt"} == {path}


def refuse_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every third piece is not built by column."""
    build, built = PlainColumns.build, 0

    def build_some(*arguments: Any) -> Any:
        nonlocal built
        built += 1
        if built % 3 == 0:
            raise NotColumnar("every third one")
        return build(*arguments)

    monkeypatch.setattr(PlainColumns, "build", build_some)


def spare_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every manifest is large, and is decoded and built in pieces of a block."""
    monkeypatch.setattr(scan_to_arrow, "PORTION_BYTES", 0)
    monkeypatch.setattr(containers, "_GROUP_BYTES", 1)
    monkeypatch.setattr(plan, "SPARING_ROWS", 1)


@each_lake
def test_halves_of_a_file_hold_its_records(lake: Lake) -> None:
    for snapshot in iterate_snapshots(lake, most=1):
        for manifest in snapshot.manifests:
            data = snapshot.context.store.read(manifest.path)
            if data.startswith(b"Obj\x01"):
                halves = [record for half in cut_file(data) for record in decode_records(half)]
                assert halves == decode_records(data)


def test_halves_of_blocks() -> None:
    from lakelens.codecs.avro.container import encode_header

    schema = b'{"type":"record","name":"r","fields":[{"name":"a","type":"long"}]}'
    head = encode_header({"avro.schema": schema}, b"s" * 16)
    blocks = [bytes([2, 2, n]) + b"s" * 16 for n in range(0, 100, 2)]
    halves = cut_file(head + b"".join(blocks))
    counts = [len(decode_records(half)) for half in halves]
    assert len(counts) == 2 and min(counts) > 20 and sum(counts) == 50
    assert cut_file(head + blocks[0]) == [head + blocks[0]]
    assert cut_file(b"Obj?") == [b"Obj?"]


def test_an_error_of_any_task_is_raised() -> None:
    def fail() -> int:
        raise ValueError("third")

    with pytest.raises(ValueError, match="third"):
        share_work([lambda: 1, lambda: 2, fail, lambda: 4])
    assert share_work([lambda n=n: n for n in range(100)]) == list(range(100))
