"""Footers of many files read some at a time: each is a few requests that mostly wait."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakelens.formats.hive.datafile import HiveFile

_THREADS = 8
_BATCH = 64  # files whose facts are in memory at once
_FEW = 4  # no thread is started for these


def read_row_counts(files: Iterable[HiveFile]) -> None:
    """Have every file know its row count. Findings come in the order of the files, as when they are read one by one."""
    waiting = [file for file in files if file.size_bytes and "record_count" not in file.__dict__]
    if len(waiting) <= _FEW:
        return
    with ThreadPoolExecutor(_THREADS, "lakelens-footers") as pool:
        for start in range(0, len(waiting), _BATCH):
            part = waiting[start : start + _BATCH]
            jobs = [(file, pool.submit(file.read_facts, file.file_format)) for file in part]
            for file, job in jobs:
                file.keep_facts(job.result)
