"""`lakelens.predicates`: what a log that Spark wrote says was asked is what was asked, and files are judged by it alike."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.analysis.layout.logged import LoggedPredicates, count_predicates
from lakelens.analysis.layout.pushed import UnreadFilter, adapt_predicate, find_pushed, read_pushed
from lakelens.errors import LakeError, Missing, Unsupported
from lakelens.model.schema import DataType, Field, Schema
from tests.support.documents import read_document

LOGS = Path(__file__).parents[1] / "lakes" / "eventlogs"
LOG = LOGS / "log.zstd"
KINDS = {
    "id": "int64",
    "ts": "timestamptz",
    "day": "date",
    "user_id": "int32",
    "region": "string",
    "amount": "float64",
    "price": "decimal",
}
SCHEMA = Schema(
    0, tuple(Field(n, name, DataType(kind, kind)) for n, (name, kind) in enumerate(KINDS.items(), 1))
)
TABLES = ("iceberg.lakes.visits", "lakes.visits", "spark_catalog.lakes.visits_parquet")
#: What was asked, as the log has it, in the words of the schema; Spark joins literals that stand side by side.
SAID = {
    "user_id = 5": {"user_id = 5"},
    "id IN (1, 2, 30)": {"id IN (1, 2, 30)", "((id = 1) OR (id = 2)) OR (id = 30)"},
    "ts >= '2026-01-03 00:00:00' AND ts < '2026-01-03 06:00:00'": {
        f"ts >= '2026-01-03{gap}00:00{end}' AND ts < '2026-01-03{gap}06:00{end}'"
        for gap, end in ((" ", ":00"), ("T", ""), (" ", ":00.0"))
    },
    "day = DATE '2026-01-02'": {"day = '2026-01-02'"},
    "region = 'O''Hara, (north)'": {"region = 'OHara, (north)'"},
    "region LIKE 'no%'": {"region LIKE 'no%'"},
    "amount > 9.5 OR user_id <= 3": {"(amount > 9.5 OR user_id <= 3)", "(amount > 9.5) OR (user_id <= 3)"},
    "price >= 10.25": {"price >= 10.25"},
    "NOT (user_id = 7)": {"NOT (user_id = 7)", "user_id <> 7"},
    "region IS NULL": {"region IS NULL"},
}


@pytest.mark.parametrize("table", TABLES)
def test_what_was_asked_is_what_the_log_says(table: str) -> None:
    asked = json.loads((LOGS / "asked.json").read_text("utf-8"))
    found = {adapt_predicate(row.predicate, SCHEMA): row.asked for row in ll.predicates(LOG, table)}
    for where, number in asked.items():
        (said,) = SAID[where] & found.keys()
        assert found.pop(said) == number
    # a join asks for what may be joined
    assert found == {"NOT id IS NULL": 1, "user_id = 9 AND NOT id IS NULL": 1}


def test_scans_without_a_filter_are_counted() -> None:
    log = ll.predicates(LOG)
    assert (log.scans, log.unfiltered, log.unread) == (50, 2, 0)
    assert sum(row.asked for row in log) == 48 and {row.table for row in log} == set(TABLES)


def test_logs_of_a_directory_are_read_together(tmp_path: Path) -> None:
    from lakelens.codecs.compression import decompress

    lines = decompress("zstd", LOG.read_bytes()).splitlines(keepends=True)
    (tmp_path / "eventlog_v2_app-1").mkdir()
    (tmp_path / "eventlog_v2_app-1" / "events_1_app-1.gz").write_bytes(gzip.compress(b"".join(lines[:30])))
    (tmp_path / "eventlog_v2_app-1" / "appstatus_app-1").write_bytes(b"")
    (tmp_path / "local-1.inprogress").write_bytes(b"".join(lines[30:]) + lines[-1][:100])
    assert list(ll.predicates(tmp_path)) == list(ll.predicates(LOG))
    with pytest.raises(Missing):
        ll.predicates(tmp_path / "none")
    (tmp_path / "local-2.lz4").write_bytes(b"LZ4Block")
    with pytest.raises(Unsupported, match="lz4"):
        ll.predicates(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(LakeError, match="no event log"):
        ll.predicates(tmp_path / "empty")


def test_a_table_takes_its_own_predicates(tmp_path: Path) -> None:
    scan = "c.{}[id#1L] c.{} (branch=null) [filters=id IS NOT NULL, id = 3, groupedBy=] RuntimeFilters: []"
    names = ["c.lakes.v3_merge_on_read"] * 4 + ["c.other.t"]
    plans = [{"nodeName": f"BatchScan {name}", "simpleString": scan.format(name, name)} for name in names]
    event = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"
    lines = [json.dumps({"Event": event, "sparkPlanInfo": plan}).encode() for plan in plans]
    table = ll.sample("iceberg")
    log = count_predicates(lines)
    assert log.of(table) == {"id = 3": 4}
    advice = table.advise(log, sample=100)
    assert (advice.asked, advice.predicates) == (4, 1)
    assert table.what_if("sort by id", log, sample=100).asked == 4
    place = tmp_path / "local-1"
    place.write_bytes(b"\n".join(lines))
    for predicates in (place, log):
        assert table.advise({"p = 1": 2, "id = 3": 1}, predicates=predicates, sample=100).asked == 7
    options = ("--predicates", str(place), "--sample", "100")
    said = read_document("what-if", "sample:iceberg", "sort by id", *options)
    assert [(row["predicate"], row["asked"]) for row in said["predicates"]] == [("id = 3", 4)]
    assert read_document("advise", "sample:iceberg", *options, "-w", "p = 1")["asked"] == 5
    with pytest.raises(LakeError, match="no predicate"):
        table.advise()
    with pytest.raises(LakeError, match="asks nothing"):
        LoggedPredicates([row for row in log if row.table == "c.other.t"]).of(table)


@pytest.mark.parametrize(
    "text", ["EqualTo(a,it's)", "Bloom(a)", "EqualTo(a,[)", "And(EqualTo(a,1))", "a = 1"]
)
def test_what_cannot_be_told_is_unread(text: str) -> None:
    with pytest.raises(UnreadFilter):
        read_pushed(text)
    with pytest.raises(UnreadFilter):
        find_pushed("BatchScan t PaimonScan: [t], PushedFilters: [Equal(a, [)] RuntimeFilters: [")
