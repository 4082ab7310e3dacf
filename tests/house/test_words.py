"""Plain English: the private dialect of earlier days stays out of code, cards, errors, help texts and docs.

python -m tests.house.test_words [PATH ...]    lists what is not plain, a place a line
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
READ = (".py", ".toml", ".html", ".md", ".js", ".css", ".sql", ".json", ".yml", ".yaml", ".cff")
PLACES = (
    "lakelens",
    "docs",
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "Makefile",
    "binder",
    "pyproject.toml",
    ".github",
    ".devcontainer",
    ".pre-commit-config.yaml",
)

# what is not said: what is said instead
WORDS = {
    r"\b(tells?|telling|told|untold)\b": "is known, is recorded, says, distinguishes",
    r"\b_?tell_\w+": "describe_*, is_*, find_*",
    r"\b_?word_\w+|\b_?reword_\w+": "format_*",
    r"\b(worded|rewords?)\b": "formatted, spelled, written",
    r"\bmet\b(?!a)": "found, seen",
    r"\b(held|holding) (against|beside)\b|\bheld to be\b|\bis held\b|\bare held\b": "compared with, recognised as",
    r"\b(lies?|lay|lain)\b": "is, is at, is stored",
    r"\b(can|could|may|to|must|cannot|not) be had\b": "is available",
    r"\b(kin|akin)\b": "counterparts, same table",
    r"\b(mend|mends|mended|mending)\b": "fix, fixed",
    r"\bsooner done\b": "faster",
    r"\b(dear|dearer|dearest|dearly)\b": "expensive",
    r"\b(rows|files|bytes) then\b": "rows after",
    r"\bas many (rows|files|bytes)\b(?! as)": "row count unchanged",
    r"\bso many\b": "that many",
    r"\bsuch as (are|is|were|was|have|has|had|do|does|can|no|none|not)\b": "those that",
    r"\b(none|nothing|no one|nobody|no \w+) is without\b": "every one has",
    r"\banew\b": "again",
    r"\b(hitherto|thereof|therein|whence|whither|aught|naught|behold)\b": "a word of today",
    r"\bwhat became of\b": "what happened to",
    r"\bon the way\b": "while reading",
    r"\bwhatever the (format|kind|bytes|file|table) (is|may)": "for any",
}
# names of other projects and of the specifications, and words of other trades that only look like ours
KEPT = re.compile(r"lakelens: kept word")


def list_files(places: tuple[str, ...] = PLACES) -> list[Path]:
    """The files of the checkout that a person reads."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", *places],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = [ROOT / name for name in listed.stdout.splitlines()]
    return [
        path for path in found if path.suffix in READ and "samples/tables" not in str(path) and path.is_file()
    ]


def find_words(text: str) -> Iterator[tuple[int, str, str]]:
    """Line number, what is said, what to say instead."""
    for number, line in enumerate(text.splitlines(), 1):
        if KEPT.search(line):
            continue
        for pattern, better in WORDS.items():
            for match in re.finditer(pattern, line, re.IGNORECASE):
                yield number, match.group(), better


@pytest.mark.parametrize("path", list_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_words_are_plain(path: Path) -> None:
    """No word of the list in any file."""
    found = [
        f"{path.relative_to(ROOT)}:{n}: {said!r}: {better}"
        for n, said, better in find_words(path.read_text())
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "planted",
    [
        "what is told of it",
        "def tell_kind(data):",
        "def _word_rows(n):",
        "the value worded",
        "what was met",
        "held against the engine",
        "where a file lies",
        "none can be had",
        "akin",
        "mended",
        "3 rows then",
        "so many rows",
        "made anew",
    ],
)
def test_planted_words_are_found(planted: str) -> None:
    """The test above can fail."""
    assert list(find_words(planted))


@pytest.mark.parametrize(
    "plain", ["metadata.json", "the fields it holds", "a table holds files", "bytes left", "totals"]
)
def test_plain_words_pass(plain: str) -> None:
    """Words of the field are not mistaken for the dialect."""
    assert not list(find_words(plain))


if __name__ == "__main__":
    places = tuple(sys.argv[1:]) or PLACES
    for path in list_files(places):
        for number, said, better in find_words(path.read_text()):
            print(f"{path.relative_to(ROOT)}:{number}: {said!r}: {better}")
