"""Faults planted into engine-written tables, and the smallest skeleton that still shows each: below 20 kB."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError
from tests.support.rewriting import (
    Record,
    find_document,
    rewrite_avro,
    rewrite_document,
    rewrite_lists,
    rewrite_manifest,
)
from tests.support.unpacked import unpack_samples

_MOST = 20_000


def find_manifest(place: Path) -> Path:
    """The largest manifest."""
    return max((place / "metadata").glob("*-m0.avro"), key=lambda path: path.stat().st_size)


def plant_count(place: Path) -> None:
    """A line of a manifest list counts one file more than its manifest has."""
    listed = sorted((place / "metadata").glob("snap-*.avro"))[-1]
    rewrite_avro(listed, lambda lines: lines[0].update(added_files_count=lines[0]["added_files_count"] + 1))


def shows_count(path: str) -> bool:
    found = ll.open(path).check().findings
    return any("counts" in one.message or "count" in one.code for one in found if one.code != "file-missing")


def plant_bound(place: Path) -> None:
    """A lower bound above the upper one."""

    def change(entries: list[Record]) -> None:
        file = entries[0]["data_file"]
        file["lower_bounds"], file["upper_bounds"] = file["upper_bounds"], file["lower_bounds"]

    rewrite_manifest(place, find_manifest(place), change)


def shows_bound(path: str) -> bool:
    table = ll.open(path)
    bounds = [
        one
        for snapshot in table.snapshots
        for manifest in snapshot.manifests
        for entry in manifest.entries
        for one in entry.file.bounds.values()
    ]
    return any(one.lower is not None and one.upper is not None and one.lower > one.upper for one in bounds)


def plant_missing_list(place: Path) -> None:
    """A snapshot names a manifest list that is not there."""
    sorted((place / "metadata").glob("snap-*.avro"))[1].unlink()


def shows_missing_list(path: str) -> bool:
    table = ll.open(path)
    for snapshot in table.snapshots:
        len(snapshot.files)
    return any("snap-" in one.path and "no such file" in one.message for one in table.findings)


def plant_spec(place: Path) -> None:
    """Two partition specs of one id, with other fields."""

    def change(document: Any) -> None:
        fields = [{"name": "late", "transform": "identity", "source-id": 1, "field-id": 1000}]
        document["partition-specs"].append({"spec-id": document["default-spec-id"], "fields": fields})

    rewrite_document(find_document(place), change)


def shows_spec(path: str) -> bool:
    specs = [one["spec-id"] for one in ll.open(path).metadata["partition-specs"]]
    return len(specs) != len(set(specs))


def plant_sequence(place: Path) -> None:
    """A manifest of a later sequence number than the table's last."""
    rewrite_lists(place, lambda line: line.update(sequence_number=line["sequence_number"] + 100))


def shows_sequence(path: str) -> bool:
    table = ll.open(path)
    last = table.metadata["last-sequence-number"]
    return any(one.sequence_number > last for snapshot in table.snapshots for one in snapshot.manifests)


def plant_dropped(place: Path) -> None:
    """A partition field whose source column is in no schema."""

    def change(document: Any) -> None:
        for spec in document["partition-specs"]:
            for field in spec["fields"]:
                field["source-id"] = 77

    rewrite_document(find_document(place), change)


def shows_dropped(path: str) -> bool:
    document = ll.open(path).metadata
    known = {field["id"] for schema in document["schemas"] for field in schema["fields"]}
    used = {field["source-id"] for spec in document["partition-specs"] for field in spec["fields"]}
    return not used <= known


FAULTS: dict[str, tuple[Callable[[Path], None], Callable[[str], bool]]] = {
    "count": (plant_count, shows_count),
    "bound": (plant_bound, shows_bound),
    "missing list": (plant_missing_list, shows_missing_list),
    "two specs of one id": (plant_spec, shows_spec),
    "sequence number": (plant_sequence, shows_sequence),
    "source that is dropped": (plant_dropped, shows_dropped),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_small(fault: str, tmp_path: Path) -> None:
    plant, shows = FAULTS[fault]
    copied = tmp_path / "table"
    shutil.copytree(unpack_samples() / "iceberg-merge-on-read", copied)
    assert not shows(str(copied))
    plant(copied)
    assert shows(str(copied))
    asked: list[str] = []

    def fails(path: str) -> bool:
        asked.append(path)
        return shows(path)

    path = ll.minimize(ll.open(copied), fails, tmp_path / "smallest")
    assert shows(path)
    size = sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())
    assert size == path.size_bytes < _MOST
    assert len(set(asked)) == len(asked) < 300
    assert sorted(one.name for one in tmp_path.iterdir()) == ["smallest", "table"]
    print(fault, size, len(asked))


def test_what_does_not_fail_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="does not fail"):
        ll.minimize(ll.sample("iceberg"), lambda path: False, tmp_path / "made")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    count = iter(range(100))

    def fails(path: str) -> bool:
        if next(count) == 2:
            raise KeyboardInterrupt
        return True

    with pytest.raises(KeyboardInterrupt):
        ll.minimize(ll.sample("iceberg"), fails, tmp_path / "made")
    assert list(tmp_path.iterdir()) == []


def test_tries_are_counted(tmp_path: Path) -> None:
    asked: list[str] = []

    def fails(path: str) -> bool:
        asked.append(path)
        return bool(len(ll.open(path).files))

    made = ll.minimize(ll.sample("iceberg"), fails, tmp_path / "made", tries=4)
    assert len(asked) == 5 and len(ll.open(made).files)
