"""Cells that name an object of a table: each knows what it names, for a view that can lead there.

>>> file("s3://lake/t/data/a.parquet").text, file("s3://lake/t/data/a.parquet").target.key
('a.parquet', 's3://lake/t/data/a.parquet')
>>> [(cell.text, cell.target and cell.target.kind) for cell in snapshots([7, 8])]
[('7', 'snapshot'), (', ', None), ('8', 'snapshot')]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from lakelens.model.datafile import DataFile, IndexFile, StatisticsFile
from lakelens.model.storage import StoredFile
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Cell, Role, Target, TargetKind

# by the words of a role: what shows a stored object; all others are shown byte by byte
_KINDS: Mapping[str, TargetKind] = {
    "manifest list": "manifest_list",
    "index manifest": "bytes",
    "manifest": "manifest",
    "table metadata": "metadata",
    "orphan metadata": "metadata",
    "changelog snapshot": "metadata",
    "snapshot": "metadata",
    "schema": "metadata",
    "statistics": "statistics",
    "hash index": "index",
    "deletion vectors": "index",
    "data": "file",
    "data file": "file",
    "equality delete": "file",
    "position delete": "file",
    "partition statistics": "statistics",
}

# what is shown as a part of a snapshot: a changelog or another branch may be all that still refers to it
_OF_SNAPSHOTS = ("manifest_list", "manifest", "index", "statistics")


def lead(cell: Cell, target: Target | None) -> Cell:
    """A cell that names a target; of several parts each that names nothing yet."""
    if target is None:
        return cell
    if cell.parts:
        return replace(cell, parts=tuple(lead(part, part.target or target) for part in cell.parts))
    return replace(cell, target=target)


def page(name: str, **asked: object) -> Target:
    """A page about the table, with what is asked of it.

    >>> page("check", run="yes", data=None)
    Target(kind='page', key='check', asked=(('run', 'yes'),))
    """
    return Target("page", name, tuple((key, str(held)) for key, held in asked.items() if held is not None))


def place(kind: TargetKind, path: str | None, shown: str | None = None) -> Cell:
    """Place a path in the code font, by its last name unless something else is `shown`."""
    cell = cells.code(wording.name(path) if shown is None else shown)
    return lead(cell, Target(kind, path)) if path else cell


def file(
    found: DataFile | IndexFile | StatisticsFile | str, shown: str | None = None, role: Role = "code"
) -> Cell:
    """A file of the table by its name: one that holds rows or deletes, an index file, statistics."""
    target = target_of_file(found)
    cell = cells.code(wording.name(target.key) if shown is None else shown)
    return lead(replace(cell, role=role), target if target.key else None)


def target_of_file(found: DataFile | IndexFile | StatisticsFile | str) -> Target:
    """Say what leads to a file; to a vector in a file of several by its offset too."""
    if isinstance(found, str):
        return Target("file", found)
    if isinstance(found, IndexFile):
        return Target("index", found.path)
    if isinstance(found, StatisticsFile):
        return Target("statistics", found.path)
    offset = getattr(found, "content_offset", None) if found.content == "deletion_vector" else None
    return Target("file", found.path, () if offset is None else (("offset", str(offset)),))


def stored(found: StoredFile, shown: Cell) -> Cell:
    """A stored object by what it is for; one that nothing refers to is only bytes."""
    return lead(shown, target_of_stored(found))


def target_of_stored(found: StoredFile) -> Target:
    """Say what leads to a stored object."""
    role = found.role.partition(" (")[0].removeprefix("branch ")
    kind = _KINDS.get(role, "bytes") if found.referenced_by else "bytes"
    if kind in _OF_SNAPSHOTS and not any(name.startswith("snapshot ") for name in found.referenced_by):
        kind = "bytes"
    return Target(kind, found.path)


def snapshot(number: int | None, shown: Cell | None = None) -> Cell:
    """The id of a snapshot, or what is shown instead of it."""
    cell = cells.code(number) if shown is None else shown
    return cell if number is None else lead(cell, Target("snapshot", str(number)))


def snapshots(numbers: Iterable[int], more: int = 0) -> tuple[Cell, ...]:
    """Ids of snapshots in a line, and how many more there are."""
    parts: list[Cell] = []
    for number in numbers:
        parts += [Cell(", ")] if parts else []
        parts.append(snapshot(number, Cell(str(number))))
    return (*parts, Cell(f", … {wording.count(more)} more")) if more else tuple(parts)


def ref(name: str) -> Cell:
    """A branch or a tag."""
    return lead(cells.code(name), Target("ref", name))


def schema(number: int | None, shown: Cell | None = None) -> Cell:
    """The id of a schema, or what is shown instead of it."""
    cell = cells.code(number) if shown is None else shown
    return cell if number is None else lead(cell, Target("schema", str(number)))


def entry(manifest: str | None, number: int, shown: Cell) -> Cell:
    """An entry of a manifest, counted from 0."""
    return lead(shown, Target("entry", str(number), (("manifest", manifest),))) if manifest else shown


def span(path: str, start: int, length: int, shown: Cell) -> Cell:
    """A part of a file."""
    return lead(shown, Target("bytes", path, (("start", str(start)), ("length", str(length)))))


def sentence(*parts: Cell | str) -> tuple[Cell, ...]:
    """A sentence in parts, some of which name something."""
    return tuple(Cell(part) if isinstance(part, str) else part for part in parts if part)


def mention(text: str, number: int | None) -> tuple[Cell, ...]:
    """A sentence in which the id of a snapshot leads to it; nothing where the id is not in it.

    >>> [(part.text, part.target is not None) for part in mention("by append 7, 12 rows", 7)]
    [('by append ', False), ('7', True), (', 12 rows', False)]
    >>> mention("17 rows", 7)
    ()
    """
    found = None if number is None else re.search(rf"(?<![\w.-]){number}(?![\w.])", text)
    if found is None:
        return ()
    shown = Cell(found[0])
    return sentence(text[: found.start()], snapshot(number, shown), text[found.end() :])


def linked(cell: Cell, *parts: Cell | str) -> Cell:
    """A cell that is shown in parts where a view has links."""
    return replace(cell, linked=sentence(*parts))
