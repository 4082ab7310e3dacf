"""`explain` compared with the files that delta-spark's scan reads, on tables of both writers."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

import pytest

import lakelens as ll
from tests.support import LAKES

FOLDER = LAKES / "delta"
RECORDED: dict[str, Any] = json.loads((FOLDER / "skipping.json").read_text("utf-8"))
EMPTY = "an empty text as partition value is NULL by the specification, and a text in Spark's reading"
NAN = "some writers leave NaN out of a maximum, and it is larger than every number"
#: Why a file is kept that Spark leaves out.
KEPT_HERE = {
    ("rs/partitioned", "part IS NULL"): EMPTY,
    ("spark/types", "f64 > 1e300"): NAN,
}


def explain_difference(name: str, predicate: str) -> str | None:
    """Say why Spark reads a file that is left out here."""
    if name == "rs/struct-stats":
        return "Spark has no statistics where a checkpoint keeps them as a struct alone"
    if " IN (" in predicate:
        return "Spark takes a list as the range from its smallest to its largest value"
    if (name, predicate) == ("rs/partitioned", "name = 'row 2' OR part = 'a b'"):
        return "Spark asks of partitions alone, and of the other columns alone"
    return EMPTY if (name, predicate) == ("rs/partitioned", "part IS NOT NULL") else None


def list_kept(name: str, predicate: str) -> set[str]:
    """List the names of the files that a predicate leaves."""
    kept = ll.open(FOLDER / name / "table").explain(predicate).kept
    return {unquote(file.logical_path).rpartition("/")[2] for file in kept}


@pytest.mark.parametrize("name", RECORDED)
def test_files_are_kept_as_spark_keeps_them_or_fewer(name: str) -> None:
    """Never is a file left out that has a row which fits, as Spark has counted; each difference has its cause."""
    said = RECORDED[name]
    for asked in said["predicates"]:
        predicate = asked["predicate"]
        kept = list_kept(name, predicate)
        read, fits = ({said["files"][number] for number in asked[side]} for side in ("read", "fits"))
        if explain_difference(name, predicate) != EMPTY:
            assert fits <= kept, predicate
        assert bool(kept - read) == ((name, predicate) in KEPT_HERE), predicate
        if read - kept:
            assert explain_difference(name, predicate), predicate


def test_every_cause_of_a_difference_is_seen() -> None:
    """The causes are of differences that there are, and most predicates have none."""
    seen, equal = set(), 0
    for name, said in RECORDED.items():
        for asked in said["predicates"]:
            kept = list_kept(name, asked["predicate"])
            read = {said["files"][number] for number in asked["read"]}
            equal += kept == read
            if read - kept:
                seen.add(explain_difference(name, asked["predicate"]))
    assert len(seen) == 4
    assert equal == 315
    assert len(RECORDED) >= 10
    assert all(len(said["predicates"]) >= 10 for said in RECORDED.values())
