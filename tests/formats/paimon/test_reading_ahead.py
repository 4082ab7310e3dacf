"""Snapshot documents of a remote store are read by several threads; what comes out is the same."""

from __future__ import annotations

import threading
from pathlib import Path

from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.table import PaimonTable
from lakelens.io.memory import MemoryStore
from lakelens.io.tracing import TracingStore
from lakelens.model.storage import Evidence
from tests.support.growth import grow_paimon


class FarStore(MemoryStore):
    """Answers a snapshot only once another one is asked for, too: a reader that waits for each would wait for ever."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(files)
        self.scheme = "s3"
        self.meet = threading.Barrier(2)

    def read(self, path: str) -> bytes:
        if "/snapshot-" in path and path.rsplit("-", 1)[1] in ("5", "6"):
            self.meet.wait(timeout=30)
        return super().read(path)


def _load(root: Path) -> dict[str, bytes]:
    return {f"/t/{p.relative_to(root)}": p.read_bytes() for p in root.rglob("*") if p.is_file()}


def _open(store: MemoryStore) -> PaimonTable:
    return PaimonTable(TableContext(TracingStore(store), "/t"), Evidence("paimon", ()), "t")


def test_a_remote_history_is_read_ahead(tmp_path: Path) -> None:
    files = _load(grow_paimon(tmp_path / "t", snapshots=100))
    files["/t/snapshot/snapshot-9"] = b"{"
    near, far = _open(MemoryStore(files)), _open(FarStore(files))
    assert [one.raw for one in far.snapshots] == [one.raw for one in near.snapshots]
    assert [one.id for one in far.snapshots] == [n for n in far.context.pointer.ids if n != 9]
    assert [(f.code, f.path, f.message) for f in far.findings] == [
        (f.code, f.path, f.message) for f in near.findings
    ]
    assert any(f.path.endswith("snapshot-9") for f in far.findings)
