"""The storage tree says who refers to each object, past damage and duplicates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.analysis.tree import build_tree
from lakelens.model.tree import StoredFile
from tests.views.fakes import FakeTable

LAKES = Path(__file__).parents[1] / "lakes"
TABLES = [
    "spark/iceberg/v2-merge-on-read",
    "spark/iceberg/v2-branches-and-tags",
    "paimon-java/2.0.0-tags",
    "paimon-java/2.0.0-pk-deletion-vectors",
]


class Listed(FakeTable):
    def list_files(self) -> Iterator[StoredFile]:
        path = self.snapshots[0].manifests[0].path
        yield StoredFile(path, "b/m", 1, "manifest")
        yield StoredFile("loose", "a/loose", 1, "data")
        yield StoredFile("told", "c/told", 1, "data", ("listing of the directory",))
        yield StoredFile("s", "snapshot/snapshot-1", 1, "snapshot")


def test_references_are_named_and_bounded() -> None:
    table = Listed(lambda: "m", snapshots=9)
    by_name = {file.relative_path: file.referenced_by for file in table.tree()}
    assert by_name["b/m"][0] == "snapshot 1 (m)"
    assert by_name["b/m"][-1].startswith("… ")
    assert by_name["a/loose"] == ()
    assert by_name["c/told"] == ("listing of the directory",)
    assert by_name["snapshot/snapshot-1"] == ("found by its name",)


def test_listing_alone_walks_nothing() -> None:
    table = Listed(lambda: "m")
    tree = table.tree(references=False)
    assert len(tree) == 4
    assert all(snapshot.manifest.opened == 0 for snapshot in table.snapshots)  # type: ignore[attr-defined]


def test_limit_is_said() -> None:
    tree = build_tree(Listed(lambda: "m"), limit=2)
    assert (len(tree), tree.truncated) == (2, True)


@pytest.mark.parametrize("name", TABLES)
def test_engine_written_tables_have_no_loose_files(name: str) -> None:
    table = ll.open(LAKES / name / "table")
    tree = table.tree()
    assert len(tree) > 5
    assert [file.relative_path for file in tree if not file.referenced_by] == []
    live = {file.path for file in table.files}
    assert live <= {file.path for file in tree}
