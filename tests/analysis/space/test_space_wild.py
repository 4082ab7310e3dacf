"""Tables as they are found: damaged, linked, half elsewhere, of another format, with any name in them."""

from __future__ import annotations

import json
import random
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakelens as ll
from lakelens.analysis.space.census import Slices
from lakelens.errors import AccessDenied, LakeError
from lakelens.io.local import LocalStore
from lakelens.options import display
from lakelens.views.answers.space import list_boxes, render_picture
from lakelens.views.render.html import render_card
from lakelens.views.render.text import render_text
from tests.analysis.check.test_strays import copy, plant
from tests.analysis.check.test_strays_wild import damage
from tests.analysis.space.reckoning import list_sizes
from tests.analysis.space.test_space import check_sums
from tests.formats.test_foreign_format import ledger
from tests.support import LAKES, growth
from tests.views.test_hostile import HOSTILE, check_markup

__all__ = ["ledger"]
PICTURE = re.compile(
    r'<img src="data:image/svg\+xml;base64,[A-Za-z0-9+/=]+" alt="[^"<>]*" style="[a-z0-9:;%#(),-]*">'
)
DAMAGED = [
    *(
        "spark/iceberg/v2-merge-on-read",
        "spark/iceberg/v3-deletion-vectors",
        "spark/iceberg/v2-branches-and-tags",
    ),
    *(
        "spark/paimon/pk-deletion-vectors",
        "paimon-java/2.0.0-changelog-long-lived",
        "paimon-java/2.0.0-branches",
    ),
    *("paimon-java/2.0.0-statistics", "spark/hive/partitioned", "spark/hive/orc"),
]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", [name for name in DAMAGED if (LAKES / name).is_dir()])
def test_rows_add_up_past_damage(name: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"{name} {seed}")
    for round_number in range(2):
        place = tmp_path / str(round_number)
        shutil.copytree(LAKES / name / "table", place)
        files = sorted(path for path in place.rglob("*") if path.is_file())
        for path in chance.sample(files, min(len(files) - 1, chance.randint(1, 3))):
            others = [one for one in files if one.exists() and one != path]
            damage(path, chance.choice(others), chance)
        try:
            space = ll.open(place).space()
        except LakeError:
            continue
        check_sums(space, list_sizes(place))
        with display.using(strict_views=True):
            assert str(space) and repr(space) and len(render_card(space, 3)) < 262_144
        if not space.is_certain:
            assert any(found.severity == "error" for found in space.findings)


def find(slices: Slices, group: str) -> dict[str, int]:
    return {one.part: one.size_bytes for one in slices.find(group)}


def test_what_nobody_names_is_an_orphan_or_too_young(tmp_path: Path) -> None:
    place = copy("spark/iceberg/v2-basic/table", tmp_path)
    plant(place, {"data/a.parquet": b"12", "metadata/x-m0.avro": b"345", "metadata/7-y.stats": b"4567"})
    plant(place, {"data/b.parquet": b"x" * 9}, timedelta(hours=1))
    plant(place, {"data/.c.crc": b"x" * 11, "_tmp/d": b"x" * 13})
    space = ll.open(place).space()
    check_sums(space, list_sizes(place))
    assert find(space.slices, "orphans") == {"data": 2, "manifests": 3, "statistics": 4}
    assert find(space.slices, "unreferenced, recent") == {"": 9}
    assert space.measure("hidden files") == 24
    assert "Removing orphans frees 9 B" in str(space)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lakelens.options.orphan_age", 0)
        assert ll.open(place).space().measure("orphans") == 18


def test_links_are_no_second_place(tmp_path: Path) -> None:
    place = copy("spark/iceberg/v2-basic/table", tmp_path)
    before = ll.open(place).space()
    (place / "metadata" / "again").symlink_to(place / "data", target_is_directory=True)
    (place / "data" / "up").symlink_to(place, target_is_directory=True)
    after = ll.open(place).space()
    assert (after.size_bytes, after.files) == (before.size_bytes, before.files)
    assert after.slices.size_bytes == after.size_bytes
    shutil.move(place / "data", tmp_path / "elsewhere")
    (place / "data").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    moved = ll.open(place).space()
    assert moved.slices.size_bytes == moved.size_bytes == before.size_bytes
    assert moved.live_bytes == before.live_bytes


def test_a_directory_that_may_not_be_listed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = copy("spark/iceberg/v2-basic/table", tmp_path)
    listed = LocalStore.list

    def refuse(self: LocalStore, path: str) -> Any:
        if path == str(place / "data"):
            raise AccessDenied("the storage denied access", path=path)
        return listed(self, path)

    monkeypatch.setattr(LocalStore, "list", refuse)
    space = ll.open(place).space()
    sizes = {path: size for path, size in list_sizes(place).items() if "/data/" not in path}
    check_sums(space, sizes)
    assert [found.path for found in space.findings] == [str(place / "data")]
    assert not space.is_certain and space.live_bytes == 0


@pytest.mark.parametrize("name", ["2.0.0-external-paths", "1.4.2-external-paths"])
def test_what_is_kept_elsewhere_is_in_no_row(name: str, tmp_path: Path) -> None:
    shutil.copytree(LAKES / "paimon-java" / name, tmp_path / "moved")
    place = tmp_path / "moved" / "table"
    table: Any = ll.open(place)
    space = table.space()
    check_sums(space, list_sizes(place))
    outside = {file.path: file.size_bytes for file in table.files if not file.path.startswith(f"{place}/")}
    assert outside and space.outside_bytes >= sum(outside.values())
    assert "Outside" in str(space)


def test_files_that_are_gone_are_said(tmp_path: Path) -> None:
    place = copy("spark/iceberg/v2-basic/table", tmp_path)
    table = ll.open(place)
    lost = table.files[0]
    Path(lost.path).unlink()
    space = ll.open(place).space()
    check_sums(space, list_sizes(place))
    assert space.missing_files == 1 and space.outside_files == 0
    assert [(found.code, found.path) for found in space.findings] == [("missing", lost.path)]


def test_a_format_of_another_package_has_a_space(ledger: ll.Table) -> None:
    space = ledger.space()
    check_sums(space, list_sizes(Path(ledger.location)))
    assert space.measure("live data") == sum(file.size_bytes or 0 for file in ledger.files) > 0
    documents = [Path(ledger.location) / "ledger" / f"000{number}.json" for number in (1, 2)]
    freed = len("id,name\n1,a\n") + sum(path.stat().st_size for path in documents)
    assert space.find_freed(datetime(2100, 1, 1, tzinfo=UTC)).size_bytes == freed


def write_hive(place: Path, names: list[str]) -> ll.Table:
    place.mkdir()
    table = pa.table(
        [
            pa.array(range(number % 50)).cast(pa.int64()).take([0] * 20)
            if number % 50
            else pa.array([0] * 20)
            for number in range(len(names))
        ],
        names=names,
    )
    pq.write_table(table, place / "part-0.parquet")
    return ll.open(place, format="hive")


def test_a_thousand_columns_fit(tmp_path: Path) -> None:
    space = write_hive(tmp_path / "wide", [f"column_{number}" for number in range(1_000)]).space()
    check_sums(space, list_sizes(tmp_path / "wide"))
    assert len(space.division.columns) == 1_000
    for detail in (1, 2, 3):
        assert len(render_card(space, detail).encode()) <= 65_536
    text = render_text(space, 1)
    assert "… 990 more columns" in text and "1,000" not in text.split("\n")[0]
    assert len(list_boxes(space)) < 100


def test_names_are_an_attackers(tmp_path: Path) -> None:
    names = list(
        dict.fromkeys(word for word in HOSTILE if word and "\ud800" not in word and "\x00" not in word)
    )
    names = [word[:2_000] for word in names]
    table = write_hive(tmp_path / "hostile", list(dict.fromkeys(names)))
    space = table.space()
    check_sums(space, list_sizes(tmp_path / "hostile"))
    with display.using(strict_views=True):
        for detail in (1, 2, 3):
            markup, pictures = PICTURE.subn("", render_card(space, detail))
            check_markup(markup)
            assert pictures == 1
        assert "\x1b" not in render_text(space, 3)
    picture = render_picture(space)
    assert "<script" not in picture and "onerror=alert(1)>" not in picture and "\x1b" not in picture


def test_an_empty_directory_of_a_table_without_a_commit(tmp_path: Path) -> None:
    (tmp_path / "schema").mkdir()
    source = LAKES / "spark/paimon/append/table/schema/schema-0"
    shutil.copy(source, tmp_path / "schema" / "schema-0")
    space = ll.open(tmp_path).space()
    check_sums(space, list_sizes(tmp_path))
    assert [one.name for one in space.slices] == ["metadata/schemas"] and not space.live_bytes
    assert "live" in repr(space) and len(space.expiring) == 0


def test_many_snapshots_and_tags_fit(tmp_path: Path) -> None:
    root = growth.grow_paimon(tmp_path / "table", snapshots=120)
    space = ll.open(root).space()
    check_sums(space, list_sizes(root))
    assert len(space.by_snapshot) > 120
    root = growth.grow_iceberg(tmp_path / "tagged", snapshots=120)
    path = max((root / "metadata").glob("*.metadata.json"))
    document = json.loads(path.read_text())
    for number, snapshot in enumerate(document["snapshots"][:-1]):
        document["refs"][f"tag-{number:03}"] = {"snapshot-id": snapshot["snapshot-id"], "type": "tag"}
    path.write_text(json.dumps(document))
    tagged = ll.open(root).space()
    check_sums(tagged, list_sizes(root))
    assert len(tagged.by_ref) > 120 and not len(tagged.expiring)
    for one in (space, tagged):
        for detail in (1, 3):
            assert len(render_card(one, detail).encode()) <= 65_536
        one.to_html(tmp_path / "page.html")
        assert (tmp_path / "page.html").stat().st_size < 262_144


def test_retention_of_any_number_is_shown(tmp_path: Path) -> None:
    place = copy("spark/iceberg/v2-branches-and-tags/table", tmp_path)
    path = max((place / "metadata").glob("*.metadata.json"))
    document = json.loads(path.read_text())
    for number, ref in enumerate(document["refs"].values()):
        kept = (-5, 0, 2**62)[number % 3]
        ref |= {"max-ref-age-ms": kept, "max-snapshot-age-ms": kept}
        if ref["type"] == "branch":
            ref["min-snapshots-to-keep"] = (2**31 - 1, 0, -1)[number % 3]
    path.write_text(json.dumps(document))
    space = ll.open(place).space()
    check_sums(space, list_sizes(place))
    with display.using(strict_views=True):
        assert "kept for" in render_text(space, 3)


@pytest.mark.parametrize("sample", ["iceberg-branches", "paimon-branches"])
def test_another_branch_is_another_view_of_the_same_bytes(sample: str) -> None:
    place = ll.sample(sample).location
    main, audit = ll.open(place).space(), ll.open(place, branch="audit").space()
    check_sums(audit, list_sizes(Path(place)))
    assert main.size_bytes == audit.size_bytes and main.live_bytes != audit.live_bytes
    assert {row.name for row in audit.by_ref} >= {"the current snapshot", "branch main"}
    assert [row.size_bytes for row in main.by_snapshot] == [row.size_bytes for row in audit.by_snapshot]
