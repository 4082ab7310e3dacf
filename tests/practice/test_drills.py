"""Drills: what is drawn from a seed is what the engines write, the same seed asks the same, five in a row are mastery."""

from __future__ import annotations

import json
import pickle
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.practice import draws
from tests.practice.record_writers import WHOLE, digest, draw_all

SUBJECTS = ("binary-row", "bounds", "deletion-vector", "partition")
DRAWN = json.loads(Path(__file__).with_name("drawn.json").read_text())


@pytest.mark.parametrize("subject", SUBJECTS)
def test_what_is_drawn_is_what_the_engines_write(subject: str) -> None:
    """Recorded from Iceberg 1.12 and Paimon 0.9 by `record_writers.py`: 10,458 values of rows, and 10,000 bounds."""
    questions = list(draw_all(subject))
    written = [data for _, data, _ in questions]
    recorded = DRAWN[subject]
    assert [data.hex() for data in written[:WHOLE]] == recorded["first"]
    assert digest(written) == recorded["digests"]
    assert (len(written), sum(count for *_, count in questions)) == (
        recorded["questions"],
        recorded["values"],
    )


def test_a_byte_that_differs_is_seen_in_its_digest() -> None:
    written = [data for _, data, _ in draw_all("bounds")]
    written[777] += b"\0"
    recorded = DRAWN["bounds"]["digests"]
    differing = [
        place for place, pair in enumerate(zip(digest(written), recorded, strict=True)) if pair[0] != pair[1]
    ]
    assert differing == [7]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_same_seed_asks_the_same_and_another_one_does_not(subject: str) -> None:
    def ask(seed: int) -> list[Any]:
        return [(exercise.title, exercise.exhibits) for exercise in islice(ll.drill(subject, seed), 20)]

    assert ask(5) == ask(5)
    assert ask(5) != ask(6)
    assert len({str(question) for question in ask(5)}) > 15


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_answer_that_was_worked_out_is_right_and_another_is_not(subject: str) -> None:
    for exercise in islice(ll.drill(subject, 1), 120):
        answer = exercise.solution().answer
        assert exercise.check(answer), exercise
        spoiled = [*answer, 1 << 40] if isinstance(answer, list) else {**answer, next(iter(answer)): object()}
        assert not exercise.check(spoiled), exercise


def test_every_type_and_transform_is_drawn() -> None:
    draw_of = [draws.open_draw("all", 1, number) for number in range(1_000)]
    rows = [draws.draw_row(draw) for draw in draw_of]
    assert {kind for fields, _ in rows for _, kind in fields} == set(draws.ROW_TYPES)
    assert any(value is None for _, values in rows for value in values)
    assert {draws.draw_bounds(draw)[0] for draw in draw_of} == set(draws.BOUND_TYPES)
    partitions = [draws.draw_partition(draw) for draw in draw_of]
    assert {(drawn.type, drawn.transform) for drawn in partitions} == set(draws.TRANSFORMS)
    vectors = [draws.write_vector(draws.draw_positions(draw), is_wide=False)[8:10] for draw in draw_of]
    assert set(vectors) == {b"\x3a\x30", b"\x3b\x30"}


def test_five_right_in_a_row_are_mastery_and_a_wrong_answer_begins_again() -> None:
    drill = ll.drill("bounds", seed=1)
    for number in range(1, 5):
        turn = drill.check(drill.exercise.solution().answer)
        assert turn and turn.streak == number and not turn.is_mastered
    assert not drill.check(...) and drill.streak == 4
    assert not drill.check("no answer") and drill.streak == 0 and drill.exercise.number == 5
    second = drill.check(drill.exercise.solution().answer)
    assert second and second.streak == 0 and "does not count" in second.sentence
    for number in range(1, 6):
        turn = drill.check(drill.exercise.solution().answer)
        assert turn.streak == number
    assert turn.is_mastered and drill.is_mastered and turn.sentence == "that is right, 5 in a row: mastery"
    assert "mastery" in drill.to_text() and "Right: bounds 10" in turn.to_text()
    drill.check("no answer")
    assert drill.is_mastered and drill.streak == 0


def test_a_solution_or_a_skipped_question_counts_nothing() -> None:
    drill = ll.drill("partition", seed=2)
    drill.check(drill.exercise.solution().answer)
    answer = drill.solution().answer
    assert drill.check(answer) and drill.streak == 0 and drill.exercise.number == 3
    drill.check(drill.exercise.solution().answer)
    assert drill.streak == 1 and drill.skip().number == 5 and drill.streak == 0


def test_a_drill_is_kept_and_its_card_has_no_answer() -> None:
    drill = ll.drill("binary-row", seed=4)
    drill.check(drill.exercise.solution().answer)
    again = pickle.loads(pickle.dumps(drill))
    assert (repr(again), again.exercise.exhibits) == (repr(drill), drill.exercise.exhibits)
    shown = drill.to_text()
    assert "seed 4" in shown and drill.hint().text not in shown
    assert all(step.why not in shown for step in drill.solution().steps)
    assert ll.drill("bounds").seed in range(10_000)


def test_mistakes_with_partitions_are_named() -> None:
    drawn = {
        (exercise.title, exercise.exhibits[0].rows[0][3]): exercise
        for exercise in islice(ll.drill("partition", 1), 400)
    }
    by_title = {title: exercise for (title, _), exercise in drawn.items()}
    year, text = by_title["year of a column of date"], by_title["identity of a column of string"]
    right = year.solution().answer
    assert "counted from the first one of 1970" in year.check([right["stored"] + 1970, "x"]).sentence
    assert "it begins with the name of the field" in year.check([right["stored"], "2024"]).sentence
    assert "identity changes nothing" in text.check(["?", "?"]).sentence
    negative = next(
        exercise
        for (title, value), exercise in drawn.items()
        if title.startswith("truncate[10]") and value[0] == "-"
    )
    stored = negative.solution().answer["stored"]
    assert "goes down" in negative.check([stored + 10, "?"]).sentence


@pytest.mark.parametrize(
    ("subject", "seed", "said"),
    [("bound", 1, "did you mean bounds"), ("bounds", True, "no seed"), ("bounds", "a", "no seed")],
)
def test_a_drill_that_there_is_not_is_refused(subject: str, seed: Any, said: str) -> None:
    with pytest.raises(ll.errors.LakeError, match=said):
        ll.drill(subject, seed)
