"""How long a notebook takes to read: words at 200 a minute, and ten seconds for each cell that is run and looked at.

    python notebooks/minutes.py                 a line for every notebook beside this file
    python notebooks/minutes.py 02-iceberg      only these

Words are those of the prose outside of folds and of the visible code; exercises count as far as their questions go, for who does
them takes the time that they take. What is folded (`<details>`, checks, helpers, solutions) is for a second reading: the
last column has the minutes with it.
"""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

HERE = Path(__file__).resolve().parent
WORDS_A_MINUTE = 200
SECONDS_A_CELL = 10

_FOLD = re.compile(r"<details>.*?</details>", re.DOTALL)
_MARKUP = re.compile(r"<[^>]+>|\]\([^)]*\)|^\|[\s|:-]+\|$", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+(?:['’.\-_][^\W_]+)*")


class Reading(NamedTuple):
    """What a reader of a notebook has before them."""

    words: int
    cells: int
    folded_words: int

    @property
    def minutes(self) -> int:
        """Minutes for the prose and the visible cells, rounded up."""
        return math.ceil(self.words / WORDS_A_MINUTE + self.cells * SECONDS_A_CELL / 60)

    @property
    def minutes_with_folds(self) -> int:
        """The same with everything unfolded, rounded up."""
        words = self.words + self.folded_words
        return math.ceil(words / WORDS_A_MINUTE + self.cells * SECONDS_A_CELL / 60)


def count_words(text: str) -> int:
    """Words of prose or code; marks of Markdown and of code are none.

    >>> count_words("**Two** words, and `table.map()` [here](x.ipynb)")
    5
    """
    return len(_WORD.findall(_MARKUP.sub(" ", text)))


def is_folded(cell: NotebookNode) -> bool:
    """Whether JupyterLab shows only the first line of a cell's source."""
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


def read_notebook(path: Path) -> Reading:
    """Count a notebook."""
    words = cells = folded = 0
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            shown = _FOLD.sub(" ", cell.source)
            words += count_words(shown)
            folded += count_words(cell.source) - count_words(shown)
        elif is_folded(cell):
            folded += count_words(cell.source)
        else:
            words += count_words(cell.source)
            cells += 1
    return Reading(words, cells, folded)


def main() -> None:
    """Print a line for each notebook."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    asked = [f"{name.removesuffix('.ipynb')}.ipynb" for name in parser.parse_args().names]
    print(f"{'notebook':32} {'words':>6} {'cells':>6} {'minutes':>8} {'with folds':>11}")
    for path in [HERE / name for name in asked] or sorted(HERE.glob("*.ipynb")):
        one = read_notebook(path)
        print(f"{path.stem:32} {one.words:6,} {one.cells:6} {one.minutes:8} {one.minutes_with_folds:11}")


if __name__ == "__main__":
    main()
