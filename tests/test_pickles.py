"""A pickle or a copy of a table is the table opened again; what hangs on an open table says so where it is not pickled."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError
from lakelens.formats.base import OpenRequest
from lakelens.formats.registry import detect_format, load_formats
from lakelens.io.memory import MemoryStore
from lakelens.io.tracing import TracingStore
from lakelens.opening import open_in_store

VERBS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def walk(table: ll.Table) -> Iterator[tuple[str, Any]]:
    """An object of each kind, after it was looked at."""
    current, file = table.current, table.files[0]
    names = "schema partitioning refs snapshots files findings evidence relocation reads metadata properties metadata_log"
    things = {
        "table": table,
        "current": current,
        "file": file,
        "tree": table.tree(),
        "health": table.health(),
    }
    things |= {name: getattr(table, name) for name in names.split()}
    things |= {"check": table.check(), "space": table.space(), "biography": table.biography(file)}
    things |= {"explanation": table.explain("id > 1"), "history": table.history, "summary": current.summary}
    things |= {name: getattr(file, name) for name in ("bounds", "partition", "footer", "deletes")}
    things |= {"preview": file.preview(2), "bytes": file.bytes_view()}
    if len(table.snapshots):
        manifest = current.manifests[0]
        things |= {"list": current.manifest_lists[0], "manifest": manifest, "entries": manifest.entries}
        things |= {
            "entry": manifest.entries[0],
            "index_files": current.index_files,
            "statistics": current.statistics,
        }
        things |= {"diff": table.diff(table.snapshots[0], current), "changes": current.changes}
    for name, thing in things.items():
        thing.to_text(2)
        yield name, thing


@pytest.fixture(scope="module", params=["iceberg", "paimon", "hive"])
def things(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(walk(ll.sample(request.param)))


@pytest.mark.parametrize("verb", VERBS)
def test_every_kind_is_as_it_was_or_says_what_to_do(things: dict[str, Any], verb: str) -> None:
    refused = []
    for name, thing in things.items():
        try:
            again = VERBS[verb](thing)
        except LakeError as error:
            assert "open" in f"{error.message} {error.hint}", name
            refused.append(name)
        else:
            assert repr(again) == repr(thing), name
    if verb == "pickle":
        assert {"files", "bytes"} <= set(refused)
        plain = {"table", "current", "snapshots", "schema", "refs", "findings", "preview"}
        assert plain & set(refused) == set()
    else:
        assert set(refused) <= {"health", "check", "space", "biography", "explanation", "diff", "changes"}


def test_a_table_is_opened_again(things: dict[str, Any]) -> None:
    table = things["table"]
    again, current = pickle.loads(pickle.dumps((table, things["current"])))
    assert again is not table and again.location == table.location
    assert again.files.record_count == table.files.record_count == current.files.record_count
    assert current.id == things["current"].id
    if current.id is not None:
        assert current._table is again, "one table is opened for all that hangs on it"


@pytest.mark.parametrize("name", ["iceberg-branches", "iceberg"])
def test_what_was_asked_for_is_asked_for_again(name: str) -> None:
    table = ll.sample(name)
    if name == "iceberg":
        old = ll.open(table.location, version=2)
        again = copy.deepcopy(old)
        assert again.metadata_path == old.metadata_path != table.metadata_path
        assert len(again.snapshots) == len(old.snapshots)
        return
    branch = next(ref.name for ref in table.refs if ref.type == "branch" and ref.name != "main")
    again = copy.deepcopy(ll.open(table.location, branch=branch))
    assert again.branch == branch


def test_a_table_of_a_store_in_memory_goes_with_its_store() -> None:
    place = ll.sample("hive")
    held = {f"/t/{file.relative_path}": open(file.path, "rb").read() for file in place.list_files()}  # noqa: SIM115, PTH123
    table = open_in_store(MemoryStore(held), "/t")
    assert pickle.loads(pickle.dumps(table)).files.record_count == place.files.record_count


def test_a_table_that_nobody_can_open_again_says_so() -> None:
    location = ll.sample("hive").location
    from lakelens.io.local import LocalStore

    store = TracingStore(LocalStore())
    _, evidence = detect_format(store, location, None)
    table = load_formats()["hive"].open(OpenRequest(store, location, evidence))
    with pytest.raises(LakeError, match="open it again"):
        pickle.dumps(table)
