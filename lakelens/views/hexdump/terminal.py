"""The annotated hex dump on a terminal: offsets, names, bytes and meanings in colours, within the width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakelens.model.bytes_view import BytesView
from lakelens.options import display
from lakelens.views.card.wording import visible
from lakelens.views.hexdump.lines import Line
from lakelens.views.hexdump.model import choose_scale, present_bytes
from lakelens.views.hexdump.parts import ByteFold, DumpPart, HexDump, LineGroup
from lakelens.views.hexdump.text import format_more

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_ROW = 50  # characters of a short line
_NAMES = ("at", "field", "bytes", "ASCII", "meaning")
_STYLES = ("dim", "cyan", "bold", "dim", "green")
_WIDE = 110  # columns from which the ASCII column has room


def print_bytes(console: Console, explanation: BytesView, detail: int = 1) -> None:
    """Print an explanation."""
    from rich.text import Text

    view = present_bytes(explanation, detail, choose_scale(detail, display.max_bytes, _ROW))
    head = Text.assemble((visible(f"{view.noun}: "), "bold"), visible(view.sentence))
    if view.alert:
        head.append(f"  {visible(view.alert)}", "bold yellow")
    console.print(head)
    for words in filter(None, (view.place, view.details)):
        console.print(Text(visible(words), style="dim", overflow="fold"))
    _print_parts(console, view, view.parts, "")


def _print_parts(console: Console, view: HexDump, parts: Sequence[DumpPart], indent: str) -> None:
    from rich.padding import Padding
    from rich.text import Text

    for part in parts:
        if isinstance(part, LineGroup):
            if part.title:
                console.print(Text(f"{indent}{visible(part.title)}", style="bold"))
            if part.lines:
                made = _make_table(part.lines, console.width - len(indent))
                console.print(Padding(made, (0, 0, 0, len(indent))))
        elif isinstance(part, ByteFold):
            sign = "▾" if part.opened else "▸"
            words = Text.assemble((f"{indent}{sign} {visible(part.label)}  ", "bold"))
            console.print(
                words.append(visible(part.answer), "").append(f"  {visible(part.call or part.place)}", "dim")
            )
            if part.opened:
                _print_parts(console, view, part.parts, f"{indent}  ")
        else:
            console.print(Text(f"{indent}{visible(format_more(part))}", style="dim"))


def _make_table(lines: Sequence[Line], width: int) -> Table:
    """Lines of one group; the bytes fold as a hex dump does, at whole bytes."""
    from rich.table import Table
    from rich.text import Text

    rows = [_list_cells(line) for line in lines]
    kept = [
        index
        for index in range(len(_NAMES))
        if index in (0, 2) or (any(row[index] for row in rows) and (index != 3 or width >= _WIDE))
    ]
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for index in kept:
        hex_width = 47 if width >= _WIDE else 23
        table.add_column(
            style=_STYLES[index],
            justify="right" if index == 0 else "left",
            no_wrap=index == 0,
            overflow="fold",
            width=min(hex_width, max(len(row[2]) for row in rows)) if index == 2 else None,
        )
    for line, row in zip(lines, rows, strict=True):
        style = "bold red" if line.role == "damage" else ""
        table.add_row(*(Text(visible(row[index]), style=style, overflow="fold") for index in kept))
    return table


def _list_cells(line: Line) -> tuple[str, ...]:
    name = line.field if line.number is None else f"{line.number} {line.field}"
    meaning = "; ".join(filter(None, (line.value, line.meaning, line.aside)))
    if line.role == "more":
        return ("", line.field, "", "", line.meaning)
    return (line.at, name, line.hex, line.ascii, meaning)
