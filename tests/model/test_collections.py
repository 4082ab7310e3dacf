"""Every list and document of a table shows itself, and is all that the tuple or dict was that it stands for."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import lakelens as ll
from lakelens.formats.access import WeakLruCache
from lakelens.model.collections import Document, Items, NamedItems, Preview
from lakelens.model.manifest import Entries, Manifests
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.render.html import render_card

TABLES = {"hive": ll.sample("hive"), "iceberg": ll.sample("iceberg"), "paimon": ll.sample("paimon")}
ITEMS = ("schemas", "specs", "sort_orders", "metadata_log", "snapshot_log", "snapshots", "findings", "refs")
OF_A_SNAPSHOT = ("manifest_lists", "manifests", "index_files", "statistics", "dangling_deletes")


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    with display.using(strict_views=True):
        yield


def list_items(table: Table) -> Iterator[Items[Any]]:
    yield from (getattr(table, name) for name in ITEMS)
    assert table.current is not None
    yield from (getattr(table.current, name) for name in OF_A_SNAPSHOT)
    for manifest in table.current.manifests[:2]:
        yield from (manifest.entries, manifest.partition_summary)
    yield from (file.deletes for file in table.files)
    yield table.schema.versions


def list_documents(table: Table) -> Iterator[Document]:
    current = table.current
    assert current is not None
    yield from (table.properties, table.metadata, current.summary)  # type: ignore[misc]
    found = [current.raw, table.schema.raw, table.partitioning.raw, table.files[0].raw]
    for manifest in current.manifests[:2]:
        found += [manifest.raw, manifest.header, manifest.entries[0].raw, manifest.entries[0].file.raw]
    found += [one.raw for one in (*current.index_files, *current.statistics, *table.refs)]
    yield from (one for one in found if not isinstance(one, list | None))


def check_view(thing: Any) -> None:
    assert repr(thing).startswith(f"<{type(thing).__name__} ")
    assert "\n" not in repr(thing)
    assert str(thing) == thing.to_text()
    assert "\n" in str(thing) or not len(thing)
    assert "<style>" in thing._repr_html_()
    assert len(render_card(thing, 3)) <= 65_536
    table = thing.to_arrow()
    assert table.num_rows == len(thing)
    assert isinstance(thing, dict) or pa.table(thing).equals(table)
    assert list(thing.to_pandas().columns) == table.column_names


@pytest.mark.parametrize("name", TABLES)
def test_lists_are_sequences_that_show_themselves(name: str) -> None:
    for items in list_items(TABLES[name]):
        plain = tuple(items)
        assert isinstance(items, Items)
        check_view(items)
        assert (len(items), bool(items), list(items[:2])) == (len(plain), bool(plain), list(plain[:2]))
        assert type(items[:1]) is type(items)
        assert [one in items for one in plain] == [True] * len(plain)
        assert [*items, *items[::-1]] == [*plain, *plain[::-1]]
        if type(items).__eq__ is Items.__eq__:  # findings grow
            assert items == plain and plain == items and items == list(plain) and items != (*plain, None)
            assert items.__add__((1,)) == (*plain, 1) and items.__radd__((1,)) == (1, *plain)
            assert type(items)(plain) == items
        if plain:
            assert items[-1] == plain[-1] and items.index(plain[0]) == 0 and items.count(plain[-1]) >= 1
        with pytest.raises(IndexError):
            items[len(plain)]


@pytest.mark.parametrize("name", TABLES)
def test_documents_are_dicts_that_show_themselves(name: str) -> None:
    documents = list(list_documents(TABLES[name]))
    assert len(documents) >= 4
    for document in documents:
        plain = {**document}
        assert type(document) is Document and type(plain) is dict
        check_view(document)
        assert document == plain and plain == document and dict(document) == plain
        assert json.dumps(document, default=str) == json.dumps(plain, default=str)
        assert list(document.items()) == list(plain.items()) and document.get("no such key") is None
        again = pickle.loads(pickle.dumps(document))
        assert again == document and again.noun == document.noun and copy.copy(document) == document


def test_what_was_hashable_is_and_what_was_pickled_is() -> None:
    schemas = TABLES["iceberg"].schemas
    assert hash(schemas) == hash(tuple(schemas))
    for items in (schemas, TABLES["iceberg"].specs, TABLES["iceberg"].sort_orders, TABLES["iceberg"].refs):
        again = pickle.loads(pickle.dumps(items))
        assert type(again) is type(items) and again == items == copy.copy(items)
    with pytest.raises(TypeError):
        hash(TABLES["iceberg"].properties)


def test_no_list_reads_to_be_made_or_for_its_line() -> None:
    table = ll.sample("iceberg")
    assert table.current is not None
    before = table.reads
    line = [
        repr(table.snapshots),
        repr(table.snapshot_log),
        repr(table.snapshots[1:3]),
        repr(table.metadata_log),
    ]
    assert line == ["<Snapshots 5>", "<SnapshotLog 5>", "<Snapshots 2>", "<MetadataLog 5>"]
    assert table.reads == before
    assert repr(table.current.manifests) == "<Manifests 6>"
    str(table.current.manifests)
    table.current.manifests.to_arrow()
    opened = set(table.reads.paths)
    assert not opened & {manifest.path for manifest in table.current.manifests}, "no manifest was read"
    made: list[int] = []
    lazy = Items(range(1_000_000), lambda position: made.append(position) or position)  # type: ignore[func-returns-value]
    assert (len(lazy), repr(lazy[5:]), made) == (1_000_000, "<Items 999995>", [])
    str(lazy)
    assert len(made) < 50


def test_entries_are_the_table_that_sql_gives() -> None:
    table = TABLES["iceberg"]
    assert table.current is not None
    tables = [manifest.entries.to_arrow() for manifest in table.current.manifests]
    given = table.sql("select * from entries").to_arrow()
    assert sum(one.num_rows for one in tables) == given.num_rows
    assert set(tables[0].column_names) == set(given.column_names)
    paths = [path for one in tables for path in one["path"].to_pylist()]
    assert sorted(paths) == sorted(given["path"].to_pylist())


def test_a_record_is_wrapped_when_it_is_looked_at() -> None:
    entry = ll.sample("iceberg").current.manifests[0].entries[0]  # type: ignore[union-attr]
    assert type(vars(entry.file)["raw"]) is dict
    assert entry.file.raw is entry.file.raw and type(entry.file.raw) is Document
    assert entry.raw is entry.raw
    assert entry.file.bytes_view() is not None and entry.bytes_view().what


@pytest.mark.parametrize("name", TABLES)
def test_a_preview_is_the_arrow_table_that_it_was(name: str) -> None:
    preview = TABLES[name].files[0].preview(2)
    table = preview.to_arrow()
    assert type(preview) is Preview and type(table) is pa.Table
    assert repr(preview) == f"<Preview {table.num_rows} rows: {', '.join(table.column_names)}>"
    assert str(preview).startswith("Preview: ") and "<table" in preview._repr_html_()
    assert preview == table and table.equals(preview.to_arrow()) and preview.equals(table)
    assert (len(preview), preview.column_names, preview.num_rows) == (
        len(table),
        table.column_names,
        table.num_rows,
    )
    assert preview.to_pylist() == table.to_pylist() and preview[table.column_names[0]] == table[0]
    assert [*preview] == table.columns and preview.schema == table.schema
    assert preview.to_pandas().equals(table.to_pandas()) and preview.slice(1).num_rows == table.num_rows - 1
    assert pa.table(preview) == table
    again = pickle.loads(pickle.dumps(preview))
    assert again == preview and copy.copy(preview) == table
    with pytest.raises(AttributeError, match="nope"):
        preview.nope  # noqa: B018


def test_names_and_slices_of_named_lists() -> None:
    refs = TABLES["paimon"].refs
    assert isinstance(refs, NamedItems)
    assert refs["main"] is refs[0] and "main" in refs and "nope" not in refs and refs[0] in refs
    assert refs[:1].keys() == ["main"] and refs.branches == refs[:1] and not refs.tags
    with pytest.raises(KeyError):
        refs["nope"]


def test_an_empty_list_keeps_its_columns() -> None:
    assert Manifests().to_arrow().column_names == TABLES["iceberg"].current.manifests.to_arrow().column_names  # type: ignore[union-attr]
    assert "path" in Entries().to_arrow().column_names
    assert str(Manifests()) == "Manifests: none"
    assert WeakLruCache(lambda position: [position]) is not None
