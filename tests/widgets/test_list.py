"""Lists as a widget, on the side of Python: pages, orders, filters, picks, and what goes to the browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import traitlets

import lakelens as ll
from lakelens.errors import LakeError
from lakelens.model.collections import Items, Preview, QueryResult, Rows
from lakelens.model.facts.facts import Fact
from lakelens.model.fileset import FileSet
from lakelens.model.scan.file_table import FileTable
from lakelens.model.warehouse.catalog import Catalog
from lakelens.options import display
from lakelens.views.render.html import render_card
from lakelens.widgets.list import ListWidget
from tests.support import LAKES, growth
from tests.support.fakes import FakeTable, list_objects
from tests.views.test_hostile import HOSTILE, cycle
from tests.widgets.test_filediff import walk

TABLES = [
    "spark/iceberg/v2-partition-evolution",
    "paimon-java/2.0.0-pk-rescale-bucket",
    "spark/iceberg/v3-merge-on-read",
]


class Things(Items[Any]):
    """Values of any kind under one column."""

    __slots__ = ()
    facts = (Fact("thing", "string", lambda thing: thing),)


@pytest.fixture(autouse=True)
def _strict() -> Iterator[None]:
    with display.using(strict_views=True):
        yield


def read_pages(widget: ListWidget) -> list[dict[str, Any]]:
    """The rows of all pages."""
    rows, start = [], 0
    while start < len(widget.positions):
        widget.start = start
        rows += widget.view["rows"]
        start += widget.page_size
    return rows


def read_column(widget: ListWidget, name: str) -> list[str]:
    """The text of a column on this page."""
    place = [column["key"] for column in widget.view["columns"]].index(name)
    return ["".join(piece[0] for piece in row["cells"][place]["pieces"]) for row in widget.view["rows"]]


@pytest.mark.parametrize("name", TABLES)
def test_each_file_is_on_one_page_under_its_position(name: str) -> None:
    files = ll.open(LAKES / name / "table").files
    widget = files.widget()
    widget.page_size = 3
    rows = read_pages(widget)
    assert [row["position"] for row in rows] == list(range(len(files)))
    assert len(files) > 3
    names = [column["name"] for column in widget.view["columns"]]
    for row in rows:
        text = {
            name: "".join(p[0] for p in cell["pieces"])
            for name, cell in zip(names, row["cells"], strict=True)
        }
        assert text["file"] == files[row["position"]].path.rsplit("/", 1)[-1]
        assert text["rows"].replace(",", "") == str(files[row["position"]].record_count)


@pytest.mark.parametrize("name", TABLES)
def test_files_are_sorted_by_what_they_have_not_by_its_text(name: str) -> None:
    files = ll.open(LAKES / name / "table").files
    widget = files.widget()
    columns = {
        "bytes": "size_bytes",
        "rows": "record_count",
        "sequence": "sequence_number",
        "bucket": "bucket",
        "level": "level",
    }
    shown = {column["key"] for column in widget.view["columns"]}
    for label, attribute in columns.items():
        values = [getattr(found, attribute) for found in files]
        if all(value is None for value in values):
            assert label not in shown
            continue
        known = [place for place, value in enumerate(values) if value is not None]
        unknown = [place for place, value in enumerate(values) if value is None]
        widget.order = label
        assert widget.positions == sorted(known, key=values.__getitem__) + unknown
        widget.order = f"-{label}"
        assert widget.positions == sorted(known, key=values.__getitem__, reverse=True) + unknown
    widget.order = "file"
    names = [files[place].path.rsplit("/", 1)[-1] for place in widget.positions]
    assert names == sorted(names)
    widget.order = ""
    assert list(widget.positions) == list(range(len(files)))


def test_values_of_any_kind_have_an_order_and_none_is_last() -> None:
    moments = [datetime(2026, 1, 2), date(2026, 1, 1), datetime(2026, 1, 3, tzinfo=UTC)]
    table = pa.table(
        {
            "n": [10, None, 9, 9],
            "t": ["b", "a", None, ""],
            "f": [float("nan"), 2.0, -1.0, 10.0],
            "l": [[2], [1], None, [1]],
        }
    )
    widget = QueryResult(table, "duckdb").widget()
    orders = {
        "n": [2, 3, 0, 1],
        "-n": [0, 2, 3, 1],
        "t": [3, 1, 0, 2],
        "f": [2, 1, 3, 0],
        "-f": [3, 1, 2, 0],
        "l": [1, 3, 0, 2],
    }
    for order, wanted in orders.items():
        widget.order = order
        assert list(widget.positions) == wanted, order
    widget = Things([9, Decimal("10.5"), None, "nine", True, *moments]).widget()
    widget.order = "thing"
    assert list(widget.positions) == [4, 0, 1, 6, 5, 7, 3, 2]


def test_columns_of_one_name_are_two() -> None:
    table = pa.Table.from_arrays([pa.array([1, 2]), pa.array([2, 1])], names=["a", "a"])
    widget = QueryResult(table, "duckdb").widget()
    assert [(c["key"], c["name"]) for c in widget.view["columns"]] == [("a", "a"), ("a 2", "a")]
    widget.order = "a 2"
    assert list(widget.positions) == [1, 0]


def test_a_filter_of_files_is_the_sql_of_where() -> None:
    files = ll.sample("iceberg").files
    widget = files.widget()
    widget.order, widget.filter = "-rows", "record_count > 1 AND content = 'data'"
    assert {found.path for found in widget._source.choose(widget.positions)} == {
        found.path for found in files.where("record_count > 1 AND content = 'data'")
    }
    counts = [files[place].record_count for place in widget.positions]
    assert counts == sorted(counts, reverse=True)
    assert widget.view["said"] == f"1 to {len(counts)} of {len(counts)}, filtered from {len(files)} files"
    widget.filter = ""
    assert len(widget.positions) == len(files)


def test_a_wrong_filter_is_said_and_changes_nothing() -> None:
    widget = ll.sample("iceberg").files.widget()
    widget.filter = "record_count > 1"
    kept = list(widget.positions)
    for wrong, words in (
        ("record_cont > 1", "did you mean record_count"),
        ("record_count >", "not a condition"),
        ("a; b", "not a condition"),
    ):
        widget.filter = wrong
        assert words in widget.view["trouble"]["words"], wrong
        assert list(widget.positions) == kept
    widget.filter = "record_count = 1"
    assert widget.view["trouble"]["words"] == ""


def test_a_wrong_part_of_a_filter_is_shown_in_its_place() -> None:
    widget = ll.sample("iceberg").files.widget()
    for wrong, place in (
        ("size_bytes > 1 AND record_cont > 1", ("size_bytes > 1 AND ", "record_cont", " > 1")),
        ("size_bytes = = 4", ("size_bytes = ", "=", " 4")),
    ):
        widget.filter = wrong
        trouble = widget.view["trouble"]
        assert (trouble["before"], trouble["wrong"], trouble["after"]) == place


def test_other_lists_are_filtered_by_words() -> None:
    table = ll.sample("iceberg")
    widget = table.snapshots.widget()
    wanted = table.snapshots[1]
    widget.filter = f"{wanted.operation.upper()} {wanted.id}"
    assert [table.snapshots[place] for place in widget.positions] == [wanted]
    widget.filter = "nothing has this"
    assert widget.view["rows"] == []
    assert widget.view["said"] == "none, filtered from 5 snapshots"
    widget = table.sql("SELECT path, record_count FROM files").widget()
    widget.filter = "parquet"
    assert widget.positions


def test_snapshots_are_the_newest_first_until_they_are_sorted() -> None:
    table = ll.sample("paimon")
    widget = table.snapshots.widget()
    ids = [str(snapshot.id) for snapshot in table.snapshots]
    assert read_column(widget, "snapshot") == [f"{ids[-1]}\nmain", *ids[-2::-1]]
    widget.order = "snapshot"
    assert read_column(widget, "snapshot") == [*ids[:-1], f"{ids[-1]}\nmain"]
    times = [snapshot.committed_at for snapshot in table.snapshots]
    widget.order = "-committed, UTC"
    assert [times[place] for place in widget.positions] == sorted(times, reverse=True)
    for order in ("rows ±", "live after"):
        widget.order = order
        read = [
            int(text.strip("≤ ").replace(",", "").replace("−", "-"))
            for text in read_column(widget, order)
            if "i" not in text
        ]
        assert read == sorted(read)
    widget.filter = "compact"
    assert 0 < len(widget.positions) < len(ids)
    widget.order = ""
    assert list(widget.positions) == sorted(widget.positions, reverse=True)


def test_every_list_of_a_table_has_one() -> None:
    table = ll.sample("iceberg-evolution")
    manifest = table.current.manifests[0]
    lists: list[Any] = [
        table.files, table.snapshots, table.refs, table.schemas, table.specs, table.sort_orders, table.metadata_log,
        table.findings, table.current.manifests, table.current.manifest_lists, manifest.entries,
        manifest.partition_summary, table.sql("SELECT * FROM snapshots"), table.files[0].preview(), table.space().slices,
    ]  # fmt: skip
    for thing in lists:
        widget = thing.widget()
        assert len(widget.positions) == len(thing), thing
        for column in widget.view["columns"]:
            if column["name"]:
                widget.order = column["key"]
        if len(thing):
            widget.selected = [len(thing) - 1]
            assert widget.detail["html"].startswith("<div")
        json.dumps(widget._shown)


def test_what_is_chosen_is_a_list_in_python() -> None:
    table = ll.sample("iceberg")
    widget = table.files.widget()
    assert (len(widget.chosen), widget.detail["words"]) == (0, "")
    widget.selected = [3, 1]
    assert isinstance(widget.chosen, FileSet)
    assert [found.path for found in widget.chosen] == [table.files[3].path, table.files[1].path]
    assert widget.detail["code"] == "files[1]"
    assert widget.detail["words"] == "2 files chosen; below is the last"
    assert table.files[1].path.rsplit("/", 1)[1][:12] in widget.detail["html"].replace("<wbr>", "")
    widget.select(4)
    assert widget.selected == [4]
    widget.select(None)
    assert widget.selected == []
    snapshots = table.snapshots.widget()
    snapshots.selected = [2]
    assert snapshots.chosen[0] is table.snapshots[2]
    assert eval(snapshots.detail["code"], {"snapshots": table.snapshots}) is table.snapshots[2]  # noqa: S307
    result = table.sql("SELECT path, record_count AS n FROM files ORDER BY path")
    rows = result.widget()
    rows.selected = [5, 0]
    assert list(rows.chosen) == [result[5], result[0]]
    assert f"<code>{result[0][1]}</code>" in rows.detail["html"]
    preview = Preview(pa.table({"id": [7, 8]})).widget()
    preview.select(1)
    assert preview.chosen == pa.table({"id": [8]})


def test_what_is_no_pick_is_refused() -> None:
    files = ll.sample("iceberg").files
    widget = files.widget()
    for name, wrong in (
        ("selected", [7]), ("selected", [-1]), ("selected", ["1"]), ("order", "color"), ("order", "-"), ("order", "bytes|x"),
        ("filter", "x" * 2_001), ("page_size", 0), ("page_size", 1_000), ("start", "1"),
    ):  # fmt: skip
        before = getattr(widget, name)
        with pytest.raises(traitlets.TraitError):
            setattr(widget, name, wrong)
        assert getattr(widget, name) == before
    for start, wanted in ((-5, 0), (10**9, 6)):
        widget.start = start
        assert widget.start == wanted
    with pytest.raises(TypeError):
        files.widget(theme="dark")  # type: ignore[call-arg]


def test_100000_rows_are_read_by_column_and_only_a_page_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = ll.open(growth.grow_iceberg(tmp_path / "table", files=12_000, manifests=40))
    made: list[int] = []
    make = FileTable.make
    monkeypatch.setattr(FileTable, "make", lambda of, number: made.append(number) or make(of, number))
    iterate = FileTable.iterate
    monkeypatch.setattr(
        FileTable, "iterate", lambda of, numbers: (made.extend(numbers.tolist()), iterate(of, numbers))[1]
    )
    widget = table.files.widget()
    for order in ("-bytes", "file", "partition"):
        widget.order = order
    widget.filter = "size_bytes > 1"
    widget.start = 11_980
    assert widget.view["said"] == "11,981 to 12,000 of 12,000 files" or len(table.files) != 12_000
    assert 0 < len(made) <= 20 * 8, len(made)
    assert len(json.dumps(widget.view)) < 65_536


def test_a_place_without_widgets_shows_the_static_card() -> None:
    files = ll.sample("iceberg").files
    bundle = files.widget()._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["text/html"] == render_card(files)
    assert "<ListWidget of 7 files>" in data["text/plain"]


def test_hosts_are_told_the_picks_alone() -> None:
    widget = ll.sample("iceberg").files.widget()
    own = {name for name in widget.traits(sync=True) if not name.startswith("_")}
    assert {"selected", "order", "filter", "start", "page_size"} <= own
    assert "view" not in own
    assert "detail" not in own


def test_what_comes_from_a_lake_is_made_visible() -> None:
    things = [
        one
        for one in list_objects(FakeTable(cycle()))
        if isinstance(one, FileSet | Items | Rows)
        and not isinstance(one, Catalog)  # of tables that nobody can open
    ]
    things.append(
        QueryResult(
            pa.table(
                {f"<b>{n}": [word.encode("utf-8", "replace").decode()] for n, word in enumerate(HOSTILE)}
            ),
            "duckdb",
        )
    )
    assert len(things) > 10
    for thing in things:
        widget = thing.widget()
        if len(thing):
            widget.selected = [0]
        widget.filter = "<script>alert(1)</script>\x1b"
        for text in walk({**widget.view, "keys": ""}):
            assert text.isprintable() or text == "\n", repr(text)
            assert len(text) < 2_000
        html = widget.detail["html"]
        assert "<script" not in html
        assert "onerror" not in html or "&lt;img" in html


def test_a_row_that_cannot_be_drawn_says_why() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise LakeError("cut short")

    with display.using(strict_views=False):
        widget = Things([1, Broken()][:1]).widget()
        widget.selected = [0]
    assert widget.detail["words"].startswith("1 item chosen")
