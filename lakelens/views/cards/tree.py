"""The card of the storage tree: every object in a table's directory, its role, who refers to it, and what nobody does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import nsmallest
from itertools import islice

from lakelens.analysis.tree import StorageTree
from lakelens.model.storage import StoredFile
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Card, Cell, Column, Fact, Fold, Grid
from lakelens.views.describe import describe, one

_SNAPSHOT = re.compile(r"snapshot (\d+)(.*)", re.DOTALL)
_LEFT = re.compile(r"… ([\d,]+) more")
_MOST_REFERRERS = 3
# roles that say what is in a file, not what the file is
_NEEDS_A_NOUN = ("data", "statistics", "vectors", "delete", "unknown")


@describe.register
def card_of_tree(tree: StorageTree, detail: int = 1) -> Card:
    """Every stored object with its role and who refers to it."""
    loose = [f for f in tree.files if not f.referenced_by]
    roles = Counter(f.role for f in tree.files)
    counts = [format_role(role, number) for role, number in roles.most_common(6)]
    more = [f"{len(roles) - 6} more roles"] if len(roles) > 6 else []
    facts = (
        Fact("objects", cells.number(len(tree)), "the listing was cut" if tree.truncated else ""),
        Fact("bytes", cells.size(sum(f.size_bytes for f in tree.files))),
        Fact(
            "referred to by nothing found",
            cells.number(len(loose)),
            wording.size(sum(f.size_bytes for f in loose)) if loose else "",
        ),
    )
    return Card(
        "Storage tree",
        ", ".join([*counts, *more]) or "empty",
        wording.clean(tree.root),
        facts=facts,
        body=(_grid_tree(tree),) if len(tree) else (),
        folds=(_fold_roles(tree), *([_fold_loose(loose)] if loose else [])),
        about=list_sections(tree, "tree"),
    )


def format_role(role: str, number: int) -> str:
    """Say how many objects of a role, in words.

    >>> format_role("data", 3), format_role("manifest", 1), format_role("table metadata", 2), format_role("hint (LATEST)", 2)
    ('3 data files', '1 manifest', '2 table metadata files', '2 hints (LATEST)')
    """
    noun, bracket, rest = wording.clean(role, 60).partition(" (")
    if noun.endswith(_NEEDS_A_NOUN):
        noun = f"{noun.replace('vectors', 'vector')} file"
    many = f"{noun}es" if noun.endswith("x") else f"{noun}s"
    return f"{wording.count(number)} {noun if number == 1 else many}{bracket}{rest}"


def _fold_roles(tree: StorageTree) -> Fold:
    """Fold how many objects and bytes there are of each role."""
    sizes: dict[str, list[int]] = {}
    for f in tree.files:
        sizes.setdefault(f.role, []).append(f.size_bytes)
    ordered = sorted(sizes.items(), key=lambda item: -sum(item[1]))
    totals = [sum(held) for _, held in ordered]
    drawn = cells.shares(totals, [max(totals, default=0)] * len(totals))
    rows = [
        (cells.text(role), cells.number(len(held)), cells.size(sum(held)), bar)
        for (role, held), bar in zip(ordered, drawn, strict=True)
    ]
    grid = cells.prune(cells.grid(("role", "objects#", "bytes#", ""), rows, noun="role"))
    answer = (
        f"most bytes: {wording.clean(ordered[0][0], 60)}, {wording.size(totals[0])}" if ordered else "none"
    )
    return Fold("Roles", answer, lambda: one(grid) if rows else ())


def _fold_loose(loose: Sequence[StoredFile]) -> Fold:
    """Fold what nothing refers to: left over, or written by something that has not committed yet."""
    rows = [
        (named.stored(f, cells.code(f.relative_path)), cells.text(f.role), cells.size(f.size_bytes))
        for f in islice(loose, display.max_rows)
    ]
    names, how = ("object", "role!", "bytes#"), "table.tree().files"
    grid = cells.grid(names, rows, how=how, noun="object", total=len(loose))
    answer = f"{wording.plural(len(loose), 'object')}: left over, or not committed yet"
    return Fold("Unreferenced", answer, lambda: one(grid))


def _grid_tree(tree: StorageTree) -> Grid:
    """Directories as lines of their own, files indented below them; checksums are one line at the end."""
    most = display.max_rows * 3
    checksums = [f for f in tree.files if f.role == "checksum"]
    files = [f for f in tree.files if f.role != "checksum"] if len(checksums) > 1 else tree.files
    rows: list[tuple[Cell, ...]] = []
    above: tuple[str, ...] = ()
    # the first ones only: to sort 100,000 paths for the sixty that are shown takes longer than all the rest
    for f in nsmallest(most, files, key=lambda f: f.relative_path.split("/")):
        *folders, name = f.relative_path.split("/")
        same = 0
        while same < min(len(above), len(folders)) and above[same] == folders[same]:
            same += 1
        for depth in range(same, len(folders)):
            label = "  " * depth + wording.clean(folders[depth], 120) + "/"
            rows.append((Cell(label, "tree"), Cell(""), Cell(""), Cell("")))
        above = tuple(folders)
        indented = named.stored(f, Cell("  " * len(folders) + wording.clean(name, 120), "tree"))
        by = cells.text(
            format_referrers(f.referenced_by) or "nothing found", "mute" if f.referenced_by else "warn"
        )
        by = replace(by, linked=link_referrers(f.referenced_by))
        rows.append((indented, cells.text(f.role), cells.size(f.size_bytes), by))
    left = len(files) - most
    if len(files) < len(tree):
        words = f"{wording.plural(len(checksums), 'checksum')}, each beside its file"
        size = cells.size(sum(f.size_bytes for f in checksums))
        rows.append((Cell(words, "tree"), Cell("checksum"), size, Cell("the files beside them", "mute")))
    columns = (
        Column("object"),
        Column("role", is_short=True),
        Column("bytes", is_number=True),
        Column("referred to by"),
    )
    more = f"… {wording.plural(left, 'more object')}" if left > 0 else ""
    return Grid(columns, tuple(rows), more, "table.tree().files" if more else "")


def format_referrers(names: Sequence[str]) -> str:
    """Who refers to an object: snapshots that do so in the same way are said together.

    >>> format_referrers(["snapshot 1", "snapshot 2", "snapshot 3 (base)"])
    'snapshots 1, 2; snapshot 3 (base)'
    >>> format_referrers(["snapshot 1", "snapshot 2", "snapshot 3", "snapshot 4", "… 7 more"])
    'snapshots 1, 2, 3; 8 more'
    """
    return "".join(part.text for part in link_referrers(names))


def link_referrers(names: Sequence[str]) -> tuple[Cell, ...]:
    """The same in parts: each snapshot of the branch that was opened leads to its page."""
    groups: dict[str, list[str]] = {}
    left = 0
    for name in names:
        if match := _LEFT.fullmatch(name):
            left += int(match[1].replace(",", ""))
            continue
        match = _SNAPSHOT.fullmatch(name)
        groups.setdefault(match[2] if match else f"\0{name}", []).append(match[1] if match else name)
    words: list[Cell] = []
    for way, members in groups.items():
        words += [Cell("; ")] if words else []
        words += _list_referrers(way, members)
        left += 0 if way.startswith("\0") else max(len(members) - _MOST_REFERRERS, 0)
    if left:
        words += [Cell("; ")] if words else []
        words.append(Cell(f"{wording.count(left)} more"))
    return tuple(words)


def _list_referrers(way: str, members: Sequence[str]) -> Iterator[Cell]:
    """List those that refer to an object in one way."""
    if way.startswith("\0"):
        yield Cell(wording.clean(members[0]))
        return
    yield Cell("snapshot " if len(members) == 1 else "snapshots ")
    for place, number in enumerate(members[:_MOST_REFERRERS]):
        if place:
            yield Cell(", ")
        yield named.snapshot(int(number), Cell(number))
    if way:
        yield Cell(wording.clean(way))
