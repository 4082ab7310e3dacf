"""Row counts of a listing are read some files at a time: the same counts and findings as one by one, in the same order."""

from __future__ import annotations

import io
import struct
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakelens as ll
from lakelens.codecs.parquet.footer import MAX_FOOTER, decode_footer
from lakelens.errors import Corrupt
from lakelens.formats.hive import contents, datafile


def write_table(root: Path, files: int = 30, broken: tuple[int, ...] = (3, 17, 18)) -> int:
    """A partitioned table with a row more in each file, some of them damaged; the rows of the others."""
    rows = 0
    for number in range(files):
        folder = root / f"day={number % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"part-{number:05d}-x.parquet"
        pq.write_table(pa.table({"id": list(range(number + 1))}), path)
        if number in broken:
            path.write_bytes(path.read_bytes()[:-3])
        else:
            rows += number + 1
    return rows


def test_counts_and_findings_are_those_of_reading_one_by_one(tmp_path: Path) -> None:
    rows = write_table(tmp_path)
    ahead, single = ll.open(tmp_path, format="hive"), ll.open(tmp_path, format="hive")
    assert ahead.files.record_count == rows
    assert sum(file.record_count or 0 for file in single.files) == rows
    assert [file.record_count for file in ahead.files] == [file.record_count for file in single.files]
    told = [(f.severity, f.code, f.path) for f in ahead.findings]
    assert told == [(f.severity, f.code, f.path) for f in single.findings]
    assert len([path for _, _, path in told if path.endswith(".parquet")]) == 3
    before = ahead.reads.requests
    assert ahead.files.record_count == rows and ahead.reads.requests == before


def test_several_threads_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = write_table(tmp_path, files=12, broken=())
    together = threading.Barrier(2, timeout=30)
    read: Any = contents.read_facts

    def wait_for_another(*given: Any) -> Any:
        together.wait()  # passes when two are here at once: twelve files are six pairs
        return read(*given)

    monkeypatch.setattr(datafile, "read_facts", wait_for_another)
    assert ll.open(tmp_path, format="hive").files.record_count == rows


def test_a_hostile_footer_length_is_refused_before_anything_is_read() -> None:
    class Huge(io.BytesIO):
        """Four gigabytes that nobody stored: a head, and an end that claims most of them as its footer."""

        length = 4 << 30

        def seek(self, offset: int, whence: int = 0) -> int:
            self.at = offset + (self.length if whence == 2 else 0)
            return self.at

        def read(self, size: int | None = -1) -> bytes:
            assert size is not None and 0 <= size <= 8, "reads no more than the frame"
            if self.at == 0:
                return b"PAR1"[:size]
            assert self.at == self.length - 8
            return struct.pack("<I", MAX_FOOTER + 1) + b"PAR1"

    with pytest.raises(Corrupt, match="absurd footer length"):
        decode_footer(Huge(), "/t/f.parquet")
