"""The card of a space: how much there is, a picture, every byte in one row, what expiring frees, what refs keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakelens.analysis.space import census as names
from lakelens.analysis.space.census import Slice, Slices
from lakelens.analysis.space.holders import Expiry, format_time
from lakelens.analysis.space.space import Space
from lakelens.options import display
from lakelens.views.answers.icicle import LEAST, describe_picture, render_picture
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Fold, Grid, Note, Picture, Target
from lakelens.views.cards.finding import fold_findings, format_alert
from lakelens.views.describe import describe, one

_INDENT = "\N{NO-BREAK SPACE}" * 3
_ALL_SLICES = Cell("all rows", target=named.page("space", part="slices"))
_COLUMNS = ("what", "files#", "bytes#", "", "of all#", "who keeps it")
_MOST_PARTS = 10
_LARGE = 4  # a column that takes more than a fourth is worth a sentence
# groups whose parts are worth a row each; the parts of the others are said beside them
_SPREAD = (names.LIVE, names.OLD)


@describe.register
def card_of_space(space: Space, detail: int = 1) -> Card:
    """Where the bytes are, who keeps them, and what would free them."""
    body: list[Body] = [Note(_format_scope(space))]
    if space.size_bytes:
        body.append(Picture(render_picture(space), describe_picture(space), LEAST))
    body += [_grid_slices(space, detail), Note(_format_method(space), "mute")]
    return Card(
        wording.size(space.size_bytes),
        f"under {wording.clean(space.name, 100)}, {wording.size(space.live_bytes)} of it live data",
        alert=format_alert(space.findings) or ("" if space.is_certain else "something is unread"),
        body=tuple(body),
        folds=tuple(_list_folds(space)),
        about=list_sections(space, "space"),
    )


@describe.register
def card_of_expiry(expiry: Expiry, detail: int = 1) -> Card:
    """What expiring before a time frees."""
    files = wording.plural(expiry.files, "file")
    sentence = f"freed by expiring {wording.plural(expiry.snapshots, 'snapshot')} before {format_time(expiry.before)}"
    return Card(wording.size(expiry.size_bytes), f"{sentence}: {files}")


def _format_scope(space: Space) -> str:
    """How many files, and what is worth knowing first."""
    sentences = [wording.plural(space.files, "file")]
    if space.before is not None:
        found = space.find_freed(space.before)
        share = f" ({_format_share(found.size_bytes, space.size_bytes)})" if found.size_bytes else ""
        sentences.append(f"{_format_expiring(space, found)} frees {wording.size(found.size_bytes)}{share}")
    orphans = space.measure(names.ORPHANS)
    if orphans:
        what = "Removing orphans frees" if space.is_certain else "Orphans, perhaps, are"
        sentences.append(f"{what} {wording.size(orphans)}")
    columns = [found for found in space.slices.find(names.LIVE) if found.part in space.division.columns]
    if len(columns) > 1 and columns[0].size_bytes * _LARGE > space.live_bytes:
        share = _format_share(columns[0].size_bytes, space.live_bytes)
        sentences.append(f"The column {wording.clean(columns[0].part, 60)} alone is {share} of the live data")
    return ". ".join(sentences) + "."


def _format_expiring(space: Space, expiry: Expiry) -> str:
    if expiry.before == space.holders.newest:
        return "Expiring all but the current snapshot"
    return f"Expiring before {format_time(expiry.before)}"


def _format_share(part: int, whole: int) -> str:
    """A share in per cent.

    >>> _format_share(1, 3), _format_share(1, 30), _format_share(1, 30_000), _format_share(0, 3)
    ('33 %', '3.3 %', '< 0.1 %', '')
    """
    if not part or not whole:
        return ""
    share = 100 * part / whole
    return f"{share:.0f} %" if share >= 9.95 else f"{share:.1f} %" if share >= 0.1 else "< 0.1 %"


def _grid_slices(space: Space, detail: int) -> Grid:
    """Every byte in one row."""
    most = _MOST_PARTS if detail < 3 else max(_MOST_PARTS, display.max_rows)
    rows = [
        row
        for group, members in space.slices.iterate_groups()
        for row in _list_rows(space, group, members, most)
    ]
    sizes = [size for size, _ in rows]
    bars = cells.shares(sizes, [space.size_bytes] * len(sizes))
    made = [(*row[:3], bar, *row[3:]) for (_, row), bar in zip(rows, bars, strict=True)]
    exact = f"= {wording.count(space.size_bytes)} B listed"
    total = (
        Cell("under the directory", "strong"),
        cells.number(space.files),
        cells.size(space.size_bytes),
        Cell(""),
        Cell("100 %" if space.size_bytes else ""),
        Cell(exact),
    )
    with display.using(max_rows=max(display.max_rows, len(made))):  # or the rows would not add up
        return cells.grid(_COLUMNS, made, how="space.slices", noun="slice", totals=(total,))


def _list_rows(
    space: Space, group: str, members: Slices, most: int
) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    """The row of a group, then those of its parts; of many the largest, and one of all others."""
    keeper = members[0].kept_by
    if group == names.OLD:
        keeper = "all that the current snapshot lacks; by who keeps it last"
    elif group not in _SPREAD and len(members) + bool(members[0].part) > 1:
        keeper = _format_parts(group, members) or keeper
    yield (
        members.size_bytes,
        _row(space, group, space.count_files(group), members.size_bytes, cells.text(keeper)),
    )
    if group not in _SPREAD or (len(members) == 1 and not members[0].part):
        return
    listed, others, rest = _choose(space, group, members, most)
    for found in (*listed, *rest):
        what = found.kept_by if group == names.OLD else found.about
        is_column = group == names.LIVE and found.part in space.division.columns
        name = Cell(wording.clean(found.part, 80), "code" if is_column else "")
        if found is (rest[0] if rest else None) and others:
            yield _add_others(space, group, others)
        yield found.size_bytes, _row(space, name, found.files, found.size_bytes, cells.text(what, "mute"))
    if others and not rest:
        yield _add_others(space, group, others)


def _add_others(space: Space, group: str, others: Sequence[Slice]) -> tuple[int, tuple[Cell, ...]]:
    """One row for parts that have none of their own."""
    size = sum(found.size_bytes for found in others)
    noun = "column" if group == names.LIVE else "row"
    many = f"… {wording.count(len(others))} more {noun}{'s' * (len(others) != 1)}"
    files = None if group == names.LIVE else sum(found.files or 0 for found in others)
    typed = Cell("space.slices", "code", linked=(_ALL_SLICES,))
    return size, _row(space, Cell(many, "mute"), files, size, typed)


def _choose(
    space: Space, group: str, members: Slices, most: int
) -> tuple[list[Slice], list[Slice], list[Slice]]:
    """The parts that have a row of their own, those that are added up, and those that follow."""
    listed, rest = list(members), list[Slice]()
    if group == names.LIVE:
        listed = [found for found in members if found.part in space.division.columns]
        rest = [found for found in members if found.part not in space.division.columns]
    if len(listed) <= most + 1:
        return listed, [], rest
    return listed[:most], listed[most:], rest


def _row(space: Space, name: str | Cell, files: int | None, size: int, keeper: Cell) -> tuple[Cell, ...]:
    cell = Cell(name, "strong") if isinstance(name, str) else cells.join(Cell(_INDENT), name)
    count = Cell("") if files is None else cells.number(files)
    return cell, count, cells.size(size), Cell(_format_share(size, space.size_bytes)), keeper


def _format_parts(group: str, members: Sequence[Slice]) -> str:
    """The parts of a group in a line, with their files; who keeps orphans is said too."""
    parts = [
        f"{wording.count(found.files)} {wording.clean(_name_one(found), 60)}"
        for found in members[:6]
        if found.files
    ]
    more = len(members) - 6
    words = ", ".join(parts) + (f", {wording.plural(more, 'more kind')}" if more > 0 else "")
    return f"{members[0].kept_by}: {words}" if group == names.ORPHANS else words


def _name_one(found: Slice) -> str:
    """A part as it is called after a number: of one file in the singular.

    >>> [_name_one(Slice("live manifests", name, 7, 1)) for name in ("manifest lists", "manifests of data")]
    ['manifest list', 'manifest of data']
    """
    first, _, rest = found.part.partition(" of ")
    if found.files == 1:
        first = first.replace("documents", "document")
        if first.endswith("indexes"):
            first = first.removesuffix("es")
        elif first.endswith("s") and not first.endswith("statistics"):
            first = first.removesuffix("s")
    return f"{first} of {rest}" if rest else first


def _format_method(space: Space) -> str:
    """Where the bytes of columns come from, and the rule of the rows."""
    division = space.division
    sources = []
    if division.footers:
        sources.append(f"{wording.plural(division.footers, 'footer')} (page bytes as stored)")
    if division.recorded:
        sources.append(f"what manifests record of {wording.plural(division.recorded, 'file')}")
    columns = f"Columns from {' and '.join(sources)}. " if sources else ""
    return f"{columns}A file that several keep is in the row of the last one that would let go of it."


def _list_folds(space: Space) -> Iterator[Fold]:
    expiring = space.expiring
    if len(expiring):
        last = expiring[-1]
        many = wording.plural(last.snapshots, "snapshot")
        answer = f"{_format_expiring(space, last).removeprefix('Expiring ')} frees {wording.size(last.size_bytes)}, {many}"
        yield Fold("Expiring", answer, lambda: one(_grid_expiring(space)), opened=True)
    if len(space.holders.keepers) and not space.table.traits.files_are_listed:
        refs = [found for found in space.by_ref[:4] if found.kind != "current"][:3]
        parts = [f"{wording.clean(found.name, 60)} {wording.size(found.size_bytes)}" for found in refs]
        left = len(space.by_ref) - len(refs) - (space.holders.current is not None)
        more = f"; {wording.count(left)} more" if left > 0 else ""
        answer = (
            f"kept by it alone: {', '.join(parts)}{more}"
            if parts
            else "the current snapshot keeps all there is"
        )
        yield Fold("By ref", answer, lambda: one(_grid_refs(space)))
        answer = f"bytes that only one of {wording.plural(len(space.by_snapshot), 'state')} needs"
        yield Fold("By snapshot", answer, lambda: one(_grid_states(space)))
    if space.outside_files:
        many = wording.plural(space.outside_files, "file")
        answer = f"{many}, {wording.size(space.outside_bytes)} as recorded, elsewhere: in no row above"
        yield Fold("Outside", answer)
    if len(space.findings):
        yield fold_findings(space.findings)


def _grid_expiring(space: Space) -> Grid:
    rows, sizes = [], [found.size_bytes for found in space.expiring]
    bars = cells.shares(sizes, [max(sizes)] * len(sizes))
    for found, bar in zip(space.expiring, bars, strict=True):
        is_last = found.before == space.holders.newest
        note = Cell("all but the current snapshot" if is_last else "", "small")
        many, size = cells.number(found.snapshots), cells.size(found.size_bytes)
        rows.append((cells.code(format_time(found.before)), many, cells.number(found.files), size, bar, note))
    names_ = ("expire before", "snapshots that go#", "files#", "frees#", "", "")
    return cells.grid(names_, rows, how="space.expire(before)", noun="time")


def _grid_refs(space: Space) -> Grid:
    total = len(space.by_ref)
    rows = []
    for ref in space.by_ref[: display.max_rows]:
        name = cells.text(ref.name)
        rows.append(
            (
                name if ref.ref is None else named.lead(name, Target("ref", ref.ref)),
                cells.number(ref.snapshots),
                cells.size(ref.size_bytes),
                cells.number(ref.files),
                cells.size(ref.last_bytes),
                cells.size(ref.total_bytes),
                Cell(wording.clean(", ".join(ref.shared_with), 120)),
            )
        )
    header = (
        "kept by",
        "snapshots#",
        "alone#",
        "files#",
        "last of all#",
        "with others#",
        "the same snapshot as",
    )
    return cells.prune(
        cells.grid(header, rows, how="space.by_ref", noun="ref", total=total, target=_lead_to("by_ref"))
    )


def _lead_to(part: str) -> Target:
    return named.page("space", part=part)


def _grid_states(space: Space) -> Grid:
    ordered = sorted(space.by_snapshot, key=lambda state: (-state.size_bytes, -state.last_bytes))
    rows = []
    for state in ordered[: display.max_rows]:
        is_here = state.name == f"snapshot {state.snapshot_id}"  # of the branch that was opened
        rows.append(
            (
                named.snapshot(state.snapshot_id if is_here else None, cells.text(state.name)),
                cells.moment(state.committed_at),
                cells.text(state.held_by),
                cells.size(state.size_bytes),
                cells.number(state.files),
                cells.size(state.last_bytes),
            )
        )
    header = ("state", "committed, UTC!", "kept by", "alone#", "files#", "last of all#")
    total, more = len(ordered), _lead_to("by_snapshot")
    return cells.grid(header, rows, how="space.by_snapshot", noun="state", total=total, target=more)
