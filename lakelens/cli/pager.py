"""A pager for what is longer than the screen: `$PAGER`, else less, with `LESS=FRX` unless `LESS` is set."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
from typing import IO


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
