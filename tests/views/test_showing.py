"""`ll.show`: rows of all kinds as one table, in a notebook and as text; what lakelens gives shows itself."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import html5lib
import pandas as pd
import pyarrow as pa
import pytest

import lakelens as ll
from lakelens.errors import LakeError
from lakelens.options import display
from lakelens.showing import ShownRows
from tests.views.test_hostile import HOSTILE

Pair = namedtuple("Pair", "id name")


class SparkRows:
    """As much of a DataFrame of Spark as is asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def limit(self, most: int) -> SparkRows:
        self.asked.append(most)
        return self

    def collect(self) -> list[Any]:
        row = type("Row", (), {"asDict": lambda self: {"id": 1, "name": "a"}})
        return [row()]


@pytest.mark.parametrize(
    "rows",
    [
        [{"id": 1, "name": "a"}],
        ({"id": one, "name": "a"} for one in (1,)),
        [Pair(1, "a")],
        pd.DataFrame({"id": [1], "name": ["a"]}),
        pa.table({"id": [1], "name": ["a"]}),
        SparkRows(),
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_rows_of_all_kinds_are_one_table(rows: Any, capsys: pytest.CaptureFixture[str]) -> None:
    ll.show(rows)
    assert capsys.readouterr().out == "Rows: 1\n  id  name\n   1  a\n"


def test_values_are_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    ll.show({"text": "it's", "bytes": b"\x01\xff", "nothing": None, "list": [1, 2]})
    lines = capsys.readouterr().out.splitlines()
    assert (
        [line.split()[-1] for line in lines[2:4]] == ["it's", "ff"]
        and "NULL" in lines[4]
        and "1, 2" in lines[5]
    )
    ll.show([(1, "a")], columns=["id", "name"])
    assert "id  name" in capsys.readouterr().out
    ll.show([])
    assert capsys.readouterr().out == "Rows: 0\n"


def test_what_lakelens_gives_shows_itself(capsys: pytest.CaptureFixture[str]) -> None:
    raw = ll.sample("iceberg").metadata
    ll.show(raw, meanings=True)
    assert "meaning" in capsys.readouterr().out
    ll.show(raw, 0)
    assert capsys.readouterr().out.strip() == repr(raw)


def test_what_is_no_rows_is_said() -> None:
    for wrong in (5, "text", b"x", [1], [(1, 2)], [None]):
        with pytest.raises(LakeError, match="no row"):
            ll.show(wrong)
    with pytest.raises(LakeError, match="2 values"):
        ll.show([(1,)], columns=["a", "b"])


def test_it_is_bounded_and_escaped() -> None:
    many = ShownRows({"n": n} for n in range(1_000))
    assert "… 980 more rows" in str(many) and len(many._repr_html_()) < display.max_bytes
    wide = ShownRows([{f"column {n}": n for n in range(500)}])
    assert "440 more columns" in str(wide)
    for text in HOSTILE:
        markup = ShownRows([{str(text): str(text)}])._repr_html_()
        html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parseFragment(markup)
        assert "<script" not in markup and "\x1b" not in markup
