"""The bulk reader's file: without room for it, records are decoded one by one, and nothing is written elsewhere."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import Any, NoReturn

import pytest

from lakelens.codecs.avro import bulk
from lakelens.codecs.avro.bulk import Scratch, decode_table
from tests.support.iceberg_builder import avro_field, write_avro

SCHEMA = {"type": "record", "name": "r", "fields": [avro_field("a", None, "long", False)]}
FILE = write_avro(SCHEMA, [{"a": number} for number in range(100)], {}, "deflate")


def refuse(*arguments: Any, **options: Any) -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture(params=["memory refused", "full", "missing", "current"])
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine whose temporary directory is of no use, with a current directory that nobody may write into."""
    current = tmp_path / "current"
    current.mkdir()
    monkeypatch.chdir(current)
    if request.param == "memory refused":
        monkeypatch.setattr(os, "memfd_create", refuse, raising=False)
        return current
    monkeypatch.setattr(bulk, "_OPEN_FILES", tmp_path / "none")
    if request.param == "full":
        monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    else:
        monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
        monkeypatch.setattr(
            tempfile, "tempdir", str(current if request.param == "current" else tmp_path / "gone")
        )
    return current


def test_records_are_decoded_without_it(broken: Path) -> None:
    assert decode_table(FILE, fast=True)["a"].to_pylist() == list(range(100))
    assert list(broken.iterdir()) == []


def test_a_disk_that_fills_up_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scratch, "write", refuse)
    assert decode_table(FILE, fast=True)["a"].to_pylist() == list(range(100))
