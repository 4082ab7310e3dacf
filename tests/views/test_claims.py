"""What the metadata claims beside what the file says of itself."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from lakelens.analysis.claims import compare_claims
from lakelens.model.schema import DataType, Field, Schema
from lakelens.model.stats import Bounds, ColumnBounds
from lakelens.views.cards.file import format_claims, grid_claims

TEXT = DataType("string", "string")


def make_file(rows: int = 3, **bound: Any) -> Any:
    told = {"lower": "a", "upper": "c", "nulls": 0, "size": 40, **bound}
    column = ColumnBounds("name", TEXT, 1, values=rows, **told)
    return SimpleNamespace(
        record_count=rows, size_bytes=900, manifest="m0.avro", bounds=Bounds({"name": column})
    )


def make_footer(**told: Any) -> Any:
    column = {
        "path": "old_name",
        "field_id": 1,
        "null_count": 0,
        "compressed_size": 40,
        "min": "a",
        "max": "c",
    }
    return SimpleNamespace(num_rows=3, columns=(SimpleNamespace(**{**column, **told}),))


def judge(found: Any, footer: Any) -> dict[str, str]:
    return {claim.fact: claim.verdict for claim in compare_claims(found, footer)}


def test_columns_are_matched_by_id_and_agree() -> None:
    verdicts = judge(make_file(), make_footer())
    assert verdicts == dict.fromkeys(("rows", "nulls", "bytes", "lower", "upper"), "agree")
    claims = compare_claims(make_file(), make_footer())
    assert format_claims(claims) == ("", "5 of 5 facts agree with what the metadata claims")


def test_columns_are_matched_by_name_where_the_file_has_no_ids() -> None:
    assert "nulls" in judge(make_file(), make_footer(field_id=None, path="name"))
    assert "nulls" not in judge(make_file(), make_footer(field_id=None))
    assert "nulls" not in judge(make_file(), make_footer(field_id=2, path="name"))


def test_an_id_that_several_columns_have_is_told_by_the_name() -> None:
    footer = make_footer(path="name")
    other = SimpleNamespace(path="v.value", field_id=1, null_count=9, compressed_size=1, min=None, max=None)
    footer.columns = (footer.columns[0], other)
    assert judge(make_file(), footer)["nulls"] == "agree"


def test_a_column_is_looked_for_under_the_name_it_was_written_with() -> None:
    found = make_file()
    found.schema = Schema(0, (Field(1, "old_name", TEXT),))
    assert judge(found, make_footer(field_id=None))["nulls"] == "agree"
    assert "nulls" not in judge(found, make_footer(field_id=None, path="name"))
    found.schema = Schema(0, (Field(2, "name", TEXT),))
    assert "nulls" not in judge(found, make_footer(field_id=None, path="name")), "it was added later"


def test_a_listing_claims_nothing() -> None:
    found = make_file()
    found.manifest = None
    assert judge(found, make_footer()) == {}


@pytest.mark.parametrize(
    ("bound", "told", "fact", "verdict"),
    [
        ({"lower": "a"}, {"min": "ab"}, "lower", "wider"),
        ({"lower": "b"}, {"min": "ab"}, "lower", "DIFFER"),
        ({"upper": "d"}, {"max": "c"}, "upper", "wider"),
        ({"upper": "b"}, {"max": "c"}, "upper", "DIFFER"),
        ({"nulls": 1}, {"null_count": 0}, "nulls", "DIFFER"),
        ({"size": 41}, {}, "bytes", "DIFFER"),
    ],
)
def test_bounds_may_be_wider_never_narrower(bound: Any, told: Any, fact: str, verdict: str) -> None:
    assert judge(make_file(**bound), make_footer(**told))[fact] == verdict


def test_what_cannot_be_compared_is_not_judged() -> None:
    zoned, bare = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1)
    assert "lower" not in judge(make_file(lower=zoned), make_footer(min=bare))
    assert "lower" not in judge(make_file(lower=1), make_footer(min="1"))
    assert "lower" not in judge(make_file(lower=None), make_footer())
    assert judge(make_file(), object()) == {}
    assert format_claims([]) == ("", "records nothing that the metadata records too")


def test_a_difference_is_said_with_its_column() -> None:
    claims = compare_claims(make_file(rows=4, upper="b"), make_footer())
    alert, answer = format_claims(claims)
    assert alert == "2 DIFFER"
    assert answer.startswith("rows; 3 of 5 facts agree")
    rows = [[cell.text for cell in row] for row in grid_claims(claims).rows]
    assert rows[0] == ["rows", "4", "3", "DIFFER"]
    assert ["upper of name", "'b'", "'c'", "DIFFER"] in rows
    assert ["bytes of columns", "40 in 1 column", "40 in 1 column", "agree"] in rows
