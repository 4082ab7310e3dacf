"""Snapshots named as git names commits: counted back, or by the first digits of an id."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import lakelens as ll
from lakelens.errors import Ambiguous, LakeError, Missing
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.page import Page, Redirect
from lakelens.explorer.place import Place
from lakelens.explorer.render import render_page
from tests.support.documents import read_document


def edit_metadata(tmp_path: Path, old: str, new: str) -> Any:
    """The Iceberg sample with a text of its newest metadata replaced."""
    place = ll.sample()["iceberg"].unpack(tmp_path)
    document = max((place / "metadata").glob("*.metadata.json"), key=lambda path: path.name)
    text = document.read_text()
    assert old in text
    document.write_text(text.replace(old, new))
    return ll.open(place)


@pytest.mark.parametrize("name", ["iceberg", "paimon"])
def test_counting_back(name: str) -> None:
    table = ll.sample(name)
    ids = [snapshot.id for snapshot in table.snapshots]
    names = {
        "main": -1,
        "main~": -2,
        "main~1": -2,
        "main~2": -3,
        "~1": -2,
        "~0": -1,
        "-1": -1,
        "-5": 0,
        f"{ids[2]}~2": 0,
    }
    assert {one: table.snapshot(one).id for one in names} == {one: ids[place] for one, place in names.items()}
    assert table.snapshot(-2).id == ids[-2]
    assert table.snapshots["main~1"].id == ids[-2]
    assert table.diff().before.id == ids[-2]  # type: ignore[union-attr]
    assert table.diff("~1").after.id == ids[-1]
    assert table.diff(after="main~1").before.id == ids[-3]  # type: ignore[union-attr]
    assert table.diff(after=ids[0]).before is None
    for beyond in ("main~5", "-6", "-0", "~99", "main~-1", "-99999999999999999999", "9" * 5_000):
        with pytest.raises(Missing):
            table.snapshot(beyond)
    with pytest.raises(
        Missing, match=f"'main~7': {ids[-1]} has only 4 before it; try: {ids[0]}, the first one"
    ):
        table.snapshot("main~7")
    with pytest.raises(Missing, match=r"did you mean main\?"):
        table.snapshot("mian~1")


# what each form leads to, as a place in `table.snapshots`; None: no such snapshot
FORMS = {
    "main": -1,
    "main~": -2,
    "main~2": -3,
    "~1": -2,
    "-1": -1,
    "-2": -2,
    "{id of 1}": 1,
    "{id of 1}~1": 0,
    "{time of 2}": 2,
    "@{{{time of 2}}}": 2,
    "main@{{{time of 2}}}": 2,
    "main@{{{time of 2}}}~1": 1,
    "~1@{{{time of 0}}}": 0,
    "@{{2100-01-01}}": -1,
    "{id of 2}@{{2100-01-01}}": 2,
    "@{{2000-01-01}}": None,
    "{id of 2}@{{2000-01-01}}": None,
    "@{{yesterday}}": None,
    "@{{1}}": None,
    "@{{}}": None,
    "nowhere@{{2100-01-01}}": None,
    "main~99": None,
    "-99": None,
    "nowhere": None,
}


@pytest.mark.parametrize("name", ["iceberg", "paimon", "delta", "hive"])
def test_every_form_leads_to_its_snapshot_in_every_format(name: str, tmp_path: Path) -> None:
    """In Python, in a terminal and in addresses of the explorer; a Hive table has no snapshot, and says so."""
    place = ll.sample()[name].unpack(tmp_path)
    table, explorer = ll.open(place), Explorer(tmp_path)
    known = {f"id of {number}": snapshot.id for number, snapshot in enumerate(table.snapshots)}
    known |= {f"time of {n}": snapshot.committed_at.isoformat() for n, snapshot in enumerate(table.snapshots)}
    for form, wanted in FORMS.items():
        if name == "hive":
            with pytest.raises(Missing):
                table.snapshot(re.sub("{[a-z0-9 ]*}", "1", form))
            continue
        text = form.format_map(known)
        pinned = explorer.answer(Place.parse(f"{name}/@{quote(text)}/files"))
        if wanted is None:
            with pytest.raises(Missing):
                table.snapshot(text)
            assert isinstance(pinned, Page) and pinned.status == 404, text
            continue
        number = table.snapshots[wanted].id
        assert table.snapshot(text).id == table.snapshots[text].id == number, text
        if text != str(number):
            assert isinstance(pinned, Redirect) and pinned.place == Place((name,), str(number), "files"), text


def test_a_branch_at_a_time() -> None:
    """What is not on the branch counts for nothing, however near in time it was committed."""
    table = ll.sample("iceberg-branches")
    of_branches = [ref.name for ref in table.refs if ref.name != "main"]
    assert of_branches
    for name in of_branches:
        line = [table.snapshot(name)]
        while (parent := line[-1].parent_id) is not None:
            line.append(table.snapshot(parent))
        for snapshot in line:
            moment = snapshot.committed_at
            assert moment is not None
            assert table.snapshot(f"{name}@{{{moment.isoformat()}}}").id == snapshot.id
            assert table.snapshot(f"{name}@{{{moment + timedelta(hours=1)}}}").id in [one.id for one in line]


def test_versions_of_delta_have_no_beginning(tmp_path: Path) -> None:
    """Where 1000 is not kept it is not 10001, and `table.snapshot` takes no digits for a version that begins so."""
    place = ll.sample()["delta-checkpoints"].unpack(tmp_path)
    for path in (place / "_delta_log").glob("0*.*"):
        version, _, kind = path.name.partition(".")
        path.rename(path.with_name(f"{int(version) + 10_000:020d}.{kind}"))
    (place / "_delta_log" / "_last_checkpoint").unlink()
    table = ll.open(place)
    assert all(str(snapshot.id).startswith("1000") for snapshot in table.snapshots)
    with pytest.raises(LakeError):
        table.snapshot("1000")


def test_the_first_digits_of_an_id() -> None:
    table = ll.sample("iceberg")
    wanted = table.snapshots[1].id
    assert wanted is not None
    for digits in (str(wanted)[:4], str(wanted)[:8], f"{str(wanted)[:8]}…", str(wanted)):
        assert table.snapshot(digits).id == wanted
    with pytest.raises(Missing, match=f"did you mean {wanted}"):
        table.snapshot(f"{str(wanted)[:-1]}9")
    for short in (str(wanted)[:3], int(str(wanted)[:8])):
        with pytest.raises(Missing):
            table.snapshot(short)


def test_counted_ids_have_no_beginning(tmp_path: Path) -> None:
    """Where 1000 has expired it is not 10001: each number is a snapshot of its own."""
    place = ll.sample()["paimon"].unpack(tmp_path)
    newest = place / "snapshot" / "snapshot-5"
    newest.rename(place / "snapshot" / "snapshot-10001")
    for hint in ("EARLIEST", "LATEST"):
        (place / "snapshot" / hint).write_text("10001")
    for older in place.glob("snapshot/snapshot-[1-4]"):
        older.unlink()
    document = json.loads((place / "snapshot" / "snapshot-10001").read_text())
    (place / "snapshot" / "snapshot-10001").write_text(json.dumps({**document, "id": 10001}))
    table = ll.open(place)
    assert table.snapshot("10001").id == 10001
    with pytest.raises(Missing):
        table.snapshot("1000")
    with pytest.raises(Missing, match="snapshot 10000, the parent of 10001, has expired"):
        table.diff()


def test_digits_of_several_ids_list_them(tmp_path: Path) -> None:
    table = edit_metadata(tmp_path, "4394269662656549183", "4470269662656549183")
    alike = [str(snapshot.id) for snapshot in table.snapshots if str(snapshot.id).startswith("4470")]
    assert len(alike) == 2
    with pytest.raises(Ambiguous) as raised:
        table.snapshot("4470")
    assert raised.value.hint == " or ".join(alike)
    assert table.snapshot("44702").id == 4470269662656549183
    page = Explorer(tmp_path).answer(Place(("iceberg",), "4470"))
    assert isinstance(page, Page)
    assert page.status == 404
    text = re.sub(r"<[^>]*>", "", render_page(page))
    assert " or ".join(alike) in text


def test_a_parent_that_has_expired_is_said(tmp_path: Path) -> None:
    table = edit_metadata(tmp_path, '"parent-snapshot-id":7126224498144825345', '"parent-snapshot-id":12')
    assert table.current.parent_id == 12
    for ask in (table.diff, lambda: table.snapshot("main~1")):
        with pytest.raises(Missing, match="snapshot 12, the parent of 5210511640741470556, has expired"):
            ask()


def test_a_branch_that_numbers_its_own_commits_is_counted_on_its_own() -> None:
    found = ll.sample("paimon-branches").snapshot("audit~1")
    assert "/branch/branch-audit/snapshot/" in (found.path or "")


def test_a_listing_has_nothing_before_it() -> None:
    with pytest.raises(LakeError, match="a Hive table keeps no snapshots"):
        ll.sample("hive").diff()


def test_addresses_of_the_explorer(tmp_path: Path) -> None:
    place = ll.sample()["iceberg"].unpack(tmp_path)
    ids = [str(snapshot.id) for snapshot in ll.open(place).snapshots]
    explorer = Explorer(tmp_path)
    for name, wanted in {"main~1": -2, "-1": -1, ids[1][:6]: 1}.items():
        shown = explorer.answer(Place.parse(f"iceberg/@{name}/files"))
        assert isinstance(shown, Redirect)
        assert shown.place == Place(("iceberg",), ids[wanted], "files")


def test_diff_in_a_terminal(tmp_path: Path) -> None:
    place = str(ll.sample()["iceberg"].unpack(tmp_path))
    ids = [snapshot.id for snapshot in ll.open(place).snapshots]
    asked: dict[tuple[str, ...], tuple[Any, Any]] = {
        (): (ids[-2], ids[-1]),
        ("main~2",): (ids[-3], ids[-1]),
        (str(ids[0])[:6], "main~1"): (ids[0], ids[-2]),
        ("-3", "-2"): (ids[-3], ids[-2]),
        ("nothing",): (None, ids[-1]),
    }
    for words, (before, after) in asked.items():
        document = read_document("diff", place, *words)
        sides = [side and side["id"] for side in (document["before"], document["after"])]
        assert sides == [before, after], words


@pytest.mark.parametrize("ref", ["@{2020-01-01}", "main~1", -1, 7, datetime(2020, 1, 1)])
def test_a_listing_has_no_name(ref: Any) -> None:
    with pytest.raises(Missing, match="leave it out: the state is the listing of its files") as raised:
        ll.sample("hive").snapshot(ref)
    assert "datetime" not in str(raised.value)
