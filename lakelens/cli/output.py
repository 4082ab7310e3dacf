"""Where an answer goes: a terminal in colours and through a pager, a pipe as plain lines, or one JSON document."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.options import display

if TYPE_CHECKING:
    from rich.console import Console

    from lakelens.model.table import Table
    from lakelens.views.card.model import Cell, Column, Grid

_MOST_ROWS, _MOST_TEXT = 10_000, 100_000


class Output:
    """The answer of one verb. A context manager: everything is written out when the block ends.

    `as_json` says that the verb writes one JSON document. `problems` are errors that did not stop the answer.
    """

    def __init__(self, *, as_json: bool = False, pages: bool = True) -> None:
        self.as_json = as_json
        self.problems: list[LakeError] = []
        self._pages = pages
        self._pager: Pager | None = None
        self._console: Console | None = None

    def __enter__(self) -> Output:
        if self._pages and sys.stdout.isatty() and sys.stdin.isatty():
            from rich.console import Console

            self._pager = Pager(Console().height)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pager is not None:
            self._pager.close()

    @property
    def console(self) -> Console:
        """The console; only a terminal has colours and lines drawn."""
        if self._console is None:
            from rich.console import Console

            plain: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}
            if self._pager is not None:
                self._console = Console(file=self._pager, force_terminal=True, **plain)  # type: ignore[arg-type]
            else:
                self._console = Console(**plain)
        return self._console

    @property
    def is_plain(self) -> bool:
        """Whether plain lines are written: to a pipe, or to a file."""
        return not self.console.is_terminal

    def write_json(self, facts: Mapping[str, Any]) -> None:
        """Write one JSON document; what is an iterator in it is written item by item."""
        from lakelens.model.facts.json_values import write_document

        self.write_pieces(write_document(facts))

    def write_answer(self, table: Table, **parts: Any) -> None:
        """Write one JSON document about a table: which it is, the parts, and its findings."""
        from lakelens.cli.facts import answer

        self.write_json(answer(table, **parts))

    def write_pieces(self, pieces: Iterable[str]) -> None:
        """Write text in pieces, as it is; a line feed at the end is added where there is none."""
        stream = self._pager if self._pager is not None else sys.stdout
        piece = ""
        for piece in pieces:
            stream.write(piece)
        if not piece.endswith("\n"):
            stream.write("\n")

    def show_view(self, thing: object, detail: int = 1) -> None:
        """Show the view of an object: its card, with every list as long as it is."""
        is_long = detail > 1 or self.is_plain
        with display.using(max_rows=_MOST_ROWS if is_long else display.max_rows, max_text=self._most_text):
            self._show_card(thing, detail)

    def _show_card(self, thing: object, detail: int) -> None:
        from lakelens.views.render.terminal import print_on
        from lakelens.views.render.text import render_plain

        if detail <= 0:
            from lakelens.views.card.wording import clean

            self.write_line(clean(repr(thing), 2_000))
        elif self.is_plain:
            self.write_lines(render_plain(thing, detail))
        else:
            print_on(self.console, thing, detail)

    def write_rows(self, columns: Iterable[Column], rows: Iterable[tuple[Cell, ...]]) -> int:
        """Rows below their column names, as they come; returns how many there were."""
        from lakelens.views.render.terminal import print_rows, write_rows

        if not self.is_plain:
            return print_rows(self.console, tuple(columns), rows)
        written = -1
        for line in write_rows(tuple(columns), rows):
            self.write_line(line)
            written += 1
        return written

    def write_grid(self, make: Callable[[], Grid]) -> None:
        """Write a grid with all of its rows, however many."""
        from lakelens.views.card.wording import visible
        from lakelens.views.render.text import write_body

        with display.using(max_rows=_MOST_ROWS, max_text=self._most_text):
            grid = make()
        if self.is_plain:
            self.write_lines(map(visible, write_body(grid, 1)))
            return
        self.write_rows(grid.columns, iter(grid.rows))
        if grid.more:
            self.write_line(": ".join(filter(None, (grid.more, grid.how))), "dim")

    def write_line(self, text: str = "", style: str = "") -> None:
        """Write one line, without control characters."""
        from lakelens.views.card.wording import visible

        if self.is_plain:
            (self._pager or sys.stdout).write(f"{visible(text)}\n")
        else:
            from rich.text import Text

            self.console.print(Text(visible(text), style=style, overflow="fold"))

    def write_styled(self, pieces: Sequence[tuple[str, str]]) -> None:
        """Write one line in pieces, each with its style; a pipe gets the text alone."""
        from lakelens.views.card.wording import visible

        if self.is_plain:
            self.write_line("".join(text for text, _ in pieces).rstrip())
            return
        from rich.text import Text

        self.console.print(Text.assemble(*((visible(text), style) for text, style in pieces)))

    def write_lines(self, lines: Iterable[str]) -> None:
        """Lines, one after the other."""
        for line in lines:
            self.write_line(line)

    @property
    def _most_text(self) -> int:
        return _MOST_TEXT if self.is_plain else display.max_text


# A pager for what is longer than the screen: `$PAGER`, else less, with `LESS=FRX` unless `LESS` is set.


class Pager:
    """A text stream that keeps the first screen back; what is longer goes to a pager, the rest is only written.

    Made for a terminal alone. The pager gets lines as they are made: the first page does not wait for the last one.
    """

    encoding = "utf-8"

    def __init__(self, height: int, command: str | None = None) -> None:
        self._height = height
        self._command = find_pager() if command is None else command
        self._kept: list[str] = []
        self._lines = 0
        self._process: subprocess.Popen[str] | None = None

    def write(self, text: str) -> int:
        """Write text; raises BrokenPipeError once the reader has left the pager."""
        if self._process is not None:
            self._stream.write(text)
            return len(text)
        self._kept.append(text)
        self._lines += text.count("\n")
        if self._command and self._lines >= self._height:
            self._start()
        return len(text)

    def flush(self) -> None:
        """Nothing is sent before it is known whether a pager is needed."""

    def isatty(self) -> bool:
        """Say what is written here ends on a terminal."""
        return True

    def close(self) -> None:
        """Write what was kept back, or wait for the reader of the pager."""
        if self._process is None:
            sys.stdout.write("".join(self._kept))
            sys.stdout.flush()
            return
        with contextlib.suppress(BrokenPipeError):
            self._stream.close()
        while self._process.poll() is None:
            with contextlib.suppress(KeyboardInterrupt):  # it belongs to the pager
                self._process.wait()

    @property
    def _stream(self) -> IO[str]:
        assert self._process is not None and self._process.stdin is not None
        return self._process.stdin

    def _start(self) -> None:
        environment = {"LESS": "FRX", "LV": "-c", **os.environ}
        try:
            self._process = subprocess.Popen(
                shlex.split(self._command),
                stdin=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env=environment,
            )
        except (OSError, ValueError):
            self._command = ""  # there is no such program: the output is written as it is
            return
        kept, self._kept = self._kept, []
        self._stream.write("".join(kept))


def find_pager() -> str:
    """Find the pager's command line; empty for none."""
    chosen = os.environ.get("PAGER")
    if chosen is None:
        return next((name for name in ("less", "more") if shutil.which(name)), "")
    return "" if chosen.strip() in ("", "cat") else chosen
