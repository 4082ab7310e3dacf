"""Manifests that several threads decode and build give the same files, and are read again where a piece is refused."""

from __future__ import annotations

from typing import Any

import pytest

from lakelens.codecs.avro.bulk import cut_file
from lakelens.codecs.avro.records import decode_records
from lakelens.formats.paimon.scan import plan
from lakelens.formats.paimon.scan.columns import PlainColumns
from lakelens.model.scan.columnar import NotColumnar
from lakelens.model.scan.files_to_arrow import build_table
from lakelens.model.scan.scan_to_arrow import read_table
from lakelens.model.scan.sharing import share_work
from tests.formats.paimon.test_scan import each_lake, force, iterate_snapshots
from tests.support.paimon_lakes import Lake
from tests.support.scans import assert_same_files

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)


@pytest.mark.exhaustive(keep=4)
@each_lake
@pytest.mark.parametrize("refused", [False, True])
def test_small_pieces_equal_the_recorded(lake: Lake, refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "LARGE_BYTES", 0)
    monkeypatch.setattr(plan, "BATCH_ROWS", 2)
    build, built = PlainColumns.build, 0

    def build_some(*arguments: Any) -> Any:
        nonlocal built
        built += 1
        if refused and built % 3 == 0:
            raise NotColumnar("every third one")
        return build(*arguments)

    monkeypatch.setattr(PlainColumns, "build", build_some)
    for snapshot in iterate_snapshots(lake, most=2):
        scan = snapshot.scan_files()
        assert scan is not None
        columnar = read_table(force(scan))
        if columnar is not None:
            assert_same_files(columnar, build_table(list(snapshot.files), snapshot.files.columns))


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
