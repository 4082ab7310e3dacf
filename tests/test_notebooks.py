"""The notebooks as they are kept. Whether they still come out the same is nbval's to say (`make notebooks`)."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import nbformat
import pytest

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


def test_every_answer_is_checked(notebook: nbformat.NotebookNode) -> None:
    cells = notebook.cells
    answers = [i for i, cell in enumerate(cells) if "<summary>Answer" in cell.source]
    assert answers, "no exercise"
    for index in answers:
        assert "assert " in cells[index + 1].source, cells[index].source[:60]


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
        ('">created</abbr></span><br><b>4</b><br><small>13.7 KiB</small>',
         '">created</abbr></span><br><b>4</b><br><small>9,998 B</small>'),
        ("Trace: INSERT wrote 1 file\n  a.avro", "Trace: INSERT wrote 1 file\n    b.avro"),
        ("from 2026-11-21 13:44:51 to 13:44:52 UTC on", "from 2026-11-21 13:44:51 to 13:45:00 UTC on"),
        ('<h4>Storage tree</h4><td title="949 bytes"><span class="ll-m"><abbr>bytes</abbr></span><br><b>14 KiB</b>-m0.avro',
         '<h4>Storage tree</h4><td><span class="ll-m"><abbr>bytes</abbr></span><br><b>9,987 B</b>-m0.avro'),
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
        ('">removed</abbr></span><br><b>4</b><br><small>1 B</small>',
         '">removed</abbr></span><br><b>5</b><br><small>1 B</small>'),
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
