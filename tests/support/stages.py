"""An engine-written table at an earlier stage of its life, and the way on from there, without the engine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lakelens as ll
from lakelens.model.snapshot import Snapshot
from tests.support import LAKES


class Stages:
    """A copy at `path` of a table of tests/lakes: `go(n)` makes it hold what it held after its n-th snapshot."""

    def __init__(self, name: str, path: Path) -> None:
        self.source, self.path = LAKES / name / "table", path
        self.table = ll.open(self.source)

    def go(self, count: int) -> None:
        """Add and remove files until the directory is what it was after so many snapshots."""
        needed = {Path(p).relative_to(self.source) for p in self._list_needed(self.table.snapshots[:count])}
        for old in [p for p in self.path.rglob("*") if p.is_file()]:
            if old.relative_to(self.path) not in needed and old.name != "LATEST":
                old.unlink()
        for relative in sorted(needed):
            if not (self.path / relative).exists():
                (self.path / relative).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.source / relative, self.path / relative)
        if self.table.format == "paimon":
            (self.path / "snapshot/LATEST").write_text(str(self.table.snapshots[count - 1].id))

    def _list_needed(self, snapshots: Any) -> Iterator[str]:
        if self.table.format == "paimon":
            yield from (str(p) for p in (self.source / "schema").iterdir())
            yield str(self.source / "snapshot/EARLIEST")
        else:
            last = Path(snapshots[-1].find_document()[0]).name
            yield from (str(p) for p in (self.source / "metadata").glob("*.json") if p.name <= last)
        for snapshot in snapshots:
            yield from self._list_snapshot(snapshot)

    def _list_snapshot(self, snapshot: Snapshot) -> Iterator[str]:
        if self.table.format == "paimon":
            assert snapshot.path is not None
            yield snapshot.path
        yield from (found.path for found in snapshot.index_files)
        index_manifest = getattr(snapshot, "index_manifest", None)
        if index_manifest:
            yield str(self.source / "manifest" / Path(index_manifest).name)
        for listed in snapshot.manifest_lists:
            assert listed.path is not None
            yield listed.path
            for manifest in listed.manifests:
                yield manifest.path
                yield from (entry.file.path for entry in manifest.entries)


def list_plainly(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file below a directory by path: size, time, content."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            found[str(path)] = (path.stat().st_size, path.stat().st_mtime_ns, path.read_bytes())
    return found


def check_plainly(before: dict[str, Any], after: dict[str, Any], change: Any) -> None:
    """A trace lists exactly what a plain comparison of two listings lists."""
    assert set(change.created.paths) == after.keys() - before.keys()
    assert set(change.removed.paths) == before.keys() - after.keys()
    both = before.keys() & after.keys()
    assert set(change.rewritten.paths) == {path for path in both if before[path] != after[path]}
    assert change.untouched_files == sum(before[path] == after[path] for path in both)
    assert {f.path: f.size_bytes for f in change.created} == {p: after[p][0] for p in change.created.paths}
