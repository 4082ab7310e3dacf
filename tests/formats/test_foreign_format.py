"""A format of another package is as complete as the three: found by its entry point, and shown by all that shows tables."""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError, Unsupported
from lakelens.formats.hive.detect import detect_hive
from lakelens.formats.registry import describe_candidate, load_formats
from lakelens.io.local import LocalStore
from lakelens.model.storage import KNOWN_FORMATS, OWN_DIRECTORIES
from lakelens.views.render.html import render_card
from tests.support import ledger_format
from tests.support.documents import invoke, read_document
from tests.support.engines import ENGINE

NUMBERS, NAMES = {"id": "number"}, {"id": "number", "name": "text"}


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ll.Table]:
    """A table of a format that a package on the path brings: three snapshots, a file added in each, one removed."""
    packages = tmp_path / "site-packages"
    shutil.copytree(Path(ledger_format.__file__).parent, packages / "ledger_format")
    info = packages / "ledger_format-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ledger-format\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lakelens.formats]\nledger = ledger_format:LEDGER\n")
    monkeypatch.syspath_prepend(packages)
    load_formats.cache_clear()
    yield ll.open(write_ledger(tmp_path / "shop"))
    load_formats.cache_clear()
    OWN_DIRECTORIES.pop("ledger")


def write_ledger(root: Path) -> Path:
    """The table's files."""
    home = root / "ledger"
    home.mkdir(parents=True)
    pages: dict[str, int] = {}
    rows = 0
    for number in (1, 2, 3):
        data = f"id,name\n{number},a\n"
        (root / f"{number}.csv").write_text(data)
        lines = [f"+,{number}.csv,day-{number},1,{len(data)},ann"]
        if number == 3:
            lines.append(f"-,1.csv,day-1,1,{len(data)},ann")
        (home / f"p{number}.csv").write_text("\n".join(["mark,file,day,rows,bytes,scribe", *lines]) + "\n")
        pages[f"p{number}.csv"] = number
        rows = min(number, 2)
        document = {
            "number": number,
            "at": f"2026-11-2{number}T10:00:00+00:00",
            "what": "append" if number < 3 else "overwrite",
            "columns": NUMBERS if number == 1 else NAMES,
            "rows": rows,
            "new": 1,
            "files": rows,
            "scribe": "ann",
            "pages": pages,
        }
        (home / f"{number:04}.json").write_text(json.dumps(document))
    return root


def test_its_health_has_limits_of_its_own_and_of_lakelens(ledger: ll.Table) -> None:
    health = ledger.health()
    assert {one.source for one in health.measures} == {"lakelens", "default", "property"}
    size, scribes = health.measures["file size, median"], health.measures["scribes"]
    assert (size.verdict, size.compared_with) == ("good", "ledger.smallest-file")
    assert (scribes.verdict, scribes.value, scribes.group) == ("good", 1, "metadata")
    assert not len(health.calls) and "ink fades" in health.gaps
    assert [row["files"] for row in health.parts.partitions.to_arrow().to_pylist()] == [1, 1]
    assert "view failed" not in health._repr_html_() + str(health)


def test_a_measure_that_is_beyond_its_limit_gives_its_call(ledger: ll.Table) -> None:
    page = Path(ledger.location, "ledger", "p2.csv")
    page.write_text(page.read_text().replace(",ann", ",bob"))
    health = ll.open(ledger.location).health()
    assert health.measures["scribes"].verdict == "act"
    assert [call.statement for call in health.calls] == ["ledger appoint --one"]
    assert "ledger appoint --one" in health._repr_html_()


def test_a_rule_of_its_own_is_tried(ledger: ll.Table) -> None:
    assert [tried.rule.code for tried in ledger.check().defects.tried] == ["nameless-scribe"]
    assert not ledger.check().defects.showing
    page = Path(ledger.location, "ledger", "p3.csv")
    page.write_text(page.read_text().replace("+,3.csv,day-3,1,12,ann", "+,3.csv,day-3,1,12,"))
    check = ll.open(ledger.location).check()
    (shown,) = check.defects.showing
    assert shown.concerns and shown.rule.writers == "pen before 2.0"
    assert [finding.message for finding in shown.findings] == ["nobody wrote 3.csv"]
    assert "nameless-scribe" in check.to_text(3)


def test_a_procedure_of_its_own_is_planned(ledger: ll.Table) -> None:
    assert list(ledger.procedures) == ["tidy"]
    plan = ledger.dry_run("tidy")
    assert [piece.path.rpartition("/")[2] for piece in plan.deletes] == ["1.csv"]
    assert plan.call == "ledger tidy" and "Tidy" in plan._repr_html_()
    assert not len(ledger.dry_run("tidy", most=0).deletes)
    with pytest.raises(LakeError, match="most: the value does not fit"):
        ledger.dry_run("tidy", most=-1)
    assert "how many files at most" in invoke("dry-run", ledger.location).stdout


def test_a_kind_of_bytes_of_its_own_is_explained(ledger: ll.Table) -> None:
    path = f"{ledger.location}/ledger/p3.csv"
    view = ll.explain_file(path)
    assert [leaf.label for leaf in view.leaves()] == ["names", "added", "removed"]
    data = Path(path).read_bytes()
    assert sum(len(leaf) for leaf in ll.explain_bytes(data, "ledger_page").leaves()) == len(data)
    with pytest.raises(LakeError, match="no mark"):
        ll.explain_bytes(data.replace(b"+,3", b"?,3"), "ledger_page")
    assert "ledger page: CSV" in invoke("bytes", path).stdout


def test_its_files_have_lives(ledger: ll.Table) -> None:
    assert [line.file for line in ll.lifetimes("ledger")] == ["pN.csv", "NNNN.json"]
    assert {line.format for line in ll.lifetimes()} == {"delta", "hive", "iceberg", "ledger", "paimon"}
    assert "a scribe" in invoke("lifetimes", "ledger").stdout


def test_its_data_files_may_be_known_and_not_decoded(ledger: ll.Table) -> None:
    assert KNOWN_FORMATS["parchment"] == "parchment"


def test_its_table_is_taken_for_no_directory_of_files(ledger: ll.Table) -> None:
    with pytest.raises(Unsupported, match="a Ledger table: it has a ledger directory, whose log says which"):
        detect_hive(describe_candidate(LocalStore(), ledger.location))
    listed = ll.open(ledger.location, format="hive")
    assert listed.evidence.others == ("Ledger",) and len(listed.files)
    assert "ledger" in {finding.code for finding in listed.findings}


def test_a_part_that_it_lacks_is_refused_in_one_sentence(ledger: ll.Table, tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="a Ledger table has no skeleton: its format does not say how"):
        ledger.skeleton(tmp_path / "copy")
    assert "snapshot 3" in ledger.map().to_text(), "a map is drawn of any format"


@pytest.mark.parametrize("name", ["hive", "iceberg", "paimon"])
def test_every_part_of_a_driver_is_there(name: str) -> None:
    driver: Any = load_formats()[name]
    assert driver.parts and all(driver.part(answer) is not None for answer in driver.parts)
    assert not set(driver.parts) & set(driver.lacks)


def test_it_is_found_by_its_entry_point(ledger: ll.Table) -> None:
    assert ledger.format == "ledger"
    assert [found.format for found in ll.find(Path(ledger.location).parent)] == ["ledger"]
    assert [file.recorded_path for file in ledger.files] == ["2.csv", "3.csv"]


def test_every_object_has_a_card_in_text_and_html(ledger: ll.Table) -> None:
    current = ledger.current
    assert current is not None
    manifest = current.manifests[-1]
    file = ledger.files[0]
    things: dict[str, Any] = {
        "ledger of CSV files": ledger,
        "snapshot 3": current,
        "Snapshots": ledger.snapshots,
        "p3.csv": manifest,
        "0003.json": current.manifest_lists[0],
        "2.csv": file,
        "3.csv": ledger.files,
        "DELETED": manifest.entries[1],
        "main": ledger.refs,
        "Evidence": ledger.evidence,
    }
    for words, thing in things.items():
        for detail in (0, 1, 2, 3):
            assert render_card(thing, detail=detail), words
        assert words.lower() in thing.to_text(2).lower() + repr(thing).lower(), (words, thing.to_text(2))
    assert "Why Ledger" in ledger.to_text() and "Apache" not in ledger.to_text(3)
    assert ledger.files[0].preview().to_pylist() == [{"id": 2, "name": "a"}]
    assert str(manifest.bytes_view()) and str(current.bytes_view())


def test_its_own_glossary_explains_its_names_and_no_other_formats_does(ledger: ll.Table) -> None:
    text = ledger.files[0].to_text(3)
    assert "Who wrote the file." in text
    assert not re.search("Iceberg|Paimon|Hive", text)


def test_history_timeline_and_diff(ledger: ll.Table) -> None:
    history = ledger.history
    assert [(mark.key, mark.kind, mark.amounts.rows) for mark in history.marks] == [
        ("1", "append", 1),
        ("2", "append", 2),
        ("3", "overwrite", 2),
    ]
    assert "main" in history.to_text() and render_card(history, detail=2)
    diff = ledger.diff(1, 3)
    assert [file.recorded_path for file in diff.added] == ["2.csv", "3.csv"]
    assert [file.recorded_path for file in diff.removed] == ["1.csv"]
    assert [change.name for change in diff.schema] == ["name"]
    assert diff.to_text(2) and render_card(diff, detail=2)
    assert ledger.tree().to_text()


def test_sql_and_arrow(ledger: ll.Table) -> None:
    assert ledger.snapshots.to_arrow()["record_count"].to_pylist() == [1, 2, 2]
    query = "select path, scribe from files where partition = 'day=day-2'"
    ((path, scribe),) = ledger.sql(query, engine=ENGINE)
    assert (path.rpartition("/")[2], scribe) == ("2.csv", "ann")
    counted = ledger.sql(
        "select status, count(*) as n from entries group by status order by n", engine=ENGINE
    )
    assert list(counted) == [("DELETED", 1), ("ADDED", 3)]
    assert ledger.sql("select added_snapshot_id from manifests", engine=ENGINE)["added_snapshot_id"] == [
        1,
        2,
        3,
    ]
    assert ledger.sql("select name, snapshot_id from refs", engine=ENGINE)[0] == ("main", 3)


VERBS = ("show", "snapshots", "manifests", "files", "refs", "schema", "findings", "history", "tree")


@pytest.mark.parametrize(
    ("verb", "arguments"), [*((verb, []) for verb in VERBS), ("show", ["-s", "2"]), ("diff", ["1", "3"])]
)
def test_the_command_line(ledger: ll.Table, verb: str, arguments: list[str]) -> None:
    plain = invoke(verb, ledger.location, *arguments)
    assert plain.exit_code == 0, plain.output
    assert read_document(verb, ledger.location, *arguments)["table"]["format"] == "ledger"


def test_a_version_is_a_users_mistake(ledger: ll.Table) -> None:
    ended = invoke("show", ledger.location, "--version", "1")
    assert ended.exit_code == 2
    assert "a Ledger table has none" in ended.stderr


def test_a_damaged_page_is_a_finding_and_status_1(ledger: ll.Table) -> None:
    page = Path(ledger.location, "ledger", "p2.csv")
    page.write_text(page.read_text().replace("+", "?"))
    ended = invoke("findings", ledger.location)
    assert ended.exit_code == 1
    assert "no mark" in ended.stdout


def test_a_trace_of_a_commit(ledger: ll.Table) -> None:
    home = Path(ledger.location, "ledger")
    document = json.loads((home / "0003.json").read_text())
    with ll.watch(ledger.location) as change:
        (home / "0004.json").write_text(
            json.dumps(document | {"number": 4, "at": "2026-11-24T10:00:00+00:00"})
        )
    assert [file.relative_path for file in change.created] == ["ledger/0004.json"]
    assert "snapshot 4" in change.created[0].reason
    assert change.diff is not None and not len(change.diff.added)


def test_the_inventory_keeps_its_rows(ledger: ll.Table) -> None:
    from lakelens.spark.warehouse.batches import gather_rows, read_portion
    from lakelens.spark.warehouse.columns import DESCRIBED
    from lakelens.spark.warehouse.facts import Known, describe_place
    from lakelens.spark.warehouse.tables import TablePlace

    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)

    def collect(batches: Any) -> None:
        for batch in batches:
            for row in batch.to_pylist():
                for name, value in row.items():
                    if value is not None:
                        rows[name].append(value)

    collect(gather_rows(describe_place(TablePlace(ledger.location, "ledger"), Known()), DESCRIBED))
    for portion in rows.pop("portions"):
        collect(read_portion(portion["plan"]))
    (table,) = rows["tables"]
    assert (table["format"], table["error"], table["snapshot_count"], table["record_count"]) == (
        "ledger",
        None,
        3,
        2,
    )
    assert [(row["snapshot_id"], row["total_files"]) for row in rows["snapshots"]] == [(1, 1), (2, 2), (3, 2)]
    assert [(row["added_files"], row["is_ancestor"]) for row in rows["snapshots"]] == [(1, True)] * 3
    assert sorted((row["status"], row["snapshot_id"]) for row in rows["entries"]) == [
        ("ADDED", 1),
        ("ADDED", 2),
        ("ADDED", 3),
        ("DELETED", 3),
    ]
    assert dict(rows["entries"][0]["partition_texts"]) == {"day": "day-1"}
    assert [row["entry_count"] for row in rows["manifests"]] == [1, 1, 2]
    assert not rows["findings"]
