"""The files of a diff as a widget, on the side of Python: what it gives to the browser and takes from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import Any

import html5lib
import pytest
import traitlets

import lakelens as ll
from lakelens.analysis.diff.diff import Diff
from lakelens.errors import Corrupt
from lakelens.model.fileset import FileColumns, FileList, FileSet
from lakelens.options import display
from lakelens.views.render.html import render_card
from lakelens.widgets.filediff import DiffGroup, FileDiffWidget, Item, Order, filter_items, list_items
from tests.browser.host import ask
from tests.support import LAKES, growth
from tests.views.test_hostile import HOSTILE

RESCALED = "paimon-java/2.0.0-pk-rescale-bucket"
MERGED = "spark/iceberg/v3-merge-on-read"
RAISED = "paimon-java/2.0.0-pk-level-upgrade"


def make_diff(name: str = RESCALED) -> Diff:
    table = ll.open(LAKES / name / "table")
    return table.diff(table.snapshots[0], table.snapshots[-1])


def make_large(count: int = 100_000) -> Diff:
    """A diff that adds one file of a real table many times, each under a name of its own, in three buckets."""
    diff = make_diff()
    made: dict[Any, Any] = {}
    for number in range(count):
        found = copy(diff.added[0]) if not number else copy(made[0])
        found.__dict__ |= {"path": f"/lake/f-{number:06}.parquet", "bucket": number % 3}
        made[number] = found
    listed = FileList((), FileColumns)
    listed._files = made
    diff.added = FileSet(tuple, FileColumns, choose=lambda: listed)
    return diff


@pytest.fixture(autouse=True)
def _strict() -> Iterator[None]:
    with display.using(strict_views=True):
        yield


def walk(held: Any) -> Iterator[str]:
    if isinstance(held, str):
        yield held
    elif isinstance(held, dict):
        for inner in held.values():
            yield from walk(inner)
    elif isinstance(held, list | tuple):
        for inner in held:
            yield from walk(inner)


def open_all(widget: FileDiffWidget) -> list[Any]:
    """Every row, folds opened and rests asked for."""

    def expand(rows: list[Any]) -> Iterator[Any]:
        for row in rows:
            if row["kind"] == "end":
                raise AssertionError("too many to show")
            if row["kind"] != "more":
                yield row
            if row["kind"] == "more" or (row["kind"] == "group" and not row["open"]):
                (answer,) = ask(widget, {"type": "open", "id": row["id"], "version": widget.view["version"]})
                assert answer["message"] == ""
                yield from expand(answer["rows"])

    return list(expand(widget.view["rows"]))


def list_keys(rows: list[Any]) -> list[str]:
    return [file["key"] for row in rows for file in row.get("files", ()) if file is not None]


def word_label(row: Any) -> str:
    return "".join(text for text, _ in row["label"])


@pytest.mark.parametrize("name", [RESCALED, MERGED, RAISED, "spark/iceberg/v2-copy-on-write"])
def test_every_file_is_shown_once_on_its_side(name: str) -> None:
    diff = make_diff(name)
    widget = diff.widget()
    keys = list_keys(open_all(widget))
    assert sorted(keys) == sorted(
        [f"added/{n}" for n in range(len(diff.added))] + [f"removed/{n}" for n in range(len(diff.removed))]
    )
    widget.kept = True
    keys = list_keys(open_all(widget))
    assert len(keys) == len(set(keys)) == len(diff.added) + len(diff.removed) + len(diff.kept)


def test_groups_are_partition_bucket_and_level() -> None:
    widget = make_diff().widget()
    rows = [row for row in open_all(widget) if row["kind"] == "group"]
    assert [(row["depth"], word_label(row)) for row in rows][:5] == [
        (0, "p=a"),
        (1, "bucket 0"),
        (2, "level 0"),
        (2, "level 5"),
        (1, "bucket 2"),
    ]
    assert widget.view["groups"] == "partition, bucket, level"


@pytest.mark.parametrize("name", [RESCALED, MERGED, "spark/iceberg/v2-partition-evolution"])
def test_sums_of_groups_are_those_of_the_diff(name: str) -> None:
    diff = make_diff(name)
    dimensions, items = list_items({"removed": diff.removed, "added": diff.added})
    found = {str(group.place[0]): group.sums for group in DiffGroup(items, dimensions).children}
    assert {
        partition: (
            sums["added"].files,
            sums["removed"].files,
            sums["added"].rows,
            sums["removed"].rows,
            sums["added"].bytes,
            sums["removed"].bytes,
        )
        for partition, sums in found.items()
    } == {
        c.partition: (
            c.added_files,
            c.removed_files,
            c.added_rows,
            c.removed_rows,
            c.added_bytes,
            c.removed_bytes,
        )
        for c in diff.by_partition
    }


def test_what_the_browser_chooses_is_a_file_in_python() -> None:
    diff = make_diff()
    widget = diff.widget()
    assert widget.file is None
    assert widget.detail["html"] == ""
    widget.selected = "added/3"
    assert widget.file is diff.added[3]
    assert widget.detail["code"] == "diff.added[3]"
    assert diff.added[3].path.rsplit("/", 1)[1][:12] in widget.detail["html"].replace("<wbr>", "")
    widget.select(diff.removed[0])
    assert widget.selected == "removed/0"
    widget.select(diff.added[1].path)
    assert widget.file is diff.added[1]
    widget.select(diff.added[2].recorded_path)
    assert widget.file is diff.added[2]
    widget.select(None)
    assert widget.detail["of"] == ""
    with pytest.raises(KeyError):
        widget.select("no/such/file")


@pytest.mark.parametrize(
    "key",
    ["added", "added/", "added/99", "added/-1", "added/1_0", "added/²", "files/0", "removed/x", "_items/0"],
)
def test_what_is_no_file_is_refused(key: str) -> None:
    widget = make_diff().widget()
    with pytest.raises(traitlets.TraitError):
        widget.selected = key
    assert widget.selected == ""


def test_unknown_arguments_and_orders_are_refused() -> None:
    with pytest.raises(TypeError):
        make_diff().widget(theme="dark")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        FileDiffWidget(make_diff(), theme="dark")  # type: ignore[call-arg]
    widget = make_diff().widget()
    with pytest.raises(traitlets.TraitError):
        widget.order = "color"
    with pytest.raises(traitlets.TraitError):
        widget.filter = "x" * 201


def test_filters_hold_every_word() -> None:
    diff = make_diff()
    widget = diff.widget()
    widget.filter = "P=A bucket=0"
    keys = list_keys(open_all(widget))
    wanted = [
        f"{side}/{index}"
        for side, files in (("added", diff.added), ("removed", diff.removed))
        for index, file in enumerate(files)
        if str(file.partition) == "p=a" and file.bucket == 0
    ]
    assert sorted(keys) == sorted(wanted)
    assert 0 < len(wanted) < len(diff.added) + len(diff.removed)
    assert widget.view["said"] == "2 of 6 files"
    widget.filter = "nothing has this name"
    assert widget.view["rows"] == []
    widget.filter = ""
    assert widget.view["said"] == "6 files"


def test_order_is_by_size_rows_or_name() -> None:
    diff = make_diff()
    _, items = list_items({"removed": diff.removed, "added": diff.added})
    whole = DiffGroup(items, ())
    tells: dict[Order, Callable[[Item], Any]] = {
        "size": lambda item: -(item.size or 0),
        "rows": lambda item: -(item.rows or 0),
        "name": lambda item: item.name,
    }
    for one, tell in tells.items():
        added = [came for _, came, _ in whole.sort_lines(one) if came is not None]
        assert [tell(item) for item in added] == sorted(tell(item) for item in added)
        assert len(added) == 5
    widget = diff.widget()
    labels = {}
    for order in ("size", "name"):
        widget.order = order
        rows = open_all(widget)
        labels[order] = [word_label(r) for r in rows if r["kind"] == "group" and r["depth"] == 1][:3]
    assert labels == {
        "size": ["bucket 0", "bucket 2", "bucket 1"],
        "name": ["bucket 0", "bucket 1", "bucket 2"],
    }


def test_numbers_are_sorted_as_numbers() -> None:
    diff = make_diff()
    _, items = list_items({"added": diff.added})
    groups = [DiffGroup(items[:1], ("bucket",), (step,)) for step in (10, 9, None)]
    parent = DiffGroup(items, ("bucket",))
    parent.__dict__["children"] = groups
    assert [group.place[0] for group in parent.sort_children("name")] == [None, 9, 10]


def test_raised_files_say_so_on_both_sides() -> None:
    table = ll.open(LAKES / RAISED / "table")
    rows = open_all(table.diff(table.snapshots[0], table.snapshots[1]).widget())
    notes = {file["side"]: file["note"] for row in rows for file in row.get("files", ()) if file}
    assert notes == {"removed": "now at level 3", "added": "was at level 0"}


def test_kept_files_are_not_read_before_they_are_asked_for(tmp_path: Path) -> None:
    table = ll.open(growth.grow_iceberg(tmp_path / "table", files=3_000, snapshots=1, appended=10))
    diff = table.diff(table.snapshots[-2], table.snapshots[-1])
    widget = diff.widget()
    assert not diff.kept.is_loaded
    assert all(row["kind"] != "kept" for row in open_all(widget))
    widget.kept = True
    assert diff.kept.is_loaded
    kept = [row for row in open_all(widget) if row["kind"] == "kept"]
    assert len(kept) == len(diff.kept) > 3_000
    widget.selected = kept[0]["files"][0]["key"]
    assert widget.file in diff.kept


def test_kept_files_that_cannot_be_read_are_told() -> None:
    def fail() -> list[Any]:
        raise Corrupt("cut short", offset=7)

    diff = make_diff()
    widget = diff.widget()
    diff.kept = FileSet(fail, FileColumns)
    widget.kept = True
    assert "cut short" in widget.view["message"]
    assert len(list_keys(open_all(widget))) == 6
    widget.kept = False
    assert widget.view["message"] == ""


@pytest.mark.exhaustive
def test_100000_files_are_small_json() -> None:
    large = make_large()
    widget = large.widget()
    for order in ("size", "rows", "name"):
        widget.order = order
        assert len(json.dumps(widget.view)) < 65_536
    assert widget.view["said"] == "100,001 files"
    version = widget.view["version"]
    group = next(row for row in widget.view["rows"] if word_label(row) == "bucket 1")
    (answer,) = ask(widget, {"type": "open", "id": group["id"], "version": version})
    (group,) = [row for row in answer["rows"] if row["kind"] == "group"]
    (answer,) = ask(widget, {"type": "open", "id": group["id"], "version": version})
    assert len(json.dumps(answer)) < 65_536
    total = 0
    while answer["rows"] and answer["rows"][-1]["kind"] == "more":
        assert len(answer["rows"]) == 101
        total += 100
        more = answer["rows"][-1]
        (answer,) = ask(widget, {"type": "open", "id": more["id"], "version": version})
    assert answer["rows"][-1]["kind"] == "end", "one fold is bounded"
    assert "filter to find one" in answer["rows"][-1]["text"]
    assert total >= 2_900
    name = large.added[77_777].path.rsplit("/", 1)[1]
    widget.filter = name
    assert list_keys(open_all(widget)) == ["added/77777"]


def test_files_of_a_large_table_are_not_made_to_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of 100,000 files was an object of many attributes; now it is a row of columns until it is chosen."""
    table = ll.open(growth.grow_iceberg(tmp_path / "table", files=3_000))
    diff = table.diff(None, table.current)
    made: list[str] = []
    assert diff.added.rows is not None, "enough of them to be read by column"
    monkeypatch.setattr(type(diff.added.rows), "make", lambda rows, number: made.append(str(number)))
    widget = diff.widget()
    widget.order = "rows"
    widget.filter = "parquet"
    assert made == []
    assert int(widget.view["said"].split()[0].replace(",", "")) == len(diff.added)


@pytest.mark.parametrize(
    "content",
    [None, "open", {}, {"type": "open"}, {"type": "open", "id": 7}, {"type": "close", "id": "g1"}, [1]],
)
def test_messages_of_another_kind_are_ignored(content: Any) -> None:
    assert ask(make_diff().widget(), content) == []


def test_stale_and_unknown_folds_are_answered_in_words() -> None:
    widget = make_diff().widget()
    version = widget.view["version"]
    row = widget.view["rows"][0]
    for content in (
        {"type": "open", "id": "g999", "version": version},
        {"type": "open", "id": row["id"], "version": version - 1},
        {"type": "open", "id": row["id"]},
    ):
        (answer,) = ask(widget, content)
        assert (answer["rows"], answer["message"]) == ([], "this fold is no longer shown")
    (answer,) = ask(widget, {"type": "open", "id": row["id"], "version": version})
    assert answer["rows"]
    widget.order = "name"
    assert widget.view["rows"][0]["id"] == row["id"], "a group keeps its id"


def test_a_place_without_widgets_shows_the_static_card() -> None:
    diff = make_diff()
    bundle = diff.widget()._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["text/html"] == render_card(diff)
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "<FileDiffWidget +5 -1 files>" in data["text/plain"]
    html5lib.HTMLParser(strict=True).parseFragment(data["text/html"])


def test_what_comes_from_a_lake_is_made_visible() -> None:
    diff = make_diff()
    files = list(diff.added)
    _, items = list_items({"added": files})
    for word in HOSTILE:
        for file in files:
            file.__dict__["path"] = f"/lake/{word}"
        widget = FileDiffWidget(diff)
        rows = [*walk(widget.view), *walk(open_all(widget))]
        for text in rows:
            assert text.isprintable(), repr(text)
            assert len(text) < 2000
    assert items
    assert filter_items(items, "\ud800") == []


def test_no_change_is_said() -> None:
    table = ll.open(LAKES / MERGED / "table")
    widget = table.diff(table.current, table.current).widget()
    assert widget.view["said"] == "no file was added or removed"
    assert widget.view["rows"] == []
