"""Maps: the figures are those of the cards, states have words, drawings are well formed, and words stay in their boxes."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import lakelens as ll
from lakelens.analysis.map import Map
from lakelens.errors import LakeError, Missing
from lakelens.model.charts import WORDS, Box
from lakelens.views.card.wording import visible
from lakelens.views.map.drawing import LEAST, render_map
from lakelens.views.map.marks import RIGHT, fit, fit_name, list_lines, measure, wrap
from tests.support.growth import grow_iceberg
from tests.support.view_lakes import PATHS, name_lake, open_lake

SVG = "{http://www.w3.org/2000/svg}"
SAMPLES = [one.name for one in ll.sample()]


def list_boxes(drawn: Map) -> list[Any]:
    """Everything that has a state: boxes, runs and lines of a tree."""
    runs = [run for level in drawn.bucket.levels for run in level.runs] if drawn.bucket else []
    return [*drawn.boxes, *runs, *drawn.tree]


def check_map(drawn: Map) -> None:
    """What is true of every map."""
    rows = drawn.live_rows
    assert drawn.snapshot is None or rows is not None
    if rows is not None and rows.count is not None and rows.recorded is not None:
        left, right = drawn.total.split(" = ")
        numbers = [int(n.replace(",", "")) for n in re.findall(r"[\d,]*\d", re.sub(r"level \d+", "", right))]
        stored = right.split(" stored")[0].count("+") + 1
        assert int(left.replace(",", "")) == rows.count
        assert sum(numbers[:stored]) == rows.recorded
        if "share rows" not in right:
            assert rows.count == sum(numbers[:stored]) - sum(numbers[stored:])
    else:
        assert len(drawn.total) > 10, "it says why it is not known"
    assert all(len(tier.boxes) <= 4 for tier in drawn.tiers)
    for tier in drawn.tiers:
        for box in tier.boxes:
            assert box.state in WORDS and box.word
            assert box.refers_to is None or box.refers_to < max(len(tier.boxes), 20)
    check_drawing(drawn.to_svg(), drawn)


def check_drawing(svg: str, drawn: Map) -> None:
    """The SVG: a tree of plain marks, all inside of its width, with the word of every state."""
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img" and drawn.table.traits.title in (root.get("aria-label") or "")
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {"svg", "style", "path", "text"}
    allowed = {"d", "class", "x", "y", "text-anchor", "width", "height", "viewBox", "role", "aria-label"}
    assert {name for one in root.iter() for name in one.attrib} <= allowed
    assert not re.search(r"url\(|@import", "".join(one.text or "" for one in root.iter(f"{SVG}style")))
    _, _, width, height = (float(part) for part in (root.get("viewBox") or "").split())
    said = []
    for text in root.iter(f"{SVG}text"):
        kinds, words = (text.get("class") or "").split(), text.text or ""
        said.append(words)
        assert words.isprintable(), words
        size = measure(words, code="c" in kinds, bold="b" in kinds or "new" in kinds)
        left = float(text.get("x") or 0) - {"end": size, "middle": size / 2}.get(
            text.get("text-anchor") or "", 0
        )
        assert left >= -1 and left + size <= RIGHT + 6.5, (words, left, size)
        assert 0 < float(text.get("y") or 0) < height
    assert width == 688
    states = {one.word for one in drawn.boxes} | {one.word for one in drawn.tree}
    assert states <= set(said)
    for state in {one.state for one in list_boxes(drawn)} & {"new", "changed"}:
        assert "f-new" in svg, f"{state} has a bar"
    if any(one.state in ("gone", "unread", "absent") for one in list_boxes(drawn)):
        assert "e-gone" in svg


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_has_its_map(name: str) -> None:
    table = ll.sample(name)
    drawn = table.map()
    check_map(drawn)
    assert name and repr(drawn).startswith("<Map of ")
    for box in drawn.boxes:
        assert visible(box.name) in str(drawn), "the text has every whole name"
    html = drawn._repr_html_()
    assert f"min-width:{LEAST}px" in html and "<img" in html and len(html) < 65_536


@pytest.mark.exhaustive(keep=12)
@pytest.mark.parametrize("path", PATHS, ids=name_lake)
def test_every_lake_has_its_map(path: Path) -> None:
    table = open_lake(path)
    if table is None:
        return
    check_map(table.map())
    for snapshot in table.snapshots[:3]:
        check_map(table.map(snapshot=snapshot.id))


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.startswith("iceberg")])
def test_figures_of_iceberg_are_those_of_its_files(name: str) -> None:
    table = ll.sample(name)
    tiers = {tier.noun: tier for tier in table.map().tiers}
    manifests, files = tiers["manifests"].boxes, tiers["files"].boxes
    assert sum(box.count for box in manifests) == len(table.current.manifests)
    diff = table.current.changes
    new = sum(box.count for box in manifests if box.state == "new")
    assert new == len(diff.manifests.new)
    kept = table.files.where(content="data")
    counted = [int(box.name.split()[0].replace(",", "")) for box in files if "data file" in box.name]
    more = [
        int(n.replace(",", ""))
        for box in files
        for n in re.findall(r"and ([\d,]+) kept", " ".join(box.lines))
    ]
    assert sum(counted) + sum(more) == len(kept)
    assert dict(table.map().chart.counted_new)["data file"] == len(diff.added.where(content="data"))


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.startswith("paimon")])
def test_figures_of_paimon_are_those_of_its_files(name: str) -> None:
    table = ll.sample(name)
    drawn = table.map()
    if drawn.bucket is None:
        files = drawn.tiers[-1].boxes
        assert sum(box.count for box in files if box.state in ("new", "kept")) == len(table.files)
        return
    place, _, bucket = drawn.bucket.name.rpartition("bucket-")
    here = [
        file for file in table.files
        if str(file.partition) == place.rstrip("/") and str(file.bucket) == bucket
    ]  # fmt: skip
    assert sum(level.rows or 0 for level in drawn.bucket.levels) == sum(
        file.record_count or 0 for file in here
    )
    live = [run for level in drawn.bucket.levels for run in level.runs if run.state != "gone"]
    assert sum(run.count for run in live) == len(here)
    assert all(0 <= run.start <= run.end <= 1 for run in live)


def test_a_diff_marks_what_is_new_since() -> None:
    table = ll.sample("iceberg")
    diff = table.diff(table.snapshots[0], table.current)
    drawn = table.map(diff)
    assert drawn.since.before is not None and drawn.since.before.id == table.snapshots[0].id
    assert dict(drawn.chart.counted_new)["data file"] == len(diff.added.where(content="data"))
    assert dict(drawn.chart.counted_new)["manifest"] == len(diff.manifests.new)
    assert f"compared with snapshot {table.snapshots[0].id}" in str(drawn)
    same = table.map(table.diff(table.current, table.current))
    assert same.new_count == 0 and same.news.startswith("new: nothing")


def test_a_trace_marks_what_it_saw(tmp_path: Path) -> None:
    place = Path(ll.sample("hive-orc").location)
    with ll.watch(place) as change:
        one = next(path for path in sorted(place.rglob("*.orc")))
        shutil.copy(one, one.with_name("part-00009-copied.orc"))
    drawn = ll.open(place).map(change)
    new = [branch for branch in drawn.tree if branch.state == "new" and branch.is_file]
    assert [branch.name for branch in new] == ["part-00009-copied.orc"]
    assert drawn.new_count == 1
    check_map(drawn)
    with pytest.raises(LakeError, match="nothing of this table"):
        ll.sample("iceberg").map(change)


def test_a_schema_that_no_snapshot_names_yet_is_drawn() -> None:
    place = Path(ll.sample("paimon").location)
    with ll.watch(place) as change:
        newest = max((place / "schema").iterdir())
        schema = json.loads(newest.read_text())
        schema["id"] += 1
        (place / "schema" / f"schema-{schema['id']}").write_text(json.dumps(schema))
    drawn = ll.open(place).map(change)
    check_map(drawn)
    assert [(box.name, box.state) for box in drawn.boxes if box.name.startswith("schema-")] == [
        ("schema-0", "kept"),
        ("schema-1", "new"),
    ]
    assert dict(drawn.chart.counted_new)["schema"] == drawn.new_count == 1


def test_one_commit_writes_one_metadata_file() -> None:
    """The file of the commit before is not new, though its own time is a little after that of the snapshot."""
    table = ll.sample("iceberg-basic")
    assert dict(table.map().chart.counted_new)["metadata file"] == 1
    since = table.map(table.diff(table.snapshots[0], table.snapshots[-1]))
    assert dict(since.chart.counted_new)["metadata file"] == 2


def test_metadata_without_a_commit_moves_the_pointer(tmp_path: Path) -> None:
    """A property was set: the trace has seen a metadata file, and no snapshot."""
    place = copy_sample("iceberg-basic", tmp_path / "t")
    newest = max((place / "metadata").glob("*.metadata.json"))
    with ll.watch(place) as change:
        document = json.loads(newest.read_text())
        log = {"timestamp-ms": document["last-updated-ms"], "metadata-file": newest.name}
        document["metadata-log"] = [*document["metadata-log"], log]
        document["last-updated-ms"] += 1000
        newest.with_name(newest.name.replace("00003-", "00004-")).write_text(json.dumps(document))
    drawn = ll.open(place).map(change)
    check_map(drawn)
    assert dict(drawn.chart.counted_new)["metadata file"] == drawn.new_count == 1


def test_ids_that_jobs_make_up_do_not_order_a_directory(tmp_path: Path) -> None:
    """Two jobs wrote a file each: whichever id sorts first, the same drawing."""
    whole = next(Path(ll.sample("hive").location).rglob("*.parquet"))
    drawings = []
    for first, second in (("1", "2"), ("2", "1")):
        place = tmp_path / first
        place.mkdir()
        for digit, end in ((first, ".snappy.parquet"), (second, "")):
            job = f"{digit * 8}-1111-1111-1111-{digit * 12}"
            kept = place / f"part-00000-{job}-c000{end}"
            shutil.copy(whole, kept)
            os.utime(kept, (1, 1))  # at one time: no job is the newest
        lines = ll.open(place).map().tree
        drawings.append([re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "", one.name) for one in lines if one.is_file])
    assert drawings[0] == drawings[1] and len(drawings[0]) == 2


def test_what_is_no_change_is_refused() -> None:
    table = ll.sample("iceberg-basic")
    with pytest.raises(LakeError, match="a Diff or a trace, not str"):
        table.map("x")  # type: ignore[arg-type]
    with pytest.raises(Missing):
        table.map(snapshot=1)


def copy_sample(name: str, target: Path) -> Path:
    shutil.copytree(ll.sample(name).location, target)
    return target


@pytest.mark.parametrize("damage", [b"", b"no Avro at all"])
def test_damage_never_hides_the_rest(tmp_path: Path, damage: bytes) -> None:
    place = copy_sample("iceberg", tmp_path / "t")
    manifest = Path(ll.open(place).current.manifests[0].path)  # type: ignore[union-attr]
    manifest.write_bytes(damage)
    drawn = ll.open(place).map()
    check_map(drawn)
    lost = [box for box in drawn.boxes if box.state == "unread"]
    assert lost and any("cannot be read" in " ".join(box.lines) for box in lost)
    assert "unreadable" in drawn.to_svg() and "e-gone" in drawn.to_svg()
    assert any(box.state == "kept" for box in drawn.tiers[-1].boxes), "the others are still drawn"


@pytest.mark.parametrize("name", ["iceberg", "paimon", "paimon-append"])
def test_a_lost_list_never_hides_the_rest(tmp_path: Path, name: str) -> None:
    place = copy_sample(name, tmp_path / "t")
    listed = Path(ll.open(place).current.manifest_lists[0].path)  # type: ignore[union-attr, arg-type]
    listed.unlink()
    drawn = ll.open(place).map()
    check_map(drawn)
    assert any(box.state == "unread" for box in drawn.boxes)


def test_names_of_a_lake_are_text(tmp_path: Path) -> None:
    """Names that would be markup, that act on a terminal, that XML has no place for, and that have no end."""
    evil = "<script>alert(1)</script>&\x1b[31m\u202e" + "x" * 100
    place = tmp_path / "t"
    shutil.copytree(Path(ll.sample("hive").location), place)
    folder = next(path for path in place.iterdir() if path.is_dir())
    try:
        folder.rename(folder.with_name(f"dt={evil.replace('/', '_')}"))
    except OSError:
        pytest.fail("this file system refuses the name")
    drawn = ll.open(place).map()
    check_map(drawn)
    assert "\x1b" not in str(drawn) and "\u202e" not in str(drawn)
    html = drawn._repr_html_()
    assert "<script" not in html and "\x1b" not in html


def test_an_empty_table_has_a_map(tmp_path: Path) -> None:
    place = copy_sample("paimon-append", tmp_path / "t")
    shutil.rmtree(place / "snapshot")
    drawn = ll.open(place).map()
    check_map(drawn)
    assert "nothing was committed yet" in str(drawn)


def test_saving(tmp_path: Path) -> None:
    drawn = ll.sample("paimon").map()
    drawn.save(tmp_path / "map.svg")
    assert (tmp_path / "map.svg").read_text("utf-8") == drawn.to_svg()
    drawn.to_html(tmp_path / "map.html")
    assert "data:image/svg+xml" in (tmp_path / "map.html").read_text("utf-8")
    assert ll.sample("paimon").map().to_svg() == drawn.to_svg(), "it says nothing of where or when"


def test_text_is_cut_by_its_width() -> None:
    for words in ("plain words of a sentence", "数据" * 30, "\x1b\x00" * 20, "W" * 100, "👍" * 50, ""):
        for room in (0, 5, 40, 133):
            assert measure(fit(words, room)) <= room
            assert measure(fit_name(words, room), code=True) <= max(room, 0)
            assert all(measure(line) <= room for line in wrap(words, room))


def test_a_big_table_makes_no_objects(tmp_path: Path) -> None:
    table = ll.open(grow_iceberg(tmp_path / "t", files=5_000, manifests=8, snapshots=3, appended=2))
    check_map(table.map())
    made = [one for one in table.current.manifests if "_read_entries" in vars(one)]  # type: ignore[union-attr]
    assert len(made) <= 2, "manifests that both states name are counted by their list"


def test_what_a_compaction_took_stands_in_the_order_of_its_rows() -> None:
    """Its manifest names the files in an order that differs from run to run."""
    table = ll.sample("paimon")
    compacted = next(one for one in table.snapshots if one.operation == "COMPACT")
    ages = {file.file_name: file.max_sequence_number for file in compacted.changes.removed}
    bucket = table.map(snapshot=compacted.id).bucket
    assert bucket is not None
    gone = [ages[run.name] for run in bucket.levels[0].runs if run.state == "gone"]
    assert gone == sorted(ages.values()) != list(ages.values()), "else the sample shows nothing"


def test_lifetimes() -> None:
    lines = ll.lifetimes()
    assert {line.format for line in lines} == {"delta", "hive", "iceberg", "paimon"}
    text = str(lines)
    for name in (
        "Iceberg: 2 of 8 may change",
        "Paimon: 3 of 13 may change",
        "Hive: 4 of 5 may change",
        "Delta: 2 of 11 may change",
    ):
        assert name in text
    assert all(line.file in text and line.goes in text for line in lines)
    assert lines.to_arrow().num_rows == len(lines) == 37
    assert len(ll.lifetimes("hive")) == 5
    with pytest.raises(LakeError, match=r"no lifetimes are known of the format 'icebreg'.*iceberg"):
        ll.lifetimes("icebreg")
    assert len(lines._repr_html_()) < 20_480


def test_words_of_boxes_and_fields_are_whole() -> None:
    """Counts and names of fields are never cut; what is cut of a file's name is an id or an ending."""
    for name in ("paimon", "paimon-changelog", "paimon-global-index", "iceberg-statistics"):
        drawn = ll.sample(name).map()
        svg = render_map(drawn)
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
        assert not [text for text in texts if text.endswith("…") and not text.startswith("snap-")], name
        fields = {box.field for tier in drawn.chart.tiers for box in tier.boxes if box.field}
        for field in fields:  # in one line or in two
            assert any(first + rest == field for first in texts for rest in (*texts, "")), field


def test_a_count_has_the_room_of_its_box() -> None:
    box = Box("5,000 data files", "new", lines=("50,000 rows",), names_files=False)
    assert list_lines(box, 100) == ("new", "50,000 rows")
    assert list_lines(box, 300) == ("50,000 rows",)
    assert list_lines(replace(box, name="9 lists"), 100) == ("50,000 rows",)
