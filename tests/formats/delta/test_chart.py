"""The map of a Delta table: a line from a file of the log to a data file means that the one names the other."""

from __future__ import annotations

import pytest

import lakelens as ll
from lakelens.views.timeline.wording import describe_history
from tests.support import LAKES

TABLES = sorted(path.parent.name for path in (LAKES / "delta" / "spark").glob("*/table"))


@pytest.mark.parametrize("name", TABLES)
def test_lines_lead_from_the_file_of_the_log_that_names_a_file(name: str) -> None:
    table = ll.open(LAKES / "delta" / "spark" / name / "table")
    tiers = {
        tier.noun: (above, tier)
        for above, tier in zip([None, *table.map().tiers], table.map().tiers, strict=False)
    }
    if "data files" not in tiers:
        return
    above, drawn = tiers["data files"]
    sources = dict(table.current.files.pick("path", "manifest"))
    assert above is not None
    for box in drawn.boxes:
        if box.path is not None:
            expected = [place for place, file in enumerate(above.boxes) if file.path == sources[box.path]]
            # one of several that a box stands for has no path of its own
            assert list(box.parents) == expected or all(
                above.boxes[place].path is None for place in box.parents
            )
    for noun in ("commits", "compacted commits", "vector files"):
        assert noun not in tiers or all(box.parents == () for box in tiers[noun][1].boxes)


def test_a_commit_that_wrote_the_file_is_the_one_that_leads_to_it() -> None:
    table = ll.open(LAKES / "delta" / "spark" / "appends" / "table")
    commits, files = (
        next(tier for tier in table.map().tiers if tier.noun == noun) for noun in ("commits", "data files")
    )
    new = [box for box in files.boxes if box.state == "new"]
    assert new and all(commits.boxes[place].state == "new" for box in new for place in box.parents)
    assert all(box.parents for box in new)


@pytest.mark.parametrize(("name", "rows"), [("appends", "0 to 15"), ("dml", "0 to 22")])
def test_the_timeline_says_how_many_rows_there_are_now(name: str, rows: str) -> None:
    """Also where the first commit alone records how many there are after it: none."""
    table = ll.open(LAKES / "delta" / "spark" / name / "table")
    assert table.current.live_rows.count == int(rows.split()[-1])
    assert f"Rows grew from {rows}." in describe_history(table.history)
