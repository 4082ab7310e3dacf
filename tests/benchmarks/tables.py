"""The tables that are measured, grown when they are first asked for, in one directory that goes away."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks import histories
from tests.benchmarks.measure import Grown
from tests.benchmarks.runners import Target
from tests.support import growth

#: The first typed column, behind those of the lake: its lower bounds are summed up as a proof of work.
PROOF = "long_3"


class Tables:
    """Grows tables below a directory, each once."""

    def __init__(self, folder: Path, say: Callable[[str], None] = lambda _: None) -> None:
        self._folder = folder
        self._say = say

    def grow(
        self, format: str, files: int = 0, columns: int = 25, snapshots: int = 0, commits: int = 0
    ) -> Grown:
        """A table of so many more files, columns in all, and more snapshots; `commits` write manifests of their own."""
        facts = {"format": format, "files": files, "columns": columns, "snapshots": snapshots}
        name = f"files_{files}_columns_{columns}_snapshots_{snapshots}"
        if commits:
            facts["commits"] = commits
            name += f"_commits_{commits}"
        path = self._folder / f"{format}.db" / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            started = time.perf_counter()
            self._write(format, path, files, columns, snapshots)
            if commits:
                commit = histories.commit_iceberg if format == "iceberg" else histories.commit_paimon
                commit(path, commits)
            self._say(
                f"grew {format}, {files:,} files, {columns:,} columns, {snapshots + commits:,} snapshots"
            )
            self._say(f"  in {time.perf_counter() - started:.1f} s")
        target = Target(format, path, PROOF if files else "")
        facts["manifest_bytes"] = sum(manifest.stat().st_size for manifest in target.manifests)
        return Grown(target, facts)

    @staticmethod
    def _write(format: str, path: Path, files: int, columns: int, snapshots: int) -> None:
        if format == "iceberg":
            growth.grow_iceberg(
                path,
                files=files,
                manifests=0,
                typed=columns,
                snapshots=snapshots,
                lake=growth.TYPED_ICEBERG,
                located=True,
            )
        else:
            growth.grow_paimon(
                path, files=files, manifests=0, typed=columns, snapshots=snapshots, lake=growth.TYPED_PAIMON
            )
