"""A fixed part of the cases of structure, and that each subject changes what it is about."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.fuzz.counts import MANY, change_counts
from tests.fuzz.documents import open_document, put_place, read_place
from tests.fuzz.known import KNOWN
from tests.fuzz.mutate import Impossible
from tests.fuzz.names import NAMES, change_names
from tests.fuzz.parent import PATIENT_SECONDS, WAITS_PATIENTLY, Walker, summarise
from tests.fuzz.recipes import Edit, Recipe, read_lake
from tests.fuzz.row_edits import change_row, find_row_places
from tests.fuzz.structure import SUBJECTS, change_files, list_structural

SEED = 29
TABLES = ("hive", "iceberg-branches", "iceberg-v4", "paimon-branches", "paimon-java/2.0.0-manifest-orc")
SHARE, FEWER = 0.02, {"count": 500}


def list_of_subject(subject: str) -> list[Recipe]:
    every = (list_structural(lake, subject, SEED)[:1] for lake in TABLES[1::2] + TABLES[-1:])
    fewer = FEWER if subject == "many" else {}
    return [
        replace(recipe, share=SHARE, edits=[{**recipe.edits[0], **fewer}]) for few in every for recipe in few
    ]


@pytest.fixture(scope="module")
def walker() -> Iterator[Walker]:
    with Walker(PATIENT_SECONDS, WAITS_PATIENTLY) as made:
        yield made


@pytest.mark.exhaustive(keep=2)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_no_surprise(subject: str, walker: Walker) -> None:
    figures = summarise(walker.walk_all(list_of_subject(subject)))
    causes = [cause for cause in figures["causes"] if not any(known.search(cause) for known in KNOWN)]
    assert not causes, figures["causes"]
    assert figures["impossible"] < figures["cases"] / 2 and figures["steps"] > 50 * figures["cases"]
    assert set(figures["kinds"]) == {subject}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_subject_changes_files(subject: str) -> None:
    """Most of its edits change a file, add one or take one away."""
    changed = impossible = 0
    for lake in TABLES:
        files = read_lake(lake)
        for recipe in list_structural(lake, subject, SEED)[:20]:
            edit = {**recipe.edits[0], "count": 20}
            try:
                after = {} if edit.get("part") == "table" else change_files(files, edit)
            except Impossible:
                impossible += 1
                continue
            changed += any(files.get(name) != data for name, data in after.items())
    assert changed > 5 * impossible


@pytest.mark.parametrize("lake", ["iceberg-statistics", "hive-orc", "paimon", *TABLES])
def test_a_document_is_written_as_it_was(lake: str) -> None:
    """Taken apart and written again it has the same values."""
    for name, data in read_lake(lake).items():
        try:
            document = open_document(data)
        except UnicodeDecodeError:
            continue
        again = open_document(document.build())
        for tree in (document.tree, again.tree):
            if isinstance(tree, dict):
                tree.get("header", {}).pop("avro.codec", None)  # written without compression
        assert repr(again.tree) == repr(document.tree), name


def test_a_pair_is_of_two_documents() -> None:
    """A manifest's length in its list, the schema of a snapshot, the newest version in the hint."""
    at = {
        (edit["file"], str(edit["at"][-1:]))
        for edit in _list_edits("paimon-branches", "pair")
        if "at" in edit
    }
    assert {("snapshot/snapshot-*", "['schemaId']"), ("snapshot/LATEST", "[]")} <= at
    assert ("manifest/manifest-list-*-*", "['_FILE_NAME']") in at
    copies = [edit for edit in _list_edits("paimon-branches", "pair") if "at" not in edit]
    assert ("branch/branch-audit/schema/schema-*", "schema/schema-*") in {
        (edit["file"], edit["from"]["file"]) for edit in copies
    }


def _list_edits(lake: str, subject: str) -> list[Edit]:
    return [recipe.edits[0] for recipe in list_structural(lake, subject, SEED)]


def test_a_row_is_changed_by_slot() -> None:
    name, data = next((name, data) for name, data in read_lake("paimon").items() if "/manifest-" in name)
    at, row = next((at, row) for at, row in find_row_places(data) if len(row) > 12)
    edit = {"file": name, "how": "row", "at": at, "field": 0}
    changed = {
        what: read_place(open_document(change_row(data, {**edit, "do": what, "value": value})).tree, at)
        for what, value in {"arity": 9, "null": 1, "offset": 7, "length": 5}.items()
    }
    assert changed["arity"] == struct.pack(">i", 9) + row[4:]
    assert changed["null"][5] == row[5] ^ 1 and changed["null"][6:] == row[6:]
    assert changed["offset"][16:20] == struct.pack("<I", 7) and changed["length"][12:16] == struct.pack(
        "<I", 5
    )


def test_a_name_is_changed_where_it_is_recorded() -> None:
    files = read_lake("paimon")
    edit = {
        "file": "manifest/manifest-list-*-*",
        "place": -1,
        "how": "name",
        "part": 1,
        "to": "line-feed",
        "refers": True,
    }
    after = change_names(files, edit)
    gone = next(name for name, data in after.items() if data is None)
    new = NAMES["line-feed"].replace("{}", gone.removeprefix("manifest/"))
    assert f"manifest/{new}" in after
    snapshots = [data for name, data in after.items() if name.startswith("snapshot/") and data is not None]
    assert any(new in open_document(data).tree.values() for data in snapshots)


def test_many_are_many() -> None:
    files = read_lake("iceberg-branches")
    name = max(name for name in files if name.endswith(".metadata.json"))
    edit = {"file": name, "how": "many", "count": MANY, "do": "items", "at": ["refs"]}
    refs = open_document(change_counts(files, edit)[name]).tree["refs"]
    assert len(refs) == MANY + len(open_document(files[name]).tree["refs"])
    edit = {"file": "snapshot/snapshot-*", "place": -1, "how": "many", "count": 50, "do": "files"}
    assert {"snapshot/snapshot-50"} < set(change_counts(read_lake("paimon"), edit))


def test_a_value_that_is_not_there_is_not_put() -> None:
    document = open_document(b'{"a": 1}')
    with pytest.raises(KeyError):
        put_place(document, ["b"], 2)
