"""Numbers from six on in the text of a notebook: a cell of the same section shows them, or they are listed here.

There were 176 of them on 28 November 2026, and a cell showed 118. Of the 118, each made larger by one, 81 were found;
the others stand elsewhere in their section by chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from notebooks.claims import list_claims

PATHS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))
#: Numbers that name no figure of a cell: of a format, of an example, of lines that one counts, of a sum in the text.
SAID: dict[str, set[str]] = {
    "00-start": {"ten"},
    "01-hive": {"10", "ten", "twenty"},
    "02-iceberg": {"67,108,864", "Thirteen", "eight"},
    "03-paimon": {"Fourteen", "eight", "seven", "twelve"},
    "04-binary-row": {
        "00000010",
        "1234.56",
        "18",
        "300",
        "4,294,967,294",
        "999,999",
        "Six",
        "eight",
        "seven",
        "ten",
    },
    "05-watch": set(),
    "06-who-pays": {"102", "123,456", "19", "300", "32", "999,999", "ten"},
    "07-inventory": {"10,000", "21", "32"},
    "08-cookbook": {"Twenty", "eight"},
    "09-why-was-this-file-read": {"100", "Eight"},
    "10-first-aid": {"28"},
    "11-health-check": {"600"},
    "12-deletes": {"9", "Twenty"},
    "13-delta": {"10", "30", "Seven"},
    "14-your-own-reader": set(),
    "15-crash-lab": {"36"},
    "16-tour": {"10", "100", "255", "fourteen", "sixteen"},
}


def read_claims(path: Path) -> Iterator[tuple[str, bool]]:
    for claim in list_claims(nbformat.read(path, as_version=4)):
        yield claim.number, claim.is_shown


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_number_in_the_text_is_shown_by_a_cell(path: Path) -> None:
    unshown = {number for number, is_shown in read_claims(path) if not is_shown}
    assert unshown - SAID[path.stem] == set(), (
        "no cell of the section shows it: python -m notebooks.claims NAME"
    )


def test_a_hundred_numbers_are_compared() -> None:
    assert sum(is_shown for path in PATHS for _, is_shown in read_claims(path)) >= 100


def test_a_number_that_no_cell_shows_is_found() -> None:
    cells = [
        new_markdown_cell("# 09 · A notebook of Spark 3.5, 12 minutes\n\n## Files\n\n*Guess:* how many?"),
        new_code_cell(
            "tree",
            outputs=[new_output("display_data", {"text/html": "<p><b>1</b>4 files, 7,<wbr>037 B</p>"})],
        ),
        new_markdown_cell(
            "Fourteen with 7,037 B.\n\n<details>\n20\n</details>\n\n### The next\n\nThere are fourteen, not 15."
        ),
        new_code_cell("assert len(files) == 15"),
        new_markdown_cell("## Exercises\n\n**1.** Are there 99?"),
    ]
    claims = list(list_claims(new_notebook(cells=cells)))
    assert [(claim.number, claim.is_shown) for claim in claims] == [
        ("Fourteen", True),
        ("7,037", True),
        ("fourteen", False),
        ("15", True),
    ]
    assert claims[2].around == "There are fourteen, not 15."
