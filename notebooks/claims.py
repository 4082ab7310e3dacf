"""Numbers in the text of a notebook, and whether a cell of the same section shows them.

    python -m notebooks.claims              how many there are, a line for every notebook
    python -m notebooks.claims 02-iceberg   each of its numbers that no cell shows

A claim is a number from six on in the prose outside of folds, tables, exercises and solutions: in digits, or a word up to *twenty*.
A cell of its section has to show it, or to have it in its source, for folded cells assert what is only counted. Smaller numbers are
not looked for: they are in nearly every output, whatever the text says. Versions, minutes and other notebooks are no claims.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

HERE = Path(__file__).resolve().parent
LEAST = 6
WORDS = {
    word: number
    for number, word in enumerate(
        "six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(),
        LEAST,
    )
}
_FOLD = re.compile(r"<details>.*?</details>", re.DOTALL)
# tables, links, headings, numbers of a list, and what names a version, a notebook, a question or the minutes that it takes
_NO_CLAIM = re.compile(
    r"^\|.*$|^#.*$|^\d+\. |\[\d\d\]\([^)]*\)|\[\d+[ -][^]]*\]\([^)]*\)|\]\([^)]*\)|%\d\d|[\d.]+ minutes"
    r"|(?:Spark|Iceberg|Paimon|Hive|Delta Lake|Python|IEEE|parquet-mr|questions?|version) [\d.]+",
    re.MULTILINE,
)
_NUMBER = re.compile(rf"(?<![\w.,+/-])\d[\d,]*(?:\.\d+)?(?![\w-])|\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
_SHOWN = re.compile(r"(?<![\w.,/-])\d[\d,]*(?:\.\d+)?(?![\w-])")
_UNSEEN = re.compile(r"<style>.*?</style>", re.DOTALL)
_JOINING = re.compile(r"<wbr>|</?(?:abbr|b|code|i|small|span)\b[^>]*>")
_NOT_READ = re.compile(r"## (?:Exercises|Solutions|Your turn|Self-test|Where to go next)")


class Claim(NamedTuple):
    """A number in the text, with the words around it, and whether a cell of its section shows it."""

    number: str
    around: str
    is_shown: bool


def list_claims(notebook: NotebookNode) -> Iterator[Claim]:
    """The numbers in the text of a notebook, section by section."""
    for texts, cells in list_sections(notebook):
        shown = {number for cell in cells for number in find_numbers(cell)}
        for text in texts:
            for match in _NUMBER.finditer(text):
                number = str(WORDS.get(match[0].lower(), match[0].replace(",", "")))
                if float(number) >= LEAST:
                    around = " ".join(text[max(match.start() - 50, 0) : match.end() + 30].split())
                    yield Claim(match[0].rstrip(","), around, number in shown)


def list_sections(notebook: NotebookNode) -> Iterator[tuple[list[str], list[NotebookNode]]]:
    """The prose and the code cells of each part between two headings of the second level that tells a story."""
    texts: list[str] = []
    cells: list[NotebookNode] = []
    is_read = True
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            cells.append(cell)
            continue
        for part in re.split(r"^(?=###? )", cell.source, flags=re.MULTILINE):
            if part.startswith("##"):
                if is_read:
                    yield texts, cells
                texts, cells = [], []
                is_read = not _NOT_READ.match(part) if part.startswith("## ") else is_read
            texts.append(_NO_CLAIM.sub(" ", _FOLD.sub(" ", part)))
    if is_read:
        yield texts, cells


def find_numbers(cell: NotebookNode) -> set[str]:
    """The numbers in the source of a code cell and in what it shows, without commas."""
    texts = [cell.source]
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        marked = _JOINING.sub("", _UNSEEN.sub(" ", data.get("text/html", "")))
        texts += [
            unescape(re.sub(r"<[^>]+>", " ", marked)),
            data.get("text/plain", ""),
            output.get("text", ""),
        ]
    return {number.replace(",", "") for text in texts for number in _SHOWN.findall(text)}


def main(names: list[str]) -> None:
    """Print a line for each notebook; of those that are named each number that no cell shows."""
    for path in [HERE / f"{name}.ipynb" for name in names] or sorted(HERE.glob("*.ipynb")):
        claims = list(list_claims(nbformat.read(path, as_version=4)))
        print(
            f"{path.stem:32} {len(claims):4} numbers, {sum(claim.is_shown for claim in claims):4} of them shown by a cell"
        )
        for claim in claims:
            if names and not claim.is_shown:
                print(f"    {claim.number}: … {claim.around} …")


if __name__ == "__main__":
    main(sys.argv[1:])
