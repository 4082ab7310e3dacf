"""The notebooks as they are kept. Whether they still come out the same is nbval's to say (`make notebooks`)."""

from __future__ import annotations

import base64
import re
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from notebooks.minutes import is_folded, read_notebook

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
RULE = re.compile(r"^regex: (.*)$\n^replace: (.*)$", re.MULTILINE)


def sanitize(text: str) -> str:
    """Apply the rules of `sanitize.cfg` as nbval does."""
    for regex, replace in RULE.findall((NOTEBOOKS / "sanitize.cfg").read_text("utf-8")):
        text = re.sub(regex, replace, text)
    return text


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> nbformat.NotebookNode:
    return nbformat.read(request.param, as_version=4)


def test_a_notebook_was_run_once_from_top_to_bottom(notebook: nbformat.NotebookNode) -> None:
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))


def test_no_output_is_an_error_or_chatter(notebook: nbformat.NotebookNode) -> None:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"] == []


@pytest.mark.exhaustive(keep=3)
def test_no_output_keeps_a_place_of_the_machine_that_ran_it(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        for place in re.findall(
            r"[^\s'\"<>]*lakelens-[a-z0-9_-]{8,}|/home/\w+|/Users/\w+", str(cell.get("outputs", ""))
        ):
            raise AssertionError(f"{place} in the output of: {cell.source[:60]}")
        for drawn in re.findall(r"svg\+xml;base64,([A-Za-z0-9+/=]+)", str(cell.get("outputs", ""))):
            assert b"lakelens-" not in base64.b64decode(drawn), cell.source[:60]


def test_no_cell_relies_on_a_semicolon(notebook: nbformat.NotebookNode) -> None:
    # nbval runs cells without a history, and IPython looks there for the semicolon that silences a result
    assert [
        cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.source.rstrip().endswith(";")
    ] == []


def list_section(notebook: nbformat.NotebookNode, heading: str) -> list[nbformat.NotebookNode]:
    """The cells from a heading of the second level to the next one."""
    starts = [
        i for i, c in enumerate(notebook.cells) if c.cell_type == "markdown" and re.match(r"## ", c.source)
    ]
    for start, end in zip(starts, [*starts[1:], len(notebook.cells)], strict=True):
        if notebook.cells[start].source.split("\n")[0].strip() == f"## {heading}":
            return list(notebook.cells[start:end])
    return []


def test_every_exercise_is_checked_and_solved_at_the_foot(notebook: nbformat.NotebookNode) -> None:
    """Below a question is a cell to answer in; solutions come after all of them; a wrong and a right answer are tried."""
    asked, solved = list_section(notebook, "Exercises"), list_section(notebook, "Solutions")
    assert asked and solved, "no exercises, or no solutions"
    questions = [
        int(n)
        for cell in asked
        if cell.cell_type == "markdown"
        for n in re.findall(r"^\*\*(\d+)\.", cell.source, re.M)
    ]
    assert questions == list(range(1, len(questions) + 1)) and questions
    assert not any("<details>" in cell.source for cell in asked), "a fold among the questions"
    visible = [cell.source for cell in asked if cell.cell_type == "code" and not is_folded(cell)]
    prose = "\n".join(cell.source for cell in solved if cell.cell_type == "markdown")
    checks = "\n".join(cell.source for cell in solved if cell.cell_type == "code" and is_folded(cell))
    for n in questions:
        assert any(f".check({n}, ...)" in source for source in visible), f"nowhere to answer exercise {n}"
        assert f"<summary>Solution {n}" in prose, f"no solution of exercise {n}"
        assert re.search(rf"assert not \w+\.check\({n}, ", checks), (
            f"no wrong answer of exercise {n} is tried"
        )
        assert re.search(rf"assert \w+\.check\({n}, ", checks), f"no right answer of exercise {n} is tried"


def test_a_visible_cell_is_short(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        if cell.cell_type == "code" and not is_folded(cell):
            lines = [
                line
                for line in cell.source.splitlines()
                if line.strip() and not line.lstrip().startswith("#")
            ]
            assert len(lines) <= 8, cell.source
            assert max(map(len, cell.source.splitlines()), default=0) <= 120, cell.source


def test_a_notebook_takes_as_long_as_it_says(
    notebook: nbformat.NotebookNode, request: pytest.FixtureRequest
) -> None:
    path = next(path for path in PATHS if path.stem == request.node.callspec.id)
    said = re.search(r"\b(\d+) minutes\b", notebook.cells[0].source)
    assert said, "its first cell says how many minutes it takes: `notebooks/minutes.py` measures them"
    measured = read_notebook(path).minutes
    assert measured <= int(said[1]) <= measured + 3, f"it says {said[1]}, and takes {measured}"
    assert measured <= 25


def test_minutes_count_what_cards_show_unfolded(tmp_path: Path) -> None:
    card = (
        "<style>p{}</style><p>two <b>words</b></p><details open><summary>three</summary>four "
        "<details><summary>five</summary>not six</details></details><details><summary>seven</summary>no</details>"
    )
    shown = new_output("display_data", {"text/html": card, "text/plain": "not this"})
    cells = [
        new_code_cell("x", outputs=[shown]),
        new_code_cell("x", outputs=[shown], metadata={"jupyter": {"outputs_hidden": True}}),
        new_code_cell("x", outputs=[new_output("stream", text="one more")]),
        new_markdown_cell("## Exercises"),
        new_code_cell("x", outputs=[shown]),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "x.ipynb")
    reading = read_notebook(tmp_path / "x.ipynb")
    assert (reading.shown_words, reading.cells) == (6 + 2, 4)
    assert reading._replace(words=0, cells=0, shown_words=801).minutes == 2


def test_where_a_guess_is_asked_for_it_can_be_written_down(notebook: nbformat.NotebookNode) -> None:
    """The next cell is the form, a later one shows it beside the truth, and the last says how often one was right."""
    form = r"^ll\.guess\(\"[\w-]+\", \"[^\"]+\"\)$"
    asking = [
        after.source.splitlines()[-1]
        for cell, after in pairwise(notebook.cells)
        if cell.cell_type == "markdown" and "*Guess" in cell.source
    ]
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert asking == re.findall(form, code, re.MULTILINE)
    assert all(f"{place}.look(" in code for place in asking)
    assert len(re.findall(r"^ll\.guess\(\"[\w-]+\"\)$", code, re.MULTILINE)) == bool(asking)


def test_every_fold_is_closed_and_rendered(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            assert cell.source.count("<details>") == cell.source.count("</details>")
            # without the empty line Markdown in a fold stays as it is typed
            assert not re.search(r"</summary>\n(?!\n)", cell.source), cell.source[:60]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/tmp/lakelens-ab12_x9z/hive", "/var/folders/q/T/lakelens-zzzzzzz1/hive"),
        ("snap-5210511640741470556-1-af47425a-bf7c-4c11-84c1-72166018e2d6.avro",
         "snap-521051164074147055-1-00000000-bf7c-4c11-84c1-72166018e2d6.avro"),
        ("2026-11-21 13:44:52.379", "2027-01-02 03:04:05.006"),
        ("'timestamp-ms': 1795269151547", "'timestamp-ms': 1895269151547"),
        ("<tr><td>x.avro</td><td>8,116 B</td></tr>", "<tr><td>x.avro</td><td>8,121 B</td></tr>"),
        ("'manifest_length': 8116,", "'manifest_length': 8121,"),
        ("<b>Trace</b> INSERT wrote 4 files, 13.7 KiB</p>", "<b>Trace</b> INSERT wrote 4 files, 9,998 B</p>"),
        ('">created</abbr></span> <br><b>4</b> <br><small>13.7 KiB</small>',
         '">created</abbr></span> <br><b>4</b> <br><small>9,998 B</small>'),
        ("Trace: INSERT wrote 1 file\n  a.avro", "Trace: INSERT wrote 1 file\n    b.avro"),
        ("from 2026-11-21 13:44:51 to 13:44:52 UTC on", "from 2026-11-21 13:44:51 to 13:45:00 UTC on"),
        ('<h4>Storage tree</h4><td title="949 bytes"><span class="ll-m"><abbr>bytes</abbr></span> <br><b>14 KiB</b>-m0.avro',
         '<h4>Storage tree</h4><td><span class="ll-m"><abbr>bytes</abbr></span> <br><b>9,987 B</b>-m0.avro'),
        ('<img src="data:image/svg+xml;base64,QUJD" alt="', '<img src="data:image/svg+xml;base64,REVG" alt="'),
    ],
)  # fmt: skip
def test_what_differs_between_runs_is_replaced(one: str, other: str) -> None:
    assert sanitize(one) == sanitize(other) != one


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<tr><td>part-0.parquet</td><td>677 B</td></tr>", "<tr><td>part-0.parquet</td><td>678 B</td></tr>"),
        ("<tr><td>a.parquet</td><td>5 B</td></tr><tr><td>x.avro</td></tr>",
         "<tr><td>a.parquet</td><td>6 B</td></tr><tr><td>x.avro</td></tr>"),
        ("commitIdentifier 9223372036854775807", "commitIdentifier 9223372036854775806"),
        ("rows 20", "rows 21"),
        ("'record_count': 10000000", "'record_count': 10000001"),
        ("01 00 00 00 00 00 00 00", "02 00 00 00 00 00 00 00"),
        ("2024-01-01", "2024-01-02"),
        ("<b>Trace</b> INSERT wrote 4 files, 9 B</p>", "<b>Trace</b> INSERT wrote 5 files, 9 B</p>"),
        ('">removed</abbr></span> <br><b>4</b> <br><small>1 B</small>',
         '">removed</abbr></span> <br><b>5</b> <br><small>1 B</small>'),
    ],
)  # fmt: skip
def test_what_means_something_is_compared(one: str, other: str) -> None:
    assert sanitize(one) != sanitize(other)


def test_there_are_notebooks() -> None:
    assert "00-start" in [path.stem for path in PATHS]


def test_the_story_holds_no_assert(notebook: nbformat.NotebookNode) -> None:
    """Checks are in cells that JupyterLab keeps folded, each with a first line that says what it is."""
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        assert folded or not re.search(r"^\s*assert ", cell.source, re.MULTILINE), cell.source
        assert not folded or cell.source.startswith("# "), cell.source[:60]
