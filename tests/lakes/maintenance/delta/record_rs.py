"""Ask delta-rs what its VACUUM would delete of the tables of `tables.tar.xz`, with the planted files of `cases.py`.

    python tests/lakes/maintenance/delta/record_rs.py        with `deltalake` 1.6 installed

`rs.json` has for each table what a lite and a full run with a retention of 0 hours list, and `at`, when they were asked.
"""

from __future__ import annotations

import json
import os
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

import deltalake

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

from cases import STRAYS, TABLES  # noqa: E402


def main() -> int:
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(HERE / "tables.tar.xz") as archive:
            archive.extractall(folder, filter="data")
        at = time.time()
        for name in TABLES:
            path = Path(folder) / name
            for stray, days in STRAYS.items():
                file = path / stray
                if stray.endswith("/"):
                    file.mkdir(parents=True)
                else:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(b"stray")
                os.utime(file, (at - 86_400 * days if days else at + 3_600,) * 2)
            said: dict[str, Any] = {}
            for kind in ("lite", "full"):
                try:
                    table = deltalake.DeltaTable(str(path))
                    listed = table.vacuum(
                        0, dry_run=True, enforce_retention_duration=False, full=kind == "full"
                    )
                    said[kind] = sorted(listed)
                except Exception as error:
                    said[kind] = f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
            found[name] = said
    head = {"engine": f"deltalake {deltalake.__version__}", "at": int(at * 1000)}
    (HERE / "rs.json").write_text(
        json.dumps({**head, "tables": found}, indent=1, ensure_ascii=False) + "\n", "utf-8"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
