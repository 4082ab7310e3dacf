"""The benchmark over a bucket runs, counts what the server saw, and says what cannot be had."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.benchmarks import reach
from tests.support.far import Bucket


def test_a_reader_is_measured_in_a_process_of_its_own(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    location, document = reach.write_table(bucket, tmp_path, commits=2)
    setup, steps = reach.READERS["pyarrow, bytes alone"]
    nothing = ("import no_such_module", {"open": "return 0"})
    readers = {"pyarrow, bytes alone": (setup, {"files": steps["files"]}), "DuckDB": nothing}
    monkeypatch.setattr(reach, "READERS", readers)
    found, lacking = reach.measure(bucket, location, document, sys.executable, runs=1, delay=0.01)
    assert found.found == 2 and len(found.seconds) == 2
    assert found.requests[0] >= found.requests[1] >= 2 + 1 + 2  # document and list, a listing, two manifests
    assert lacking.unavailable == "ModuleNotFoundError: No module named 'no_such_module'"
    text = reach.render([found, lacking], {"commits": 2, "runs": 1, "delay_ms": 10})
    assert "| pyarrow, bytes alone | list all files |" in text and "No module named" in text
