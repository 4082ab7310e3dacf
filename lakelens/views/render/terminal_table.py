"""Tables within the width of a terminal: every figure whole, names whole where there is room, no column of single letters.

Where a table is too wide, long ids inside of names are cut to eight characters and texts are folded between words. Where
even that does not fit, columns are stacked: what they hold stands on a line of its own below each row, with their names.
Where most columns would be, each row becomes a record, one name and value a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len

from lakelens.views.card.model import Cell, Column
from lakelens.views.card.wording import split_ids, visible

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

# what a role says in colours; its text says it too
STYLES = {
    "mute": "dim",
    "add": "green",
    "del": "red",
    "warn": "bold yellow",
    "code": "",
    "exact": "",
    "tree": "",
    "": "",
}
STYLES |= {"small": "dim", "strong": "bold", "changed": "underline"}

_GAP = 2
_NARROWEST = 14  # of a column of names that are broken
_BREAKS = "/-_.…"  # after which a long name is broken
_SILENT = ("null", "absent", "", "-")


@dataclass(frozen=True)
class ColumnLayout:
    """The columns that stand side by side (`kept`) with their widths, and those that are stacked below each row.

    `is_cut` says of each column whether the ids in its texts are cut.
    """

    kept: list[int]
    widths: list[int]
    stacked: list[int]
    is_cut: list[bool]

    @property
    def is_records(self) -> bool:
        """Whether so little stands side by side that each row is better a record."""
        return len(self.stacked) > len(self.kept) + 2


def fit(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int) -> ColumnLayout:
    """How columns are laid out within a width: the widest texts give way first, then columns are stacked."""
    texts = [
        [*_name(column).split("\n"), *(visible(row[i].text) for row in rows)]
        for i, column in enumerate(columns)
    ]
    every = list(range(len(columns)))
    natural = [max(map(cell_len, held)) for held in texts]
    if _add(natural, every) <= width:
        return ColumnLayout(every, natural, [], [False] * len(columns))
    is_cut = [not all(_is_id_alone(text) for text in held[1:]) for held in texts]
    texts = [
        [_cut_ids(text) for text in held] if cut else held for held, cut in zip(texts, is_cut, strict=True)
    ]
    natural = [max(map(cell_len, held)) for held in texts]
    floors = [_find_floor(column, held, width // 2) for column, held in zip(columns, texts, strict=True)]
    kept = every
    while _add(floors, kept) > width and len(kept) > 1:
        stacked = _choose_stacked(columns, floors, natural, kept, width)
        kept = [place for place in kept if place != stacked]
    widths = [natural[place] for place in kept]
    least = [floors[place] for place in kept] if len(kept) > 1 else [_NARROWEST]
    while _add(widths) > width and (soft := [n for n, w in enumerate(widths) if w > least[n]]):
        widths[max(soft, key=lambda n: widths[n])] -= 1
    return ColumnLayout(kept, widths, [place for place in every if place not in kept], is_cut)


def _add(widths: Sequence[int], places: Sequence[int] | None = None) -> int:
    """The width of a line."""
    chosen = list(widths) if places is None else [widths[place] for place in places]
    return sum(chosen) + _GAP * (len(chosen) - 1)


def _choose_stacked(
    columns: Sequence[Column], floors: Sequence[int], natural: Sequence[int], kept: Sequence[int], width: int
) -> int:
    """The column that gives way: a text, of several the longest that makes room enough; else the last number."""
    texts = [place for place in kept[1:] if not columns[place].is_number]
    if not texts:
        return kept[-1]
    missing = _add(floors, kept) - width
    enough = [place for place in texts if floors[place] + _GAP >= missing]
    return max(enough or texts, key=lambda place: natural[place])


def _find_floor(column: Column, texts: Sequence[str], most: int) -> int:
    """How narrow a column may become: numbers and ids stay whole, texts are folded between words, longer names broken."""
    names = len(_name(column).split("\n"))
    heading = max((cell_len(word) for text in texts[:names] for word in text.split()), default=1)
    body = texts[names:]
    if column.is_number:
        return max([heading, *map(cell_len, body)])
    words = max((cell_len(word) for text in body for word in text.split()), default=1)
    if all(_is_id_alone(text) for text in body):
        return max(heading, words)
    return max(heading, min(words, max(most, _NARROWEST)))


def make_rows(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    layout: ColumnLayout,
    *,
    show_header: bool = True,
) -> Iterator[RenderableType]:
    """Rows as the layout has them: in one table, or each followed by what is stacked below it."""
    if layout.is_records:
        yield from make_records(columns, rows)
        return
    from rich.padding import Padding

    pieces = [rows] if not layout.stacked else [(), *([row] for row in rows)]
    for number, piece in enumerate(pieces):
        is_first = show_header and number == 0
        if piece or is_first:
            yield _make_piece(columns, piece, layout, show_header=is_first)
        for row in piece if layout.stacked else ():
            if (below := _make_stacked(columns, row, layout)).plain:
                yield Padding(below, (0, 0, 0, _GAP))


def _make_piece(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], layout: ColumnLayout, *, show_header: bool
) -> Table:
    table = make_table(show_header=show_header)
    for place, width in zip(layout.kept, layout.widths, strict=True):
        column = columns[place]
        justify: Literal["left", "right"] = "right" if column.is_number else "left"
        table.add_column(make_text(_name(column), "dim"), justify=justify, width=width, overflow="fold")
    for row in rows:
        table.add_row(
            *(
                make_cell(row[place], is_cut=layout.is_cut[place], width=width)
                for place, width in zip(layout.kept, layout.widths, strict=True)
            )
        )
    return table


def _make_stacked(columns: Sequence[Column], row: Sequence[Cell], layout: ColumnLayout) -> Text:
    """What the columns hold that have no room beside the others, each after its name."""
    from rich.text import Text

    line = Text(overflow="fold")
    for place in layout.stacked:
        cell = make_cell(row[place], is_cut=layout.is_cut[place])
        if cell.plain not in _SILENT:
            line.append(" · " if line.plain else "", "dim")
            line.append(f"{visible(columns[place].name or columns[place].kind)}: ".replace("\n", " "), "dim")
            line.append_text(cell)
    return line


def make_records(
    columns: Sequence[Column], rows: Iterable[Sequence[Cell]], first: int = 1
) -> Iterator[RenderableType]:
    """Each row as a record below its number; what is null in it is left out."""
    for number, row in enumerate(rows, first):
        yield make_text(f"{number}", "bold")
        table = make_table(show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for column, cell in zip(columns, row, strict=True):
            if cell.text not in _SILENT:
                table.add_row(make_text(f"  {column.name}", "dim"), make_cell(cell))
        yield table


def make_table(*, show_header: bool) -> Table:
    """A table without lines, two spaces between its columns."""
    from rich.table import Table

    return Table(box=None, show_header=show_header, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="")


def make_cell(cell: Cell, *, is_cut: bool = False, width: int | None = None) -> Text:
    """A cell's text in its colour; a name that is longer than a `width` is broken where its parts end."""
    text = _cut(cell) if is_cut else cell.text
    return make_text(text if width is None else break_names(visible(text), width), STYLES[cell.role])


def make_text(text: str, style: str = "") -> Text:
    """Text of a lake: neither markup nor a control sequence."""
    from rich.text import Text

    return Text(visible(text), style=style, overflow="fold")


def break_names(text: str, width: int) -> str:
    """A text in which every word that is longer than a width is broken, after a sign that ends a part where there is one.

    >>> break_names("at day=2024-01-01/part-00000.parquet", 16)
    'at day=2024-01-01/\\npart-00000.\\nparquet'
    """
    if cell_len(text) <= width:
        return text
    pieces = []
    for word in text.split(" "):
        while cell_len(word) > width:
            most = min(width, len(word))
            end = next((n for n in range(most, most // 2, -1) if word[n - 1] in _BREAKS), most)
            pieces.append(f"{word[:end]}\n")
            word = word[end:]
        pieces.append(f"{word} ")
    return "".join(pieces)[:-1]


def _name(column: Column) -> str:
    return "\n".join(filter(None, (visible(column.name), visible(column.kind))))


def _is_id_alone(text: str) -> bool:
    """Whether a text is an id and nothing else: one that is copied from here to be asked for.

    >>> _is_id_alone("5210511640741470556"), _is_id_alone("snap-5210511640741470556.avro")
    (True, False)
    """
    parts = split_ids(text)
    return text.isdigit() or (len(parts) == 1 and parts[0][1])


def _cut(cell: Cell) -> str:
    """The text of a cell with its long ids cut; times and numbers stay whole."""
    if cell.role == "exact":
        return cell.text
    if cell.parts:
        return "".join("; " if part.text == "\n" else _cut(part) for part in cell.parts)
    return _cut_ids(cell.text)


def _cut_ids(text: str) -> str:
    return "".join(f"{part[:8]}…" if is_id else part for part, is_id in split_ids(text))
