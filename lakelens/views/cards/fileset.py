"""Cards of sets of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import islice

from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileSet
from lakelens.options import display
from lakelens.views.card import cells, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Card, Fact, Fold, Grid
from lakelens.views.describe import describe, one

_MOST_COUNTED = 200
_NOUNS = {
    "data": "data file",
    "position_deletes": "position delete file",
    "equality_deletes": "equality delete file",
    "deletion_vector": "deletion vector",
    "changelog": "changelog file",
}


def grid_files(files: Sequence[DataFile], how: str = "", noun: str = "file") -> Grid:
    """Files, one a row; a column that none of them has is left out. Only the rows shown are looked at."""
    shown = list(islice(files, display.max_rows))
    largest = max((f.size_bytes or 0 for f in shown), default=0)
    drawn = cells.shares([f.size_bytes for f in shown], [largest] * len(shown))
    rows = [
        (
            cells.text(f.content.replace("_", " ")),
            cells.code(wording.name(f.path)),
            cells.code(f.partition or None),
            cells.optional(f.bucket),
            cells.optional(f.level),
            cells.number(f.record_count),
            cells.size(f.size_bytes),
            bar,
            cells.optional(f.sequence_number),
        )
        for f, bar in zip(shown, drawn, strict=True)
    ]
    names = ("content!", "file", "partition", "bucket#", "level#", "rows#", "bytes#", "", "sequence#")
    return cells.prune(cells.grid(names, rows, how=how, noun=noun, total=len(files)))


def format_contents(files: FileSet) -> str:
    """How many files of which content."""
    counts = Counter(f.content for f in files)
    nouns = {content: _NOUNS.get(content, content) for content in counts}
    return ", ".join(wording.plural(number, nouns[content]) for content, number in counts.items())


@describe.register
def card_of_set(files: FileSet, detail: int = 1) -> Card:
    """Files together: how many, how large, and the first of them."""
    listed = list(files)
    knows_rows = _knows_rows(listed)
    facts = [Fact("files", cells.number(len(listed)), _format_sizes(listed))]
    if knows_rows:
        facts.append(Fact("rows", cells.number(files.record_count), "in data files"))
    facts.append(Fact("bytes", cells.size(files.size_bytes)))
    folds = []
    partitions = [str(f.partition) for f in listed]
    if any(partitions):
        fold = _group("Partitions", "partition", listed, partitions, knows_rows)
        folds.append(fold)
    if any(f.level for f in listed):
        folds.append(_group("Levels", "level", listed, [str(f.level) for f in listed], knows_rows))
    body = (grid_files(listed, how=".to_pandas()"),) if listed else ()
    sentence = format_contents(files) or "none"
    about = list_sections(listed[0], "file_set") if listed else ()
    return Card("Files", sentence, facts=tuple(facts), body=body, folds=tuple(folds), about=about)


def _knows_rows(files: Sequence[DataFile]) -> bool:
    """Whether rows are known without opening the files: where a file itself must be asked, few enough are."""
    if not files:
        return True
    is_asked = isinstance(getattr(type(files[0]), "record_count", None), property | cached_property)
    return not is_asked or len(files) <= _MOST_COUNTED


def _format_sizes(files: Sequence[DataFile]) -> str:
    sizes = [f.size_bytes for f in files if f.size_bytes is not None]
    if len(sizes) < 2:
        return ""
    return f"{wording.size(min(sizes))} to {wording.size(max(sizes))} each"


def _group(label: str, noun: str, files: Sequence[DataFile], keys: Sequence[str], knows_rows: bool) -> Fold:
    """Files, rows and bytes of each group, by name; the bar is its part of the largest one's bytes."""
    groups: dict[str, list[DataFile]] = {}
    for key, found in zip(keys, files, strict=True):
        groups.setdefault(key, []).append(found)
    ordered = sorted(groups.items())
    sizes = [sum(f.size_bytes or 0 for f in members) for _, members in ordered]
    drawn = cells.shares(sizes, [max(sizes, default=0)] * len(sizes))
    rows = [
        (
            cells.code(name or None),
            cells.number(len(members)),
            cells.number(
                sum(f.record_count or 0 for f in members if f.content == "data") if knows_rows else None
            ),
            cells.size(size),
            bar,
        )
        for (name, members), size, bar in zip(ordered, sizes, drawn, strict=True)
    ]
    names = (noun, "files#", "rows#", "bytes#", "")
    grid = cells.prune(cells.grid(names, rows, how=".to_pandas()", noun=noun))
    return Fold(label, wording.plural(len(rows), noun), lambda: one(grid))
