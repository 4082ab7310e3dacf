"""The timeline on the side of Python: what it gives to the browser, what it takes from it, what a choice stands for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import html5lib
import pytest
import traitlets

import lakelens as ll
from lakelens.display import Interactive
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.render.html import common_style
from lakelens.widgets.timeline import TimelineWidget
from tests.support import LAKES, growth
from tests.views.test_hostile import HOSTILE


def open_table(name: str = "spark/iceberg/v2-rollback") -> Table:
    return ll.open(LAKES / name / "table")


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """A table of 10,000 snapshots."""
    return ll.open(growth.grow_iceberg(tmp_path_factory.mktemp("long") / "table", snapshots=10_000))


@pytest.fixture(autouse=True)
def _strict() -> Iterator[None]:
    with display.using(strict_views=True):
        yield


def ask(widget: TimelineWidget, content: Any) -> None:
    widget._handle_custom_msg(content, [])


def read_facts(markup: str) -> dict[str, tuple[str, str]]:
    """Label to value and small print."""
    tree = html5lib.parseFragment(markup, namespaceHTMLElements=False)
    found = {}
    for cell in tree.iter("td"):
        small = cell.find("small")
        label = "".join(cell.find("span").itertext())
        found[label] = (
            "".join(cell.find("b").itertext()),
            "" if small is None else "".join(small.itertext()),
        )
    return found


def walk_texts(held: Any) -> Iterator[str]:
    if isinstance(held, str):
        yield held
    elif isinstance(held, dict):
        for inner in held.values():
            yield from walk_texts(inner)
    elif isinstance(held, list | tuple):
        for inner in held:
            yield from walk_texts(inner)


def test_a_snapshot_that_is_chosen_comes_back() -> None:
    table = open_table()
    widget = table.timeline()
    assert (widget.snapshot, widget.diff) == (table.snapshots[-1], None), "the newest"
    widget.selected = None
    assert (widget.snapshot, widget.diff, widget.detail["html"]) == (None, None, "")
    chosen = table.snapshots[1]
    widget.selected = str(chosen.id)
    assert widget.snapshot is chosen
    assert widget.detail["of"] == [str(chosen.id)]
    assert (widget.detail["from"], widget.detail["to"]) == (1, 1)
    assert widget.detail["code"] == f"table.snapshot({chosen.id})"
    assert "rolled back" in widget.detail["words"]
    assert str(chosen.id) in widget.detail["words"]
    assert "<details" not in widget.detail["html"], "five facts, not the whole card"
    ask(widget, {"type": "card"})
    assert "<details" in widget.detail["html"]
    assert "Manifests" in widget.detail["html"]
    ask(widget, {"type": "card"})
    assert "<details" not in widget.detail["html"]


@pytest.mark.parametrize(
    "name", ["spark/iceberg/v2-rollback", "paimon-java/2.0.0-branches", "spark/paimon/tags"]
)
def test_the_facts_are_those_of_the_snapshot(name: str) -> None:
    """Held against the snapshot's own figures, of every mark and from the first to each."""
    table = open_table(name)
    widget = table.timeline()
    marks = table.history.marks
    for mark in marks:
        widget.selected = mark.key
        shown = read_facts(widget.detail["html"])
        snapshot = mark.snapshot
        assert shown["committed, UTC"][0].startswith(f"{snapshot.committed_at:%Y-%m-%d %H:%M:%S}")
        if snapshot.figures.added_rows:
            assert (
                f"+{snapshot.figures.added_rows:,}" in shown[next(n for n in shown if n.endswith("rows"))][1]
            )
        assert shown["schema"][0] == str(snapshot.schema_id)
    first, last = marks[0].snapshot, marks[-1].snapshot
    widget.range = [first, last]
    shown = read_facts(widget.detail["html"])
    same = first.schema_id == last.schema_id
    assert shown["schema"][0] == ("same" if same else f"{first.schema_id} became {last.schema_id}")
    if first.figures.files is not None:
        assert shown["files"][1] == f"{first.figures.files:,} became {last.figures.files:,}"


def test_no_manifest_is_read_for_the_facts() -> None:
    """Arrow keys and a dragged range go through the history as fast as it is drawn."""
    table = open_table("spark/iceberg/v3-merge-on-read")
    widget = table.timeline()
    for mark in table.history.marks:
        widget.selected = mark.key
        widget.range = [table.history.marks[0].key, mark.key]
    assert table.reads.paths
    assert all(path.endswith(".metadata.json") for path in table.reads.paths)


def test_two_that_are_chosen_come_back_as_a_diff() -> None:
    table = open_table()
    widget = table.timeline()
    first, *_, last = table.snapshots
    widget.selected = str(first.id)
    widget.range = [str(last.id), str(first.id)]
    assert widget.range == [str(first.id), str(last.id)], "the older one is the one before"
    assert (widget.selected, widget.snapshot) == ("", None)
    assert widget.diff is not None
    assert (widget.diff.before.id, widget.diff.after.id) == (first.id, last.id)
    assert widget.diff is widget.diff
    assert [f.path for f in widget.diff.added] == [f.path for f in table.diff(first, last).added]
    assert widget.detail["words"].startswith("1 snapshot on main")
    assert widget.detail["dim"] == [[1, 1], [2, 1]], "the diff does not follow what was rolled back"
    widget.selected = str(last.id)
    assert (widget.range, widget.diff) == ([], None)


def test_snapshots_of_different_lanes_are_compared_as_they_are() -> None:
    table = open_table()
    widget = table.timeline()
    widget.range = [str(table.snapshots[2].id), str(table.snapshots[3].id)]
    assert widget.detail["words"] == "They are on rolled back and main: their files are compared as they are."
    assert widget.detail["dim"] == []


def test_a_paimon_branch_has_numbers_of_its_own() -> None:
    table: Any = open_table("paimon-java/2.0.0-branches")
    widget = table.timeline()
    widget.selected = "worked/3"
    assert widget.snapshot is table.branch("worked").snapshot(3)
    assert widget.detail["code"] == "table.branch('worked').snapshot(3)"
    widget.range = ["2", "worked/4"]
    assert widget.diff.after is table.branch("worked").snapshot(4)
    assert widget.detail["words"].startswith("2 snapshots on worked")


@pytest.mark.parametrize("value", ["nope", "7", "worked/9"])
def test_what_is_no_snapshot_is_refused(value: str) -> None:
    widget = open_table().timeline()
    with pytest.raises(traitlets.TraitError):
        widget.selected = value
    with pytest.raises(traitlets.TraitError):
        widget.range = [value, value]
    with pytest.raises(traitlets.TraitError):
        widget.range = [widget.view["items"][0]["first"]]
    assert (widget.selected, widget.range) == (widget.view["items"][-1]["last"], [])


def test_whatever_stands_for_a_snapshot_can_be_set() -> None:
    """`w.selected = snapshot.id` was refused: a string is wanted, it said."""
    table: Any = open_table("paimon-java/2.0.0-branches")
    widget = table.timeline()
    worked = table.branch("worked").snapshot(3)
    for wanted, key in (
        (table.snapshots[0], str(table.snapshots[0].id)),
        (table.snapshots[0].id, str(table.snapshots[0].id)),
        (worked, "worked/3"),
        ("main", str(table.current.id)),
        *((tag.name, str(tag.snapshot_id)) for tag in table.refs.tags),
        (None, ""),
    ):
        widget.selected = wanted
        assert widget.selected == key
    assert worked in (worked, widget.snapshot)
    widget.range = [table.snapshots[0], worked]
    assert widget.range == [str(table.snapshots[0].id), "worked/3"]
    assert widget.diff.after is worked
    with pytest.raises(
        traitlets.TraitError, match=r"did you mean main.*an id, a Snapshot, the name of a branch"
    ):
        widget.selected = "mian"
    for wrong in (True, 1.5, 10**9, ll.sample("iceberg").current):
        with pytest.raises(traitlets.TraitError, match="no snapshot"):
            widget.selected = wrong
    with pytest.raises(traitlets.TraitError, match="two snapshots"):
        widget.range = ["main", None]


def test_unknown_arguments_are_refused() -> None:
    table: Any = open_table()
    with pytest.raises(TypeError):
        table.timeline(theme="dark")
    with pytest.raises(ValueError, match="'time' or 'even'"):
        table.timeline(spacing="log")
    history = table.history
    assert isinstance(history, Interactive)
    with pytest.raises(TypeError):
        TimelineWidget(table.history, theme="dark")  # type: ignore[call-arg]


@pytest.mark.parametrize("spacing", ["time", "even"])
def test_10000_snapshots_are_few_items_in_small_json(long: Table, spacing: str) -> None:
    widget = long.timeline(spacing="even" if spacing == "even" else "time")
    text = json.dumps(widget.view)
    assert json.loads(text)["items"] == widget.view["items"]
    assert len(text) < 65_536
    assert sum(item["count"] for item in widget.view["items"]) == len(long.snapshots)
    assert len(widget.view["items"]) <= 60
    assert all(isinstance(item["first"], str) for item in widget.view["items"])


def test_folds_open_and_close(long: Table) -> None:
    widget = long.timeline()
    before = widget.view
    ask(widget, {"type": "open", "item": 2})
    fold = before["items"][2]
    items = widget.view["items"]
    assert (items[0]["first"], items[-1]["last"]) == (fold["first"], fold["last"])
    assert sum(item["count"] for item in items) == fold["count"]
    assert widget.view["back"] == "back"
    while any(item["count"] > 1 for item in widget.view["items"]):
        ask(widget, {"type": "open", "item": 0})
        assert sum(item["count"] for item in widget.view["items"]) < fold["count"]
    while widget.view["back"]:
        ask(widget, {"type": "close"})
    assert widget.view == {**before, "focus": 2}


def test_a_choice_outside_of_the_window_is_kept(long: Table) -> None:
    widget = long.timeline()
    last = str(long.snapshots[-1].id)
    widget.selected = last
    ask(widget, {"type": "open", "item": 0})
    assert (widget.detail["from"], widget.detail["of"]) == (-1, [last])
    ask(widget, {"type": "close"})
    assert widget.detail["from"] == len(widget.view["items"]) - 1


@pytest.mark.parametrize(
    "content",
    [None, "open", {}, {"type": "open"}, {"type": "open", "item": "0"}, {"type": "open", "item": True}]
    + [{"type": "open", "item": number} for number in (-1, 0, 10**9)]
    + [{"type": "close"}, [1]],
)
def test_messages_of_another_kind_are_ignored(content: Any) -> None:
    widget = open_table().timeline()
    before = widget.view
    ask(widget, content)
    assert widget.view == before


def test_a_diff_that_fails_is_told_in_words() -> None:
    table = open_table()
    widget = table.timeline()

    class Broken(type(table)):  # type: ignore[misc]
        def diff(self, *_: Any) -> Any:
            raise OSError("the disk is gone")

    table.__class__ = Broken
    keys = [str(snapshot.id) for snapshot in table.snapshots]
    with display.using(strict_views=False):
        widget.range = keys[:2]
        assert "OSError" not in widget.detail["words"], "the facts need no diff"
        ask(widget, {"type": "card"})
        assert "OSError: the disk is gone" in widget.detail["words"]
        widget.selected = keys[0]
    assert widget.detail["html"]


def test_a_place_without_widgets_shows_the_still_picture() -> None:
    table = open_table()
    bundle = table.timeline()._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["text/html"] == table.history._repr_html_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "4 snapshots" in data["text/plain"]
    html5lib.HTMLParser(strict=True).parseFragment(data["text/html"])


def test_a_table_without_snapshots_says_so() -> None:
    for name in ("spark/hive/parquet", "spark/iceberg/v2-no-snapshot", "spark/paimon/schema-only"):
        widget = open_table(name).timeline()
        assert widget.view["items"] == []
        assert "History" in widget.detail["html"]


def test_the_sheet_is_small() -> None:
    widget = open_table().timeline()
    assert len(widget._css.removeprefix(common_style()).encode()) < 4096


def test_what_comes_from_a_lake_is_made_visible(tmp_path: Path) -> None:
    words = [
        word for word in HOSTILE if not any("\ud800" <= letter <= "\udfff" for letter in word)
    ]  # JSON has no place for those
    root = growth.grow_iceberg(tmp_path / "table", snapshots=len(words), lake="v2-basic")
    path = sorted((root / "metadata").glob("*.metadata.json"))[-1]
    document = json.loads(path.read_text())
    for snapshot, word in zip(document["snapshots"][-len(words) :], words, strict=True):
        snapshot["summary"]["operation"] = word
        snapshot["summary"]["wap.id"] = word
        document["refs"][f"tag {word}"] = {"snapshot-id": snapshot["snapshot-id"], "type": "tag"}
    document["refs"][f"branch {words[0]}"] = {
        "snapshot-id": document["snapshots"][0]["snapshot-id"],
        "type": "branch",
    }
    path.write_text(json.dumps(document))
    table = ll.open(root)
    widget = table.timeline()
    for item in widget.view["items"]:
        widget.range = [item["first"], widget.view["items"][-1]["last"]]
        for text in walk_texts([widget.view, widget.detail["words"], widget.detail["code"]]):
            assert all(character == "\n" or character.isprintable() for character in text), repr(text)
            assert len(text) < 4000
