"""Documents in words: times as times and never clipped, ids clipped by CSS alone, items of lists counted and named."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest
from rich.console import Console

import lakelens as ll
from lakelens.analysis.diff.documents import JsonChange, JsonChanges, diff_json, join_neighbours
from lakelens.model.collections import Document
from lakelens.views.card.model import Grid
from lakelens.views.cards.diff import grid_json
from lakelens.views.present import present
from lakelens.views.render.html import render_card
from lakelens.views.render.terminal import print_on
from lakelens.views.render.text import render_text
from tests.support import LAKES

CLIPPED = re.compile(r'<span class="ll-id">([^<]*)</span>')


def open_iceberg(name: str) -> Any:
    return ll.open(LAKES / "spark/iceberg" / name / "table")


def open_paimon(name: str) -> Any:
    return ll.open(LAKES / "spark/paimon" / name / "table")


def read_lines(changes: JsonChanges) -> dict[str, tuple[str, str]]:
    grid = grid_json(changes)
    assert isinstance(grid, Grid)
    return {path.text: (before.text, after.text) for path, before, after in grid.rows}


def test_times_are_times_and_only_ids_are_clipped() -> None:
    table = open_iceberg("v2-branches-and-tags")
    diff = table.diff(table.snapshots[0], table.current)
    old, new = (json.loads(document) for document in map(read, diff.documents))
    before, after = read_lines(diff.metadata)["last-updated-ms"]
    assert before.split(" ", 1)[0] == str(old["last-updated-ms"]) != after.split(" ", 1)[0]
    assert re.fullmatch(r"\d{13} 2026-11-\d\d \d\d:\d\d:\d\d\.\d{3}", after)
    markup = render_card(diff, 3)
    clipped = set(CLIPPED.findall(markup))
    assert str(new["current-snapshot-id"]) in clipped
    assert not {str(old["last-updated-ms"]), str(new["last-updated-ms"])} & clipped
    assert f"<code>{new['last-updated-ms']}</code> <small>2026-11-" in markup
    console = Console(width=80, file=io.StringIO(), record=True)
    print_on(console, diff, 3)
    assert f"{new['last-updated-ms']} 2026-11-" in re.sub(r"\s+", " ", console.export_text())


def read(path: str | None) -> str:
    assert path is not None
    with open(path) as file:  # noqa: PTH123
        return file.read()


def test_lists_of_the_document_are_said_in_words() -> None:
    table = open_iceberg("v2-branches-and-tags")
    lines = read_lines(table.diff(table.snapshots[0], table.current).metadata)
    audit = table.refs["audit"].snapshot_id
    assert lines["snapshots[1…3]"] == ("absent", "3 snapshots, 1 of them on audit")
    assert lines["metadata-log[1…7]"] == ("absent", "7 entries")
    assert lines["refs.audit"] == ("absent", f"branch at {audit}")
    assert max(len(text) for line in lines.items() for text in (line[0], *line[1])) < 80
    evolved = open_iceberg("v2-partition-evolution")
    first, last = evolved.snapshots[0], evolved.current
    assert read_lines(evolved.diff(first, last).metadata)["partition-specs[1…5]"][1] == "specs 1 to 5"
    one = evolved.diff(first, evolved.snapshots[1])
    # by the names in that document: `p` was called `part` later
    assert read_lines(one.metadata)["partition-specs[1]"][1] == "spec 1: p, bucket[4](id)"
    assert str(evolved.specs[1].fields[0]) == "part"


def test_one_item_and_removed_items_have_words_too() -> None:
    table = open_iceberg("v2-expired")
    diff = table.diff(table.snapshots[-2], table.current)
    newest = table.snapshots[-1]
    forward, back = read_lines(diff.metadata), read_lines(diff_json(*diff.metadata.documents[::-1]))
    (name,) = (path for path in forward if path.startswith("snapshots["))
    assert forward[name][1].startswith(f"snapshot {newest.id}, {newest.operation}")
    # turned round, and as plain documents whose format nobody knows: counted, but never taken for what they are not
    assert back[name][1] == "absent" and back[name][0].startswith("{")


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({"a": []}, {"a": [1, 2, 3]}, {"a[0…2]": ("absent", "3 items")}),
        ({"a": [1, 2, 3]}, {"a": [1]}, {"a[1…2]": ("2 items", "absent")}),
        ({"a": [{"id": 1}, {"id": 3}]}, {"a": [{"id": 2}, {"id": 3}, {"id": 4}]}, {
            "a[0]": ("{\"id\": 1}", "absent"), "a[2]": ("absent", '{"id": 4}'),
        }),
        ({"last-updated-ms": 1795269207051}, {"last-updated-ms": 1795269207565}, {
            "last-updated-ms": ("1795269207051", "1795269207565"),
        }),
        (1, 2, {"$": ("1", "2")}),
    ],
)  # fmt: skip
def test_documents_of_no_known_format(before: Any, after: Any, lines: dict[str, tuple[str, str]]) -> None:
    shown = read_lines(ll.diff_json(before, after))
    assert shown.items() >= lines.items()
    assert not CLIPPED.findall(render_card(ll.diff_json(before, after)))


def test_what_a_user_calls_a_key_is_no_time() -> None:
    table = open_iceberg("v2-basic")
    old = Document({"properties": {"timestamp-ms": 1795269207051}}, "metadata", table.vocabulary)
    new = Document({"properties": {"timestamp-ms": 1795269207565}}, "metadata", table.vocabulary)
    assert read_lines(diff_json(old, new)) == {
        "properties.timestamp-ms": ("1795269207051", "1795269207565"),
    }


def test_documents_of_paimon() -> None:
    table = open_paimon("pk-compacted")
    lines = read_lines(table.diff(table.snapshots[0], table.current).metadata)
    assert re.fullmatch(r"\d{13} \d{4}-\d\d-\d\d .*", lines["timeMillis"][1])
    shown = render_text(table.current.raw, 1)
    assert "9223372036854775807 a batch write" in shown
    assert "-9223372036854775808 none" in shown or "watermark" not in table.current.raw


def test_changes_have_a_card_and_a_table() -> None:
    changes = ll.diff_json({"a": 1, "b": [1]}, {"a": 2, "b": [1, 2, 3]})
    assert present(changes).sentence == "2 places of the documents differ" and len(changes) == 3
    assert changes.to_arrow().to_pylist()[0] == {
        "path": "$.a",
        "kind": "changed",
        "before": "1",
        "after": "2",
    }
    assert isinstance(changes[1:], JsonChanges) and changes[1:].documents == changes.documents
    assert "before  1" in render_text(changes[0]) and present(changes[1]).sentence == "$.b[1] added"
    assert join_neighbours([JsonChange("$.a", "added", None, 1)])[0].path == "a"


def test_numbers_of_a_column_are_never_clipped_like_ids() -> None:
    from lakelens.views.card import cells

    markup = render_card(ll.diff_json({"sold": [1795269207051]}, {"sold": [1795269207052]}))
    assert "<code>1795269207051</code>" in markup
    for number in (1795269207051, "1795269207051", [1795269207051, 2], {"a": -1795269207051}):
        assert cells.value(number).role == "exact"
    assert cells.value("data/1795269207051.parquet").role == "code"
