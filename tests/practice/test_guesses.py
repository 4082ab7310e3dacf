"""Guesses: what is written down stays in the reader's own file, is compared with the truth once, and is counted."""

from __future__ import annotations

import ast
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError, WrongArgument
from lakelens.practice.guesses.guess import compare_answer
from lakelens.practice.guesses.journal import find_journal
from lakelens.whole import NotWritten

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
GUESSING = ("01-hive", "02-iceberg", "03-paimon", "12-deletes", "15-crash-lab")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of its own; nothing is in it before something is written down."""
    monkeypatch.setenv("LAKELENS_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def block_journal() -> None:
    """Have the file lead to a place that is not there: nothing to read, and nothing can be written."""
    find_journal().parent.mkdir()
    find_journal().symlink_to(find_journal().parent / "nowhere" / "practice.jsonl")


def read_lines(state: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (state / "practice.jsonl").read_text().splitlines()]


def test_a_guess_is_kept_and_shown_beside_the_truth(state: Path) -> None:
    guess = ll.guess("01-hive", "files of one row")
    assert "not written down" in repr(guess) and "no guess was written down; it is 4" in repr(guess.look(4))
    assert not state.exists(), "to look writes nothing where nothing was guessed"
    guess.write(1, sure=75)
    look = guess.look(4)
    assert look.is_right is False and "you guessed 1, rather sure (75 %); it is 4: not what" in look.sentence
    for text in (guess.to_text(), look.to_text()):
        assert "rather sure (75 %)" in text
    assert "<td" in guess._repr_html_() and "not what you guessed" in look._repr_html_()
    assert [line["kind"] for line in read_lines(state)] == ["guess", "look"]
    assert pickle.loads(pickle.dumps(guess)) is guess


def test_the_truth_is_in_no_guess(state: Path) -> None:
    """What is written before one looks has the reader's own words, and nothing else."""
    ll.guess("01-hive", "files of one row").write("two, I think", sure=25)
    [line] = read_lines(state)
    assert line == {
        "kind": "guess",
        "notebook": "01-hive",
        "question": "files of one row",
        "answer": "two, I think",
        "sure": 25,
    }


def test_a_guess_may_change_until_one_looked(state: Path) -> None:
    guess = ll.guess("02-iceberg", "new files")
    guess.write(1).write("4", sure=95)
    assert guess.look(4).is_right is True
    with pytest.raises(LakeError, match="looked already") as raised:
        guess.write(5)
    assert "forget" in str(raised.value)
    before = len(read_lines(state))
    assert guess.look(4).is_right is True and len(read_lines(state)) == before, "noted once"
    assert ll.guess("02-iceberg").forget().guesses == () and guess.written is None
    assert guess.write(5).look(4).is_right is False


@pytest.mark.parametrize(
    ("truth", "answer", "is_right"),
    [
        (4, 4, True),
        (4, " 4 ", True),
        (1234, "1,234", True),
        (4, 5, False),
        (4, "four", None),
        (4, True, None),
        (True, "yes", True),
        (True, "False", False),
        (True, 1, None),
        ([1, 3], "1, 3", True),
        ([1, 3], "[1, 3]", True),
        ([1, 3], "3, 1", False),
        ([1, 3], "one and three", None),
        ([4], 4, True),
        ({1, 3}, [1, 3], True),
        ({1, 3}, "3, 1", True),
        ({1, 3}, {1, 2}, False),
        ({1, 3}, "the odd ones", None),
        ({"row 2": 4}, "{'row 2': 4}", True),
        ({"row 2": 4}, "after 4", None),
        (b"\x01\x61", "01 61", True),
        ("Delta", " delta", True),
        ("the pointer", "what the catalog has", None),
        (4, None, None),
        (4, "(" * 400, None),
    ],
)
def test_what_can_be_compared_is_and_words_are_the_readers_to_judge(
    truth: Any, answer: Any, is_right: bool | None
) -> None:
    assert compare_answer(truth, answer) is is_right


def test_words_are_judged_by_their_reader_once() -> None:
    guess = ll.guess("15-crash-lab", "when a row is seen").write("row 3 after the third step", sure=95)
    look = guess.look("row 3 after step 3")
    assert look.is_right is None and look.is_to_judge and ".judge(True)" in look.to_text()
    assert guess.write("row 3 first", sure=50).look("row 3 after step 3").is_to_judge
    assert look.judge(True).is_right is True and not look.is_to_judge
    assert look.judge(False).is_right is True, "what was said stays"
    assert ll.guess("15-crash-lab").right == 1


def test_how_often_one_was_right_and_how_sure() -> None:
    assert "no guess was written down" in repr(ll.guess("12-deletes"))
    sures = [95, 95, 75, 75, 25]
    for number, sure in enumerate(sures):
        ll.guess("12-deletes", f"question {number}").write(number, sure)
    calibration = ll.guess("12-deletes")
    assert calibration.sure is None and "no guess was compared" in calibration.sentence
    for number in range(4):
        ll.guess("12-deletes", f"question {number}").look(number % 2)
    calibration = ll.guess("12-deletes")
    assert calibration.sentence == "2 of 4 right, 85 % sure on average", "of few guesses nothing is said"
    ll.guess("12-deletes", "question 4").look(0)
    calibration = ll.guess("12-deletes")
    assert calibration.sentence == "2 of 5 right, 73 % sure on average: surer than you were right"
    assert [tuple(band) for band in calibration.bands] == [
        ("a hunch", 1, 0),
        ("rather sure", 2, 0),
        ("certain", 2, 2),
    ]
    ll.guess("01-hive", "another").write(1).look(1)
    assert len(ll.guess().compared) == 6 and len(ll.guess("01-hive").compared) == 1
    assert "all notebooks" in ll.guess().to_text() and "question 4" in ll.guess()._repr_html_()
    with pytest.raises(LakeError, match="by notebook"):
        ll.guess().forget()


def test_what_cannot_be_guessed_is_refused_in_a_sentence() -> None:
    guess = ll.guess("01-hive", "files of one row")
    for answer in (..., "", "  "):
        with pytest.raises(LakeError, match="in the place of the three dots"):
            guess.write(answer)
    for sure in (101, -1, "very", True, None):
        with pytest.raises(WrongArgument, match="per cent"):
            guess.write(1, sure)  # type: ignore[arg-type]
    for names in (("",), (3,), (None, "files"), ("01-hive", " ")):
        with pytest.raises(WrongArgument, match="name of its notebook"):
            ll.guess(*names)  # type: ignore[call-overload]


def test_a_file_that_cannot_be_written_is_named_with_what_to_do(state: Path) -> None:
    block_journal()
    with pytest.raises(NotWritten, match="cannot be written down") as raised:
        ll.guess("01-hive", "files of one row").write(1)
    assert str(state) in str(raised.value) and "LAKELENS_STATE" in str(raised.value)


def test_a_file_that_cannot_be_read_is_named(state: Path) -> None:
    find_journal().mkdir(parents=True)
    with pytest.raises(LakeError, match="cannot be read"):
        ll.guess("01-hive")


def test_lines_that_were_cut_or_mean_nothing_are_left_out(state: Path) -> None:
    guess = ll.guess("01-hive", "files of one row").write(1)
    with find_journal().open("ab") as file:
        file.write(
            b'\xff\xfe\n[1, 2]\n{"kind": "guess", "notebook": "01-hive", "question": "files of one row"}\n'
        )
        file.write(b'{"kind": "guess", "notebook": "01-h')
    assert guess.written is not None and guess.written.answer == 1
    assert guess.write(2).written.answer == 2, "what follows a cut line begins a new one"  # type: ignore[union-attr]


def test_it_is_kept_where_the_reader_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_journal() == tmp_path / "state" / "practice.jsonl"
    monkeypatch.delenv("LAKELENS_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    assert find_journal() == tmp_path / "xdg" / "lakelens" / "practice.jsonl"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert find_journal() == tmp_path / "home" / ".local" / "state" / "lakelens" / "practice.jsonl"


def test_what_a_reader_writes_is_text_everywhere() -> None:
    hostile = "<img src=x onerror=alert(1)>\x1b[31m\u202e"
    guess = ll.guess("01-hive", hostile).write(hostile)
    for thing in (guess, guess.look(hostile + "!"), ll.guess("01-hive")):
        assert "<img" not in thing._repr_html_()
        assert "\x1b" not in thing.to_text() + repr(thing) and "\u202e" not in thing.to_text() + repr(thing)


def list_calls(source: str) -> list[tuple[list[Any], ast.expr | None]]:
    """The calls of `ll.guess` in a cell: what they are given, and the truth where one looks."""
    code = "\n".join(line for line in source.splitlines() if not line.startswith("%"))
    nodes = list(ast.walk(ast.parse(code))) if not source.startswith("%%") else []
    looks = {
        id(node.func.value): node.args[0]
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "look"
    }
    return [
        ([ast.literal_eval(argument) for argument in node.args], looks.get(id(node)))
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "ll.guess"
    ]


@pytest.mark.parametrize("name", GUESSING)
def test_each_guess_of_a_notebook_is_asked_then_looked_at_and_counted(name: str) -> None:
    """The truth is worked out by the cell that looks; the place for a guess comes after the text that asks for one."""
    cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text("utf-8"))["cells"]
    asked, looked, before = [], [], ""
    for cell in cells:
        source = "".join(cell["source"])
        for given, truth in list_calls(source) if cell["cell_type"] == "code" else ():
            assert given[0] == name
            if truth is not None:
                assert given[1] == asked[len(looked)], "one after the other"
                assert not isinstance(truth, ast.Constant), "worked out, not written down"
                looked.append(given[1])
            elif len(given) == 2:
                assert "*Guess" in before, source
                asked.append(given[1])
            else:
                assert asked == looked and "## What you have learned" in before, "counted at the end"
        before = source if cell["cell_type"] == "markdown" else before
    assert len(set(asked)) == len(asked) >= 2


def test_no_guess_of_anybody_is_in_a_notebook() -> None:
    for path in NOTEBOOKS.glob("*.ipynb"):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            for output in cell.get("outputs", ()):
                text = "".join(output.get("data", {}).get("text/plain", ""))
                assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {})
                if text.startswith(("Guess:", "Look:")):
                    assert "write it down before you look" in text or "your guess: none" in text
                assert not text.startswith("<Calibration") or "no guess was written down" in text
