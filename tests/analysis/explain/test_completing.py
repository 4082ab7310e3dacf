"""What may stand next in a condition: whatever is completed to its end is a condition that the table takes."""

from __future__ import annotations

from random import Random

import pytest

import lakelens as ll
from lakelens.analysis.explain.completing import complete_condition, list_fields, list_values, quote_name
from lakelens.completion import find_names
from lakelens.model.table import Table

_ENDS = ("AND", "OR")
_SIGNS = (",", ")", "(")


def complete_on(table: Table, draw: Random) -> str:
    """Complete a condition word by word, until another one may begin; empty where a column has no values."""
    text = ""
    for _ in range(40):
        begun, words = complete_condition(table, text)
        assert begun == "" and len(words) == len(set(words))
        if not words:
            return ""
        if set(words) == set(_ENDS):
            return text
        word = draw.choice(words)
        text += word if word in _SIGNS else f"{word} "
    return ""


@pytest.mark.parametrize("name", [sample.name for sample in ll.sample()])
def test_a_condition_that_is_completed_to_its_end_is_one(name: str) -> None:
    table = ll.sample(name)
    draw = Random(name)
    conditions = [text for text in (complete_on(table, draw) for _ in range(20)) if text]
    assert bool(conditions) == bool(list_fields(table))
    for text in conditions:
        table.explain(text)


@pytest.mark.parametrize(
    ("text", "begun", "words"),
    [
        ("", "", ["id", "name", "p", "NOT"]),
        ("NA", "NA", ["name"]),
        ("id I", "I", ["IN (", "IS NULL", "IS NOT NULL"]),
        ("p = 1 AND id", "id", []),
        ("p NOT IN (", "", ["0", "1"]),
        ("p IN (0", "0", []),
        ("p IN (0 ", "", [")", ","]),
        ("p IN (0, ", "", ["0", "1"]),
        ("p IN (0) a", "a", ["and"]),
        ("p BETWEEN 0 ", "", ["AND"]),
        ("p BETWEEN 0 AND ", "", ["0", "1"]),
        ("p between 0 and 1 ", "", ["AND", "OR"]),
        ('"id" IS ', "", ["NULL", "NOT"]),
        ("id IS NOT ", "", ["NULL"]),
        ("NOT (p = 0) ", "", ["AND", "OR"]),
        ("name = 'me", "'me", ["'merged'"]),
        ("nothing = ", "", []),
    ],
)
def test_what_stands_next(text: str, begun: str, words: list[str]) -> None:
    assert complete_condition(ll.sample("iceberg"), text) == (begun, words)


@pytest.mark.parametrize("name", ["iceberg-types", "delta-types", "paimon-deletion-vectors", "hive"])
def test_each_value_is_one_that_a_file_has(name: str) -> None:
    table = ll.sample(name)
    for column, values in list_values(table, list_fields(table)).items():
        for value in values:
            answer = table.explain(f"{quote_name(column)} = {value}")
            assert answer.kept or column == "nan", f"{column} = {value} is of no file"


def test_text_of_a_lake_ends_no_quote() -> None:
    name = "o'r\"d er"
    assert quote_name(name) == '"o\'r""d er"'
    namespace = {"t": ll.sample("iceberg")}
    begun, words = find_names("t.explain(\"name = 'n", namespace)
    assert begun == "'n" and words == ["'n0'", "'n1'", "'n8'", "'n9'", "'new'"]
    assert find_names("t.explain('name = ", namespace) == ("", []), "they would end the text"
    assert find_names('t.row("id = 18 a', namespace) == ("a", ["and"])
