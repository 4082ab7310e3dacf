"""Every public value of a table, a snapshot, a manifest, a file and a diff has a view, and every hint in it works."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

import lakelens as ll
from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.model.datafile import IndexFile
from lakelens.model.schema import PartitionSpec, Schema
from lakelens.model.storage import Relocation
from lakelens.options import display
from lakelens.views.card.model import Card, Grid, Note
from lakelens.views.present import present
from lakelens.views.render.html import render_card
from lakelens.views.render.text import render_text
from tests.support import LAKES

PLAIN = (str, int, float, bool, bytes, datetime, type(None))
#: what is machinery of a format, or an attribute of the specification in its raw form, not a value for a reader
KNOWN = {
    "table": {
        "placement",
        "procedures",
        "rules",
        "separate_branches",
        "split_rules",
        "storage",
        "traits",
        "vocabulary",
    }
    | {
        "context",
        "known_manifests",
        "pointer",
        "vector_reader",
        "consumers",
        "tags",
        "tag_names",
        "changelog_numbers",
    },
    "schema": {"fields", "columns", "key_columns", "options"},
    "snapshot": {
        "context",
        "delete_index",
        "delete_reader",
        "deletion_vectors",
        "figures",
        "newly_deleted",
        "vocabulary",
    }
    | {"document", "log_offsets", "properties", "vector_reader"},
    "manifest": {"partitions", "vocabulary", "context"},
    "file": {
        "column_sizes",
        "deleted_positions",
        "lower_bounds",
        "upper_bounds",
        "null_value_counts",
        "value_counts",
    }
    | {
        "nan_value_counts",
        "split_offsets",
        "vocabulary",
        "context",
        "copy_identity",
        "identity",
        "facts",
        "row_groups",
        "columns",
    },
    "diff": {"kept_by_content", "kept_counts", "raised"},
}


def list_nouns(table: Any) -> Iterator[tuple[str, Any]]:
    snapshot = table.current
    yield from (
        ("table", table),
        ("schema", table.schema),
        ("snapshot", snapshot),
        ("file", snapshot.files[0]),
    )
    yield from (("manifest", manifest) for manifest in snapshot.manifests[:1])
    yield "diff", snapshot.changes


def list_values(thing: Any) -> Iterator[tuple[str, Any]]:
    for name in (name for name in dir(type(thing)) if not name.startswith("_")):
        try:
            held = getattr(thing, name)
        except (LakeError, AttributeError):
            continue
        if isinstance(held, Displayable) or not callable(held):
            yield name, held


@pytest.mark.parametrize("sample", ["iceberg", "iceberg-branches", "paimon", "hive"])
def test_every_value_has_a_view(sample: str) -> None:
    with display.using(strict_views=True):
        for noun, thing in list_nouns(ll.sample(sample)):
            for name, held in list_values(thing):
                if isinstance(held, PLAIN) or name in KNOWN[noun]:
                    continue
                if isinstance(held, tuple | frozenset) and all(isinstance(one, PLAIN) for one in held):
                    continue
                assert isinstance(held, Displayable), (noun, name, type(held))
                assert "ll-root" in render_card(held), (noun, name)
                assert len(repr(held)) < 2_000 and " at 0x" not in repr(held), (noun, name)
                if not hasattr(held, "status"):
                    assert render_text(held, 2), (noun, name)


def test_the_parts_of_a_diff_are_tables_and_cards() -> None:
    table = ll.open(LAKES / "spark/iceberg/v2-partition-evolution/table")
    diff = table.diff(table.snapshots[0], table.current)
    assert render_text(diff.manifests).startswith("Manifests: ")
    assert "NEW" in render_text(diff.manifests) and isinstance(
        diff.manifests.new[:1], type(diff.manifests.new)
    )
    assert len(diff.by_partition.to_arrow()) == len(diff.by_partition) > 1
    assert diff.partitioning.to_arrow().column_names[:2] == ["kind", "name"]
    assert present(diff.partitioning).sentence == "3 fields changed" and "ts_hour" in render_text(
        diff.partitioning
    )
    assert diff.summary == dict(diff.summary) and "added_files" in render_text(diff.summary)
    first = diff.partitioning[0]
    assert str(first).startswith(first.name) and first.words in render_text(first)
    merged = ll.open(LAKES / "spark/iceberg/v3-merge-on-read/table")
    deletes = next(one.changes.deletes for one in merged.snapshots if len(one.changes.deletes.added))
    assert "added" in present(deletes).sentence and "vector" in render_card(deletes)


def test_a_field_a_partition_and_a_key_have_cards() -> None:
    table = ll.open(LAKES / "spark/iceberg/v1-types/table")
    nested = next(field for field in table.schema.fields if field.type.is_nested)
    card = render_text(nested)
    assert all(f"{nested.name}.{child.name}" in card for child in nested.type.children)
    assert repr(table.schema.fields[0]).startswith("<Field 1 ")
    paimon = ll.open(LAKES / "spark/paimon/pk-partitioned/table")
    file = paimon.files[0]
    assert present(file.partition).sentence == str(file.partition)
    assert "in a path" in render_text(file.partition)
    key = file.min_key
    assert key is not None and f"{key.values[0]}" in render_text(key) and str(key) == repr(key)
    assert "kind +I" in present(key).sentence


def test_bounds_are_a_table() -> None:
    bounds = ll.sample("iceberg").files[0].bounds
    assert bounds.to_arrow()["name"].to_pylist() == list(bounds)
    assert list(bounds.to_pandas()["nulls"]) == [column.nulls for column in bounds.values()]


def test_odd_words_are_gone() -> None:
    assert repr(Schema(None, ())) == "<Schema: no columns>"
    assert repr(PartitionSpec(None)) == "<PartitionSpec: unpartitioned>"
    assert repr(Relocation(None, "/t")) == "<Relocation no recorded location to /t>"
    paimon = ll.sample("paimon")
    reasons = " ".join(paimon.evidence.reasons)
    assert "holds 1 snapshots" not in reasons
    assert "None" not in repr(paimon.current.manifests[0])


def test_one_snapshot_is_one(tmp_path: Any) -> None:
    import shutil

    shutil.copytree(LAKES / "spark/paimon/append/table", tmp_path / "t")
    for path in (tmp_path / "t/snapshot").glob("snapshot-*"):
        if path.name != "snapshot-1":
            path.unlink()
    assert "snapshot/ holds snapshot-1" in ll.open(tmp_path / "t").evidence.reasons


def test_a_missing_manifest_list_offers_no_header(tmp_path: Any) -> None:
    import shutil

    shutil.copytree(LAKES / "spark/iceberg/v2-basic/table", tmp_path / "t")
    table = ll.open(tmp_path / "t")
    found = table.current.manifest_lists[0]
    assert "Header" in render_text(found)
    gone = ll.open(tmp_path / "t").current.manifest_lists[0]
    (tmp_path / "t/metadata" / gone.path.rsplit("/", 1)[-1]).unlink()
    card = present(gone)
    assert [fold.label for fold in card.folds] == ["Manifests"]
    assert "cannot be read" in render_text(gone)


def list_hints(card: Card) -> Iterator[str]:
    for body in (*card.body, *(body for fold in card.folds for body in fold.body())):
        if isinstance(body, Grid) and body.more and body.how:
            yield body.how
        elif isinstance(body, Note) and body.code and body.text.startswith("…"):
            yield body.code


def list_shown(table: Any) -> Iterator[Any]:
    snapshot, file = table.current, table.files[0]
    yield from (
        table,
        table.schema,
        table.refs,
        table.snapshots,
        table.findings,
        snapshot,
        snapshot.changes,
        table.files,
    )
    yield from (snapshot.manifests, *snapshot.manifest_lists[:1], *snapshot.manifests[:1], file, file.bounds)
    yield from (
        snapshot.changes.manifests,
        snapshot.changes.by_partition,
        snapshot.changes.metadata,
        table.properties,
    )
    yield from (
        one for one in (*snapshot.index_files[:1], table.metadata_log, table.schemas) if one is not None
    )


@pytest.mark.parametrize("sample", ["iceberg", "iceberg-branches", "paimon", "hive"])
def test_every_hint_works_and_none_leads_to_itself(sample: str) -> None:
    table = ll.sample(sample)
    tried = 0
    with display.using(max_rows=1, strict_views=True):
        for thing in list_shown(table):
            for how in list_hints(present(thing, 2)):
                for call in re.split(r", (?=\.)", how.split(", diff.")[0]):
                    found = try_hint(call, thing, table)
                    assert found is not thing, (thing, how)
                    tried += 1
    assert tried > 5


def try_hint(call: str, thing: Any, table: Any) -> Any:
    """What typing a hint gives; one without a name before it is asked of the thing, or of a part that it shows."""
    names = {
        "table": table,
        "diff": thing,
        "schema": thing,
        "spec": thing,
        "change": thing,
        "snapshot": thing,
    }
    if not call.startswith("."):
        return eval(call, {}, names)  # noqa: S307 - our own hints
    for part in (
        thing,
        getattr(thing, "manifests", None),
        getattr(thing, "footer", None),
        getattr(thing, "changes", None),
    ):
        try:
            return eval(f"part{call}", {}, {"part": part})  # noqa: S307
        except (AttributeError, KeyError, TypeError):
            continue
    raise AssertionError(f"{call!r} of {type(thing).__name__} leads nowhere")


def test_index_files_of_a_diff_have_a_card() -> None:
    from lakelens.model.comparison import IndexChanges

    found = IndexFile("HASH", "/t/index/index-1", "index-1", 20, 2)
    assert "1 added, 0 removed" in render_text(IndexChanges((found,), ()))
    assert repr(IndexChanges((found,), ())) == "<IndexChanges +1 -0 index files>"
