"""How far a long reading is: one line after a second, none before; and an interrupt that stops with one line too.

A terminal has a bar, a plain log a line every five seconds, and a notebook a line that is empty in the end: a bar of widgets
would stay in the saved notebook, as one that no page can draw. With `options.display.progress = False` there is none.
What was read before an interrupt is kept by whoever reads: asked again, it goes on from there.

>>> with Progress("manifests", 2) as progress:
...     progress.advance(1)
...     progress.advance(1, 4_000_000)
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import copy_context
from itertools import islice
from threading import Thread
from types import TracebackType
from typing import Any, ClassVar, TypeVar

from lakelens.errors import Interrupted, LakeError
from lakelens.options import display
from lakelens.threads import start_pool

T = TypeVar("T")
R = TypeVar("R")
_READERS = 8
_AT_ONCE = 64  # things: an interrupt waits for no more
#: Seconds before the first line, and between the lines of a plain log.
PATIENCE, LOG_EVERY = 1.0, 5.0
STAGE_PATIENCE = 3.0
# seconds between two looks at what runs, and those that it has to end once it is cancelled
_TICK, _MOST_CANCELLING = 0.25, 10.0


class Progress:
    """Counts what was read of `total` things of one kind (`noun`, in the plural), and their bytes."""

    _last: ClassVar[str] = ""  # line of a log

    def __init__(self, noun: str, total: int | None = None) -> None:
        self.noun, self.total = noun, total
        self.done = self.bytes = 0
        self._started = time.monotonic()
        self._written = float("-inf")
        self._bar: Any = None
        self._line: Any = None

    def advance(self, count: int = 1, size: int = 0) -> None:
        """Count more as read, with their bytes."""
        self.done += count
        self.bytes += size
        now = time.monotonic()
        if display.progress and now - self._started >= PATIENCE:
            self._show(now)

    def describe(self) -> str:
        """Describe how far it is: `reading 12 of 40 manifests, 31 MB; interrupt to stop`."""
        of = f" of {self.total:,}" if self.total is not None else ""
        size = f", {self.bytes / 1e6:,.0f} MB" if self.bytes else ""
        return f"reading {self.done:,}{of} {self.noun}{size}; interrupt to stop"

    def describe_stop(self) -> str:
        """Describe what an interrupt leaves."""
        of = f" of {self.total:,}" if self.total is not None else ""
        return f"stopped after {self.done:,}{of} {self.noun}; what was read is kept: ask again to go on"

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self._started

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        if self._line is not None:
            self._line.update({"text/plain": ""}, raw=True)
        if isinstance(error, KeyboardInterrupt) and not isinstance(error, Interrupted):
            raise Interrupted(self.describe_stop()) from None

    def _show(self, now: float) -> None:
        if _is_notebook():
            from IPython.display import display as show_output

            said = {"text/plain": self.describe()}
            if self._line is None:
                self._line = show_output(said, raw=True, display_id=True)  # type: ignore[no-untyped-call]
            elif now - self._written >= _TICK:
                self._line.update(said, raw=True)
            else:
                return
            self._written = now
            return
        if _is_log():
            line = f"lakelens: {self.describe()}"
            if now - self._written >= LOG_EVERY and line != Progress._last:  # who reads twice says it once
                self._written = now
                Progress._last = line
                print(line, file=sys.stderr, flush=True)
            return
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(total=self.total, leave=False, bar_format="{desc} {bar}", file=sys.stderr)
        self._bar.n = self.done
        self._bar.set_description_str(self.describe(), refresh=False)
        self._bar.refresh()


class Stages(Progress):
    """Says which part of a long answer is being worked out, from the first on that begins after `STAGE_PATIENCE` seconds.

    What is read in a part may have a line of its own, which comes sooner. A plain log has none before `LOG_EVERY` seconds.

    >>> with Stages("comparing figures") as stages:
    ...     stages.begin("looking for files that nobody refers to")
    ...     stages.describe()
    'looking for files that nobody refers to; interrupt to stop'
    """

    def __enter__(self) -> Stages:
        return self

    def begin(self, part: str) -> None:
        """The part before is done, and the next one begins."""
        self.noun = part
        self._written = float("-inf")  # another line at once: the last one is about something else
        if display.progress and self.seconds >= (LOG_EVERY if _is_log() else STAGE_PATIENCE):
            self._show(time.monotonic())

    def describe(self) -> str:
        """Describe what is being done: `comparing figures; interrupt to stop`."""
        return f"{self.noun}; interrupt to stop"

    def describe_stop(self) -> str:
        """Describe what an interrupt leaves."""
        return f"stopped while {self.noun}; what was read is kept: ask again to go on"


class Running(Progress):
    """Says that something runs, for how long, and what `ask` says of how far it is."""

    def __init__(self, what: str, ask: Callable[[], str] = str) -> None:
        super().__init__(what)
        self._ask = ask

    def wait(self, work: Callable[[], T], cancel: Callable[[], None]) -> T:
        """Say what `work` gives, in a thread of its own: an interrupt reaches this one at once, and cancels the work.

        >>> Running("INSERT").wait(lambda: 42, lambda: None)
        42
        """
        from concurrent.futures import Future
        from concurrent.futures import wait as wait_for

        done: Future[T] = Future()

        def run() -> None:
            try:
                done.set_result(work())
            except BaseException as error:
                done.set_exception(error)

        with self:
            Thread(target=copy_context().run, args=(run,), daemon=True, name=f"lakelens-{self.noun}").start()
            try:
                while wait_for([done], _TICK).not_done:
                    self.advance()
            except KeyboardInterrupt:
                cancel()
                wait_for([done], _MOST_CANCELLING)
                raise
        return done.result()

    def describe(self) -> str:
        """Describe how far it is: `INSERT is running, 12 s, 17 of 40 tasks; interrupt to stop`."""
        far = self._ask()
        return f"{self.noun} is running, {self.seconds:,.0f} s{far and f', {far}'}; interrupt to stop"

    def describe_stop(self) -> str:
        """Describe what an interrupt leaves."""
        return f"{self.noun} was stopped after {self.seconds:,.0f} s; what it had committed stays"


def track(things: Iterable[T], noun: str, total: int | None = None) -> Iterator[T]:
    """The things, of which each counts as read once the next one is asked for.

    >>> list(track([1, 2], "snapshots", 2))
    [1, 2]
    """
    with Progress(noun, total) as progress:
        for thing in things:
            yield thing
            progress.advance()


def read_each(
    things: Sequence[T],
    read: Callable[[T], R],
    noun: str,
    follow: Callable[[Iterable[T]], Iterator[T]] = iter,
    readers: int | None = None,
) -> Iterator[tuple[T, R | LakeError]]:
    """Give each thing with what reading it gives, or with what stopped that; several threads (`readers`) read.

    `follow` gives the things one after the other, and may ask for what is read of the next ones ahead.

    >>> list(read_each([2, 3], lambda number: number * number, "numbers"))
    [(2, 4), (3, 9)]
    """

    def attempt(thing: T) -> R | LakeError:
        try:
            return read(thing)
        except LakeError as error:
            return error

    here = copy_context()  # with the options that are set inside of a `with` block

    def attempt_here(thing: T) -> R | LakeError:
        return here.copy().run(attempt, thing)

    def iterate() -> Iterator[tuple[T, R | LakeError]]:
        remaining = follow(things)
        with start_pool(readers or _READERS, noun) as pool:
            while chunk := list(islice(remaining, _AT_ONCE)):
                yield from zip(chunk, pool.map(attempt_here, chunk), strict=True)

    return track(iterate(), noun, len(things))


def _is_notebook() -> bool:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None


def _is_log() -> bool:
    """Check whether what is written goes to a file or a pipe, and not to somebody who looks at it."""
    try:
        return not sys.stderr.isatty()
    except (AttributeError, ValueError):  # closed, or replaced by something simpler
        return True
