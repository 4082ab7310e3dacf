"""Processes that lakelens starts import nothing from the directory in which they are started: it may be a lake."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lakelens as ll

WORD = "loaded from the working directory"
CASES = {
    "check of a directory": ["check", "."],
    "sql within bounds": ["sql", "shop.db/iceberg", "SELECT count(*) FROM files", "--seconds", "60"],
}


@pytest.mark.parametrize("case", CASES)
def test_a_module_in_a_lake_is_not_loaded(case: str, tmp_path: Path) -> None:
    shutil.copytree(ll.sample("iceberg").location, tmp_path / "shop.db" / "iceberg")
    shutil.copytree(ll.sample("hive").location, tmp_path / "shop.db" / "hive")
    for name in ("lakelens", "numpy", "pyarrow", "duckdb", "pickle", "encodings", "site", "json"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit({WORD!r})")
    command = [sys.executable, "-P", "-c", "from lakelens.cli import main; main()", *CASES[case]]
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(Path(ll.__file__).parents[1])},
        check=False,
    )
    assert WORD not in ran.stdout + ran.stderr
    assert ran.returncode == 0, ran.stdout + ran.stderr
