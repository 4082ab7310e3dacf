"""A document in the making: writers on a disk write the newest one in place, so readers meet it empty or cut."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import Corrupt
from tests.support.iceberg_builder import Builder


def write_versions(place: Path, count: int = 3, ending: str = ".metadata.json") -> Path:
    builder = Builder(place)
    builder.write_metadata(f"00000-a{ending}")
    lines: list[dict[str, Any]] = []
    for number in range(1, count):
        lines.append(builder.manifest([builder.data_file()]))
        builder.snapshot(lines, summary={"operation": "append", "total-data-files": str(number)})
        builder.write_metadata(f"{number:05d}-a{ending}")
    return place


def cut_everywhere(data: bytes) -> list[bytes]:
    return [data[:end] for end in (0, 1, 2, 9, len(data) // 3, len(data) // 2, len(data) - 20, len(data) - 1)]


@pytest.mark.parametrize("ending", [".metadata.json", ".gz.metadata.json"])
def test_the_document_before_is_opened(tmp_path: Path, ending: str) -> None:
    newest = write_versions(tmp_path, ending=ending) / f"metadata/00002-a{ending}"
    whole = newest.read_bytes()
    cuts = cut_everywhere(whole)
    for data in cuts if ending == ".metadata.json" else [b"", *cuts[3:]]:
        newest.write_bytes(data)
        table = ll.open(tmp_path)
        assert len(table.files) == len(table.snapshots) == 1, data[-20:]
        (found,) = table.findings
        assert (found.severity, found.code, found.path) == ("warning", "metadata-unfinished", str(newest))
        assert "00001-a" in found.message and "the one before" in str(table.evidence.version_choice)
        with pytest.raises(Corrupt):
            ll.open(tmp_path, version=2)
        with pytest.raises(Corrupt):
            ll.open(newest)
    newest.write_bytes(whole)
    assert len(ll.open(tmp_path).files) == 2


def test_a_document_that_is_completed_meanwhile_is_taken(tmp_path: Path) -> None:
    newest = write_versions(tmp_path) / "metadata/00002-a.metadata.json"
    whole = newest.read_bytes()
    newest.write_bytes(whole[:100])
    writer = threading.Timer(0.01, newest.write_bytes, [whole])
    writer.start()
    table = ll.open(tmp_path)
    writer.join()
    assert len(table.files) == 2 and len(table.findings) == 0


@pytest.mark.parametrize("data", [b"[]", b"{}", b'{"format-version": 2, "schemas": 3}', b"\x00\x01"])
def test_damage_of_another_kind_is_an_error(tmp_path: Path, data: bytes) -> None:
    (write_versions(tmp_path) / "metadata/00002-a.metadata.json").write_bytes(data)
    with pytest.raises(Corrupt):
        ll.open(tmp_path)


def test_the_first_document_has_none_before(tmp_path: Path) -> None:
    (write_versions(tmp_path, 1) / "metadata/00000-a.metadata.json").write_bytes(b"")
    with pytest.raises(Corrupt, match="empty file"):
        ll.open(tmp_path)


def test_readers_beside_a_writer_see_whole_states(tmp_path: Path) -> None:
    """Commits are written in place, as slowly as a disk can be; every state that is read is one that was committed."""
    builder = Builder(tmp_path)
    builder.write_metadata("00000-a.metadata.json")
    lines: list[dict[str, Any]] = []
    errors: list[BaseException] = []
    seen: set[int] = set()
    ended = threading.Event()

    def read() -> None:
        try:
            while not ended.is_set():
                table = ll.open(tmp_path)
                count = 0 if table.current is None else int(table.current.summary["total-data-files"])
                assert len(table.files) == count == len(table.snapshots)
                assert {found.code for found in table.findings} <= {"metadata-unfinished"}
                seen.add(count)
        except BaseException as error:
            errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(1, 30):
        lines.append(builder.manifest([builder.data_file()]))
        builder.snapshot(lines, summary={"operation": "append", "total-data-files": str(number)})
        text = json.dumps(builder.metadata()).encode()
        with (tmp_path / f"metadata/{number:05d}-a.metadata.json").open("wb", buffering=0) as file:
            for piece in (text[:200], text[200 : len(text) // 2], text[len(text) // 2 :]):
                time.sleep(0.003)
                file.write(piece)
    ended.set()
    for reader in readers:
        reader.join()
    assert not errors, errors
    assert len(seen) > 3
