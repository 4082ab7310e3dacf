"""Cards of sets of files, and of the tasks that read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from lakelens.analysis.explain.tasks import ScanTaskGroup, Tasks
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileSet
from lakelens.model.scan.arrow_files import pick
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Card, Fact, Fold, Grid, Target
from lakelens.views.describe import describe, one

#: The columns of a list of files, each with that of `FileSet.pick`.
FILE_COLUMNS = {
    "content": "content",
    "file": "path",
    "partition": "partition",
    "bucket": "bucket",
    "level": "level",
    "rows": "record_count",
    "bytes": "own_size_bytes",
    "sequence": "sequence_number",
}
_MOST_COUNTED = 200
_NOUNS = {
    "data": "data file",
    "position_deletes": "position delete file",
    "equality_deletes": "equality delete file",
    "deletion_vector": "deletion vector",
    "changelog": "changelog file",
}


def grid_files(
    files: FileSet | Sequence[DataFile], how: str = "", noun: str = "file", target: Target | None = None
) -> Grid:
    """Files, one a row; a column that none of them has is left out. Only the rows shown are looked at."""
    shown = list(files[: display.max_rows])
    # a full bar is the largest file of the set, not of those that are shown
    largest = max((size or 0 for (size,) in pick(files, "own_size_bytes")), default=0)
    drawn = cells.shares([f.own_size_bytes for f in shown], [largest] * len(shown))
    rows = [
        (
            cells.text(f.content.replace("_", " ")),
            named.file(f),
            cells.code(f.partition or None),
            cells.optional(f.bucket),
            cells.optional(f.level),
            cells.number(f.record_count),
            cells.size(f.own_size_bytes),
            bar,
            cells.optional(f.sequence_number),
        )
        for f, bar in zip(shown, drawn, strict=True)
    ]
    names = ("content!", "file", "partition", "bucket#", "level#", "rows#", "bytes#", "", "sequence#")
    return cells.prune(cells.grid(names, rows, how=how, noun=noun, total=len(files), target=target))


def format_contents(files: FileSet) -> str:
    """Say how many files of which content."""
    counts = Counter(content for (content,) in files.pick("content"))
    nouns = {content: _NOUNS.get(content, content) for content in counts}
    return ", ".join(wording.plural(number, nouns[content]) for content, number in counts.items())


def describe_vectors(files: FileSet) -> str:
    """How sums of bytes count deletion vectors: by their blobs, as a Puffin file may hold several. Without any, nothing."""
    if all(content != "deletion_vector" for (content,) in files.pick("content")):
        return ""
    puffins = {
        path: size or 0
        for path, content, size in files.pick("path", "content", "size_bytes")
        if content == "deletion_vector"
    }
    whole = wording.size(sum(puffins.values()))
    noun, verb = ("file", "is") if len(puffins) == 1 else ("files", "are")
    return f"vectors counted by their blobs, their Puffin {noun} {verb} {whole}"


@describe.register
def card_of_set(files: FileSet, detail: int = 1) -> Card:
    """Files together: how many, how large, and the first of them."""
    # Whether rows are known without opening the files: where a file itself must be asked, few enough are.
    first = next(iter(files[:1]), None)
    is_asked = isinstance(getattr(type(first), "record_count", None), property | cached_property)
    knows_rows = not is_asked or len(files) <= _MOST_COUNTED
    files.read()
    sizes = [size for (size,) in files.pick("own_size_bytes") if size is not None]
    facts = [
        Fact(
            "files",
            cells.number(len(files)),
            "" if len(sizes) < 2 else f"{wording.size(min(sizes))} to {wording.size(max(sizes))} each",
        )
    ]
    if knows_rows:
        facts.append(Fact("rows", cells.number(files.record_count), "in data files"))
    facts.append(Fact("bytes", cells.size(files.size_bytes), describe_vectors(files)))
    folds = []
    for label, noun in (("Partitions", "partition"), ("Levels", "level")):
        if any(key for (key,) in files.pick(noun)):
            folds.append(_group(label, noun, files, knows_rows))
    body = (grid_files(files, how=".to_pandas(), .widget()"),) if len(files) else ()
    sentence = format_contents(files) or "none"
    about = list_sections(files[0], "file_set") if len(files) else ()
    return Card("Files", sentence, facts=tuple(facts), body=body, folds=tuple(folds), about=about)


@describe.register
def card_of_tasks(tasks: Tasks, detail: int = 1) -> Card:
    """The tasks of a scan: how many, how full, and by which numbers."""
    splits = sum(len(task.splits) for task in tasks)
    files = len({split.file.path for task in tasks for split in task.splits})
    facts = (
        Fact("tasks", cells.number(len(tasks)), f"of up to {wording.size(tasks.target_size)}"),
        Fact("files", cells.number(files), f"in {wording.plural(splits, 'split')}"),
        Fact("bytes", cells.size(tasks.size_bytes)),
    )
    drawn = cells.shares([task.weight for task in tasks], [tasks.target_size] * len(tasks))
    rows = [
        (cells.number(number), cells.number(len(task.files)), cells.size(task.size_bytes), bar)
        for number, (task, bar) in enumerate(zip(tasks[: display.max_rows], drawn, strict=False))
    ]
    grid = cells.grid(
        ("task#", "files#", "bytes#", ""), rows, how=".to_pandas(), .widget()", noun="task", total=len(tasks)
    )
    sizes = [
        (
            cells.text(figure.name),
            cells.number(figure.value),
            cells.code(figure.property),
            cells.text("default" if figure.is_default else "property"),
        )
        for figure in tasks.figures
    ]
    by = cells.grid(("figure", "value#", "property", "from"), sizes, noun="figure")
    assumed = [(cells.text(text),) for text in tasks.assumptions]
    folds = [Fold("Figures", f"as {tasks.engine} reads", lambda: one(by))]
    if assumed:
        grid_of_assumed = cells.grid(("assumed",), assumed, noun="assumption")
        folds.append(
            Fold("Assumptions", wording.plural(len(assumed), "assumption"), lambda: one(grid_of_assumed))
        )
    sentence = wording.plural(len(tasks), "task")
    return Card("Tasks", sentence, facts=facts, body=(grid,) if rows else (), folds=tuple(folds))


@describe.register
def card_of_task(task: ScanTaskGroup, detail: int = 1) -> Card:
    """One task: the parts of files that it reads."""
    rows = [
        (
            named.file(split.file),
            cells.number(split.start),
            named.span(split.file.path, split.start, split.length, cells.size(split.length)),
            cells.size(split.file.size_bytes),
        )
        for split in task.splits[: display.max_rows]
    ]
    names = ("file", "from#", "bytes#", "of#")
    grid = cells.grid(names, rows, how=".splits", noun="split", total=len(task.splits))
    facts = (
        Fact("files", cells.number(len(task.files))),
        Fact("bytes", cells.size(task.size_bytes)),
    )
    return Card("Task", wording.plural(len(task.splits), "split"), facts=facts, body=(grid,))


def _group(label: str, noun: str, files: FileSet, knows_rows: bool) -> Fold:
    """Files, rows and bytes of each group, by name; the bar is its part of the largest one's bytes."""
    groups: dict[str, list[int]] = {}
    asked = ("content", "record_count") if knows_rows else ("content", "content")
    for key, size, content, rows in files.pick(noun, "own_size_bytes", *asked):
        group = groups.setdefault(str(key), [0, 0, 0])
        group[0] += 1
        group[1] += (rows or 0) if knows_rows and content == "data" else 0
        group[2] += size or 0
    ordered = sorted(groups.items())
    sizes = [size for _, (_, _, size) in ordered]
    drawn = cells.shares(sizes, [max(sizes, default=0)] * len(sizes))
    rows = [
        (
            cells.code(name or None),
            cells.number(count),
            cells.number(held if knows_rows else None),
            cells.size(size),
            bar,
        )
        for (name, (count, held, size)), bar in zip(ordered, drawn, strict=True)
    ]
    names = (noun, "files#", "rows#", "bytes#", "")
    grid = cells.prune(cells.grid(names, rows, how=".to_pandas()", noun=noun))
    return Fold(label, wording.plural(len(rows), noun), lambda: one(grid))
