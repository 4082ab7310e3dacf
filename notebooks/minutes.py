"""How long a notebook takes to read: words at 200 a minute, ten seconds for each cell that is run, and what cells show.

    python notebooks/minutes.py                 a line for every notebook beside this file
    python notebooks/minutes.py 02-iceberg      only these

Words are those of the prose outside of folds and of the visible code; exercises count as far as their questions go, for who does
them takes the time that they take. The words that other cards and tables show unfolded count at 800 a minute: one looks there for
what the text speaks of, and does not read them word by word; a drawing is looked at in the ten seconds of its cell. What is
folded (`<details>`, checks, helpers, solutions) is for a second reading: the last column has the minutes with its text and code.
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
SHOWN_WORDS_A_MINUTE = 800
SECONDS_A_CELL = 10

_FOLD = re.compile(r"<details>.*?</details>", re.DOTALL)
_MARKUP = re.compile(r"<[^>]+>|\]\([^)]*\)|^\|[\s|:-]+\|$", re.MULTILINE)
# of a card: what is never seen, what joins letters to one word, and a fold that has none inside
_UNSEEN = re.compile(r"<(style|caption)\b.*?</\1>", re.DOTALL)
_JOINING = re.compile(r"<wbr>|</?(?:abbr|b|code|i|small|span)\b[^>]*>")
_INNER_FOLD = re.compile(r"<details([^>]*)>((?:(?!<details\b).)*?)</details>", re.DOTALL)
_SUMMARY = re.compile(r"<summary\b.*?</summary>", re.DOTALL)
_EXERCISES = re.compile(r"^## (Exercises|Your turn|Self-test|The end of the course)\b", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+(?:['’.\-_][^\W_]+)*")


class Reading(NamedTuple):
    """What a reader of a notebook has before them."""

    words: int
    cells: int
    shown_words: int
    folded_words: int

    @property
    def minutes(self) -> int:
        """Minutes for the prose, the visible cells and what they show, rounded up."""
        return self._count_minutes(self.words)

    @property
    def minutes_with_folds(self) -> int:
        """The same with all text and code unfolded, rounded up."""
        return self._count_minutes(self.words + self.folded_words)

    def _count_minutes(self, words: int) -> int:
        looking = self.cells * SECONDS_A_CELL / 60 + self.shown_words / SHOWN_WORDS_A_MINUTE
        return math.ceil(words / WORDS_A_MINUTE + looking)


def count_words(text: str) -> int:
    """Words of prose or code; marks of Markdown and of code are none.

    >>> count_words("**Two** words, and `table.map()` [here](x.ipynb)")
    5
    """
    return len(_WORD.findall(_MARKUP.sub(" ", text)))


def is_folded(cell: NotebookNode) -> bool:
    """Whether JupyterLab shows only the first line of a cell's source."""
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


def list_shown(cell: NotebookNode) -> list[str]:
    """What a cell shows before anything in it is unfolded, a text for each of its outputs."""
    if cell.metadata.get("jupyter", {}).get("outputs_hidden"):
        return []
    shown = []
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        text = _UNSEEN.sub(" ", data.get("text/html", data.get("text/plain", output.get("text", ""))))
        while fold := _INNER_FOLD.search(text):
            seen = fold[2] if "open" in fold[1].split() else " ".join(_SUMMARY.findall(fold[2]))
            text = text[: fold.start()] + seen + text[fold.end() :]
        shown.append(_JOINING.sub("", text))
    return shown


def read_notebook(path: Path) -> Reading:
    """Count a notebook."""
    words = cells = seen = folded = 0
    in_exercises = False
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown" and re.search("^## ", cell.source, re.MULTILINE):
            in_exercises = bool(_EXERCISES.search(cell.source))
        if cell.cell_type == "code" and not in_exercises:
            seen += sum(map(count_words, list_shown(cell)))
        if cell.cell_type == "markdown":
            shown = _FOLD.sub(" ", cell.source)
            words += count_words(shown)
            folded += count_words(cell.source) - count_words(shown)
        elif is_folded(cell):
            folded += count_words(cell.source)
        else:
            words += count_words(cell.source)
            cells += 1
    return Reading(words, cells, seen, folded)


def main() -> None:
    """Print a line for each notebook."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    asked = [f"{name.removesuffix('.ipynb')}.ipynb" for name in parser.parse_args().names]
    print(f"{'notebook':32} {'words':>6} {'cells':>6} {'shown':>6} {'minutes':>8} {'with folds':>11}")
    for path in [HERE / name for name in asked] or sorted(HERE.glob("*.ipynb")):
        read = read_notebook(path)
        counts = f"{read.words:6,} {read.cells:6} {read.shown_words:6,} {read.minutes:8} {read.minutes_with_folds:11}"
        print(f"{path.stem:32} {counts}")


if __name__ == "__main__":
    main()
