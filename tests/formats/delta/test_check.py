"""What a Delta log records of itself is compared: every figure of engines agrees, and one that is changed is found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakelens as ll
from lakelens.formats.delta.check import digest_hint
from tests.support import LAKES

DELTA = LAKES / "delta"
Change = Callable[[Any], Any]


def edit_json(path: Path, change: Change) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def edit_lines(path: Path, kind: str, change: Change) -> None:
    """Change the fields of each action of a kind in a commit; with "*" the list of all of them."""
    actions = [json.loads(line) for line in path.read_text().splitlines()]
    if kind == "*":
        change(actions)
    for action in actions:
        if kind in action:
            change(action[kind])
    path.write_text("\n".join(map(json.dumps, actions)))


def edit_rows(path: Path, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Change the rows of a checkpoint in Parquet."""
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), path)


def find_newest(place: Path, pattern: str) -> Path:
    return sorted(place.glob(f"_delta_log/{pattern}"))[-1]


def checksum(**figures: Any) -> Change:
    return lambda place: edit_json(find_newest(place, "*.crc"), lambda held: held.update(figures))


def hint(**figures: Any) -> Change:
    return lambda place: edit_json(place / "_delta_log/_last_checkpoint", lambda held: held.update(figures))


def checkpoint(change: Callable[[list[dict[str, Any]]], Any]) -> Change:
    return lambda place: edit_rows(find_newest(place, "*.checkpoint*parquet"), change)


def commit(kind: str, change: Change, pattern: str = "*.json") -> Change:
    return lambda place: edit_lines(find_newest(place, pattern), kind, change)


def drop_file(rows: list[dict[str, Any]]) -> None:
    rows.remove(next(row for row in rows if row["add"] is not None))


def change_first(kind: str, name: str, value: Any) -> Callable[[list[dict[str, Any]]], None]:
    def change(rows: list[dict[str, Any]]) -> None:
        next(row for row in rows if row[kind] is not None)[kind][name] = value

    return change


#: code, a part of the message, the table, and what is changed
DAMAGE: list[tuple[str, str, str, Change]] = [
    ("checksum", "numFiles: 9 recorded, 3 found", "spark/appends", checksum(numFiles=9)),
    ("checksum", "tableSizeBytes: 1 recorded", "spark/appends", checksum(tableSizeBytes=1)),
    ("checksum", "numProtocol: 2 recorded", "spark/appends", checksum(numProtocol=2)),
    ("checksum", "numDeletedRecordsOpt: 77", "spark/vectors", checksum(numDeletedRecordsOpt=77)),
    ("checksum", "inCommitTimestampOpt: 5", "spark/commit-timestamps", checksum(inCommitTimestampOpt=5)),
    ("log-differs", "allFiles", "spark/appends", checksum(allFiles=[])),
    ("log-differs", "domainMetadata", "spark/clustered", checksum(domainMetadata=[])),
    (
        "log-differs",
        "setTransactions",
        "spark/appends",
        checksum(setTransactions=[{"appId": "a", "version": 1}]),
    ),
    (
        "log-differs",
        "protocol",
        "spark/appends",
        checksum(protocol={"minReaderVersion": 1, "minWriterVersion": 1}),
    ),
    (
        "checksum",
        "fileCounts of the histogram",
        "spark/appends",
        checksum(fileSizeHistogram={"fileCounts": [1], "totalBytes": [1]}),
    ),
    (
        "checksum",
        "no JSON",
        "spark/appends",
        lambda place: find_newest(place, "*.crc").write_text("{"),
    ),
    ("hint", "numOfAddFiles: 1", "rs/checkpointed", hint(numOfAddFiles=1)),
    ("hint", "size, the number of actions: 1", "rs/checkpointed", hint(size=1)),
    ("hint", "parts: 7 recorded", "spark/multi-part", hint(parts=7)),
    ("hint-checksum", "its content gives", "spark/change-feed", hint(checksum="0" * 32)),
    ("checkpoint-files", "1 file are live and not in it", "rs/checkpointed", checkpoint(drop_file)),
    ("checkpoint-files", "another size", "rs/checkpointed", checkpoint(change_first("add", "size", 1))),
    (
        "checkpoint-files",
        "are in it and not live",
        "rs/checkpointed",
        checkpoint(change_first("add", "path", "other.parquet")),
    ),
    ("log-differs", "metaData", "rs/checkpointed", checkpoint(change_first("metaData", "id", "other"))),
    (
        "vector-cardinality",
        "77 recorded",
        "spark/vectors-prefixed",
        commit("add", lambda add: add["deletionVector"].update(cardinality=77)),
    ),
    (
        "vector-rows",
        "numRecords is 1",
        "spark/vectors-prefixed",
        commit("add", lambda add: add.update(stats='{"numRecords": 1}')),
    ),
    (
        "vector-rows",
        "no numRecords",
        "spark/vectors-prefixed",
        commit("add", lambda add: add.pop("stats")),
    ),
    ("add-size", "is 0", "rs/appends", commit("add", lambda add: add.update(size=0))),
    ("add-size", "is 'x'", "rs/appends", commit("add", lambda add: add.update(size="x"))),
    (
        "add-partition",
        "the partition columns are",
        "rs/partitioned",
        commit("add", lambda add: add.update(partitionValues={})),
    ),
    ("row-ids", "no baseRowId", "spark/row-tracking", commit("add", lambda add: add.pop("baseRowId"))),
    (
        "row-ids",
        "rowIdHighWaterMark",
        "spark/row-tracking",
        commit("add", lambda add: add.update(baseRowId=10**6)),
    ),
    (
        "protocol",
        "readerFeatures is there",
        "rs/appends",
        commit("protocol", lambda held: held.update(readerFeatures=[]), "*0.json"),
    ),
    (
        "protocol",
        "not among the writerFeatures",
        "spark/vectors",
        commit("protocol", lambda held: held.update(writerFeatures=[]), "*0.json"),
    ),
    (
        "protocol-feature",
        "does not name clustering",
        "spark/clustered",
        lambda place: [
            edit_lines(path, "protocol", lambda held: held.update(readerFeatures=[], writerFeatures=[]))
            for path in place.glob("_delta_log/*.json")
        ],
    ),
]


def list_findings(place: Path) -> list[tuple[str, str]]:
    return [(finding.code, finding.message) for finding in ll.open(place).check().findings]


@pytest.mark.parametrize(
    ("code", "words", "name", "change"),
    DAMAGE,
    ids=[f"{row[2]}-{row[0]}-{n}" for n, row in enumerate(DAMAGE)],
)
def test_what_differs_is_found(code: str, words: str, name: str, change: Change, tmp_path: Path) -> None:
    place = tmp_path / "table"
    shutil.copytree(DELTA / name / "table", place)
    change(place)
    for path in place.glob("_delta_log/.*.crc"):
        path.unlink()
    found = list_findings(place)
    assert any(one == code and words in message for one, message in found), found


@pytest.mark.parametrize(
    "place", sorted(DELTA.glob("*/*/table")), ids=lambda path: "-".join(path.parts[-3:-1])
)
def test_engines_agree_with_themselves(place: Path) -> None:
    check = ll.open(place).check(data=True)
    # files of a clone are in the table that it was made of, which is not here
    assert place.parent.name == "cloned" or (check.verdict == "sound" and not check.differ), check.findings
    recorded = {line.recorded for line in check.counted}
    has_checksums = any(place.glob("_delta_log/[0-9]*.crc"))
    assert ("checksums of versions" in recorded) == has_checksums
    assert place.parent.name == "empty" or {"facts of adds", "the protocol"} <= recorded


def test_hints_of_spark_have_the_checksum_of_their_content() -> None:
    seen = 0
    for path in DELTA.glob("spark/*/table/_delta_log/_last_checkpoint"):
        hint = json.loads(path.read_text())
        if "checksum" in hint:
            seen += 1
            assert digest_hint(hint) == hint["checksum"]
    assert seen > 3


def test_a_checkpoint_without_the_commits_before_it_is_not_compared() -> None:
    gaps = ll.open(DELTA / "rs/cleaned/table").check().not_looked_at
    assert any(gap.what == "the checkpoint of version 4" for gap in gaps)
