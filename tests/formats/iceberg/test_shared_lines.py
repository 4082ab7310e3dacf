"""Manifest lists that are read together name what they name when each is read alone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError
from lakelens.formats.iceberg.shared_lines import SharedLines
from tests.benchmarks import histories
from tests.support import LAKES, growth

TABLES = sorted(path.parent for path in (LAKES / "spark" / "iceberg").glob("v*-*/table"))


def read_lists(path: Path, together: bool) -> list[tuple[Any, list[Any]]]:
    """The lines of the list of every snapshot; how many could be read together."""
    table: Any = ll.open(path)
    shared, read = SharedLines(table._readers.manifests), []
    for snapshot in table.snapshots:
        for listed in snapshot.manifest_lists:
            if together:
                shared.read(listed)
                assert listed.recorded_path is None or listed.recorded_path in table._readers.manifests.lists
            read.append((listed.path, [manifest.raw for manifest in listed.manifests]))
    return read


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_lists_read_together_name_the_same(path: Path) -> None:
    assert read_lists(path / "table", True) == read_lists(path / "table", False)


def test_a_line_of_many_lists_is_decoded_once(tmp_path: Path) -> None:
    root = growth.grow_iceberg(tmp_path / "grown")
    histories.commit_iceberg(root, 40, merge=9)
    assert read_lists(root, True) == read_lists(root, False)
    table: Any = ll.open(root)
    lists = [listed for snapshot in table.snapshots for listed in snapshot.manifest_lists]
    shared = SharedLines(table._readers.manifests)
    for listed in lists:
        shared.read(listed)
    (known,) = shared._lists.values()
    assert len(known.lines) == len(
        {line["manifest_path"] for _, lines in read_lists(root, False) for line in lines}
    )
    assert sum(len(listed.manifests) for listed in lists) > 4 * len(known.lines)


def test_a_damaged_list_is_left_to_the_reader_that_names_the_damage(tmp_path: Path) -> None:
    root = tmp_path / "table"
    shutil.copytree(LAKES / "spark" / "iceberg" / "v2-merge-on-read" / "table", root)
    for path in (root / "metadata").glob("snap-*.avro"):
        path.write_bytes(path.read_bytes()[:-40])
    table: Any = ll.open(root)
    for snapshot in table.snapshots:
        for listed in snapshot.manifest_lists:
            SharedLines(table._readers.manifests).read(listed)
            with pytest.raises(LakeError):
                _ = listed.manifests
