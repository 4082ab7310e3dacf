"""A check itself: its one line, its text, its JSON, which snapshots it looks at, what it leaves out, what it reads."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.analysis.check import data_files
from lakelens.analysis.check.check import Check
from lakelens.errors import Missing
from lakelens.model.check.checking import OrderCheck
from lakelens.model.check.ledger import MOST_FINDINGS, Ledger
from lakelens.views.render.html import render_card
from tests.analysis.check.damage.iceberg_data import data_missing
from tests.analysis.check.damage.iceberg_manifests import manifest_cut
from tests.analysis.check.damage.iceberg_metadata import summary_rows
from tests.support import LAKES
from tests.support.damage import Iceberg
from tests.support.documents import invoke, read_document


@pytest.fixture
def broken(tmp_path: Path) -> Iceberg:
    """A copy of a table of five snapshots."""
    shutil.copytree(LAKES / "spark/iceberg/v2-merge-on-read/table", tmp_path / "t")
    return Iceberg(tmp_path / "t")


def list_times(root: Path) -> dict[str, tuple[int, int]]:
    return {str(p): (p.stat().st_mtime_ns, p.stat().st_size) for p in root.rglob("*") if p.is_file()}


def test_one_line_and_text_of_a_sound_table() -> None:
    check = ll.sample("iceberg").check()
    line = "<Check of lakes.v3_merge_on_read: sound, 537 figures compared, none differs; rows not looked at>"
    assert repr(check) == line
    text = str(check)
    assert text.startswith("Sound: 537 figures compared, none differs\n")
    assert "the rows themselves" in text
    assert "table.check(data=True)" in text
    assert "Missing: none of 30 files that are referred to" in text
    assert check.compared == sum(line.compared for line in check.counted) == 537
    assert repr(ll.sample("iceberg").check(data=True)).endswith("none differs>")
    assert not len(ll.sample("iceberg").check(data=True).not_looked_at)


def test_a_verdict_never_stands_alone(broken: Iceberg) -> None:
    broken.find("data/**/*.parquet", -1).unlink()
    check = ll.open(broken.root).check()
    assert repr(check).endswith("damaged, 1 error; whole until snapshot 4 of 5>")
    html = render_card(check)
    for words in ("1 data file is missing", "Whole until number 4 of 5", "figures compared", "Not looked at"):
        assert words in html, words
    assert check.whole.snapshot is not None
    assert check.whole_place == 4
    assert [len(one.snapshots) for one in check.findings] == [1]
    assert [one.path for one in check.missing] == [check.findings[0].path]


def test_totals_over_unread_entries_are_not_compared(broken: Iceberg) -> None:
    before = ll.open(broken.root).check()
    manifest_cut(broken)
    check = ll.open(broken.root).check()
    assert not any(one.code.startswith("total-") for one in check.findings)
    assert any("damaged manifest" in gap.what for gap in check.not_looked_at)
    totals = {line.recorded: line.compared for line in check.counted}
    assert (
        totals["totals of snapshots"]
        < {line.recorded: line.compared for line in before.counted}["totals of snapshots"]
    )
    assert "Do not remove them" in str(check)
    assert not check.strays.is_certain


def test_which_snapshots(broken: Iceberg) -> None:
    summary_rows(broken)
    table = ll.open(broken.root)
    newest, oldest = table.snapshots[-1], table.snapshots[0]
    assert not table.check(snapshots=oldest.id).differ
    assert table.check(snapshots="current").differ == 1
    assert table.check(snapshots=[oldest.id, newest.id]).differ == 1
    assert len(table.check(snapshots="main").survey.states) == 1
    with pytest.raises(Missing):
        table.check(snapshots=17)


def test_each_manifest_is_read_once_and_nothing_is_written(broken: Iceberg) -> None:
    before = list_times(broken.root)
    table = ll.open(broken.root)
    check = table.check(data=True)
    assert list_times(broken.root) == before
    assert len(check.survey.manifests) == len({manifest.path for manifest in check.survey.manifests})
    assert max(check.survey.seen) < 10
    again = ll.open(broken.root).check(data=True)
    assert list(again.counted) == list(check.counted)


def test_many_footers_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "MOST_FOOTERS", 2)
    check = ll.sample("iceberg").check()
    (gap,) = [gap for gap in check.not_looked_at if "footers" in gap.what]
    assert gap.what == "the footers of 3 of 5 data files"
    assert {line.recorded: line.compared for line in check.counted}["rows of files"] == 2


def test_of_many_findings_the_first_are_named() -> None:
    ledger = Ledger()
    line = ledger.line("rows", "entries", "footers")
    for number in range(MOST_FINDINGS + 7):
        line.compare(1, 2, "record-count", f"/t/{number}", "rows")
    (comparison,) = ledger.comparisons
    assert comparison.differ == MOST_FINDINGS + 7
    assert len(ledger.findings) == MOST_FINDINGS + 1
    assert ledger.findings[-1].message == "7 more of this kind are not listed"


def test_order_across_pieces() -> None:
    import pyarrow as pa

    ledger = Ledger()
    check = OrderCheck("/t/a", [("k", False, True)], "sorted", "error")
    for values in ([1, 2, 2], [2, 3], [], [1]):
        check.add(pa.table({"k": pa.array(values, pa.int64())}))
    check.finish(ledger, ())
    assert ledger.findings[0].message == "sorted by k: row 5 comes before the row in front of it"


def test_the_verb_ends_with_1_where_something_differs(broken: Iceberg) -> None:
    assert invoke("check", "sample:iceberg").exit_code == 0
    assert invoke("check", str(broken.root)).exit_code == 0
    summary_rows(broken)
    ended = invoke("check", str(broken.root))
    assert ended.exit_code == 1
    assert "total-records" in ended.stderr
    document = read_document("check", str(broken.root), status=1)
    assert (document["ok"], document["differ"], document["verdict"]) == (
        True,
        1,
        "readable, with differences",
    )
    data_missing(broken)
    document = read_document("check", str(broken.root), "--data", status=1)
    assert not document["ok"]
    assert document["missing"][0]["snapshots"]
    assert document["whole"]["of"] == 5


def test_a_check_of_a_table_without_snapshots() -> None:
    for lake in ("spark/iceberg/v2-no-snapshot", "paimon-java/2.0.0-schema-only"):
        check: Any = ll.open(LAKES / lake / "table").check(data=True)
        assert isinstance(check, Check)
        assert check.verdict == "sound"
        assert "Sound" in str(check)


def test_what_a_lake_says_is_escaped(broken: Iceberg) -> None:
    broken.edit_summary(total_records="<script>alert(1)</script>")
    markup = ll.open(broken.root).check()._repr_html_()
    assert "<script" not in markup
    assert "not a number" in markup


def test_bounds_that_cannot_be_compared_are_said() -> None:
    check = ll.open(LAKES / "spark/paimon/types-avro/table").check(data=True)
    (gap,) = check.not_looked_at
    assert gap.what == "the bounds of 37 columns of data files"
    assert "Everything was looked at" not in str(check)
