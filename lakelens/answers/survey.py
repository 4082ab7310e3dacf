"""The same questions asked of many tables: `Catalog.ask`, `lakelens health ROOT` and `lakelens check ROOT`.

Each table is asked in one of several processes of this machine. A table that cannot be answered for, or whose process
ends, is a row with its error: it stops nothing. `lakelens.spark.inventory` asks the same of more tables than that.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from lakelens.answers.parts import describe, read_part
from lakelens.answers.question import Datum, Question, load_questions
from lakelens.display import Displayable
from lakelens.errors import Interrupted, LakeError, list_nearest
from lakelens.lazy import dataclass
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact, build_rows
from lakelens.model.warehouse.catalog import place_below
from lakelens.progress import Progress
from lakelens.threads import start_pool

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.table import Table
    from lakelens.model.warehouse.catalog import Catalog, FoundTable

#: Tables for which another process is worth its start.
_TABLES_A_PROCESS = 8


@dataclass(frozen=True, slots=True)
class Answered:
    """What the questions said of one table: its figures by name, the rows of what it is made of, and what failed."""

    figures: Mapping[str, Any]
    rows: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    failed: tuple[str, ...] = ()


def find_answerable() -> dict[str, Question]:
    """Find the questions that have figures for many tables, in the order in which they are worked out.

    >>> list(find_answerable())[:3]
    ['check', 'health', 'space']
    """
    return {name: question for name, question in load_questions().items() if question.figures}


def check_names(names: Iterable[str], known: Mapping[str, Question] | None = None) -> tuple[str, ...]:
    """Check the answers that are asked for, in the order in which they are worked out. Raises `LakeError` for another name.

    Without `known` they may be all that `find_answerable` finds.

    >>> check_names(["health", "check"])
    ('check', 'health')
    """
    asked, known = set(names), find_answerable() if known is None else known
    for name in asked:
        if name not in known:
            raise LakeError(f"many tables cannot be asked {name!r}", hint=list_nearest(str(name), known))
    return tuple(name for name in known if name in asked)


def list_figures(questions: Iterable[Question]) -> dict[str, str]:
    """List the figures of some questions with their kinds.

    >>> list_figures([find_answerable()["health"]])
    {'act': 'int64', 'watch': 'int64', 'good': 'int64', 'first': 'string', 'call': 'string'}
    """
    figures = (figure for question in questions for figure in question.figures)
    listed = (figure if isinstance(figure, Datum) else Datum(figure) for figure in figures)
    return {figure.name: figure.kind for figure in listed}


def answer_questions(table: Table, names: Iterable[str]) -> Answered:
    """Ask a table the questions; one that fails leaves its figures empty, and `failed` says why."""
    figures: dict[str, Any] = {}
    rows: list[tuple[str, Mapping[str, Any]]] = []
    failed: list[str] = []
    known = find_answerable()
    for name in check_names(names):
        try:
            # all or nothing: an error half way leaves no rows
            answer, question = table.ask(name), known[name]
            described = describe(answer, question.figures)
            listed = [(part.name, row) for part in question.rows for row in read_part(answer, part)]
        except Exception as error:  # one table that cannot be judged must not hide the others
            failed.append(f"{name}: {_say(error)}")
            continue
        figures |= described
        rows += listed
    return Answered(figures, tuple(rows), tuple(failed))


def _say(error: Exception) -> str:
    return str(error) if isinstance(error, LakeError) else f"{type(error).__name__}: {error}"


def ask_table(found: FoundTable, names: Sequence[str]) -> Answered:
    """Open a table and ask it the questions. Never raises: why it cannot be opened is what failed."""
    try:
        table = found.open()
    except Exception as error:  # as above
        return Answered({}, failed=(_say(error),))
    answered = answer_questions(table, names)
    return Answered(answered.figures, failed=answered.failed)


@dataclass(frozen=True, repr=False)
class SurveyedTable(Displayable):
    """One table of a survey: what it is called, where and what it is, and what was answered."""

    name: str
    format: str
    path: str
    answered: Answered = field(repr=False)

    @property
    def figures(self) -> Mapping[str, Any]:
        """The figures that were asked for, by name."""
        return self.answered.figures

    @property
    def error(self) -> str | None:
        """Why it cannot be opened, or which answer failed; None where all is answered."""
        return "; ".join(self.answered.failed) or None

    @property
    def rank(self) -> tuple[int, ...]:
        """How much there is to do: errors, bytes that can be freed, measures to act on. Greater is worse."""
        figures = self.figures
        broken = (figures.get("errors") or 0) + bool(self.answered.failed)
        return broken, figures.get("reclaimable_bytes") or 0, figures.get("act") or 0

    def __repr__(self) -> str:
        return f"<SurveyedTable {self.format} {self.name}>"


class Survey(Items[SurveyedTable]):
    """What questions say of many tables: a row for each, in path order. `worst` has those to do something about."""

    __slots__ = ("names", "problems", "root")

    def __init__(
        self,
        tables: Iterable[SurveyedTable] = (),
        names: Sequence[str] = (),
        root: str = "",
        problems: Sequence[LakeError] = (),
    ) -> None:
        super().__init__(tables)
        #: the questions that were asked
        self.names = tuple(names)
        #: the directory, or what the catalog is called
        self.root = root
        #: what could not be looked into, and that it was interrupted
        self.problems = tuple(problems)

    def _like(self, held: Sequence[Any]) -> Self:
        return type(self)(held, self.names, self.root, self.problems)

    @property
    def worst(self) -> Self:
        """The tables to do something about: damaged first, then by bytes to be freed, then by acts."""
        ranked = sorted(
            (table for table in self if any(table.rank)), key=lambda table: table.rank, reverse=True
        )
        return self._like(tuple(ranked))

    @property
    def damaged(self) -> Self:
        """The tables with errors, and those that could not be answered for."""
        return self._like(tuple(table for table in self if table.rank[0]))

    def place(self, path: str | None) -> str:
        """Place a path relative to the root; the root itself is `.`, and a path elsewhere stays whole."""
        return place_below(self.root, path)

    def to_arrow(self) -> pa.Table:
        """One row for each: `name`, `format`, `path`, the figures of the questions, and `error`."""

        def read(name: str, kind: str) -> Fact:
            return Fact(name, kind, lambda table: table.figures.get(name))

        figures = (
            read(name, kind)
            for name, kind in list_figures(map(find_answerable().__getitem__, self.names)).items()
        )
        return build_rows(self, (Fact("name"), Fact("format"), Fact("path"), *figures, Fact("error")))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self), self.names, self.root, self.problems)

    def __repr__(self) -> str:
        return f"<Survey {', '.join(self.names)} of {len(self)} tables>"


def survey_tables(catalog: Catalog, names: Iterable[str], processes: int | None = None) -> Survey:
    """Ask each table of a catalog some questions; see `Catalog.ask`."""
    asked = check_names(names)
    tables = tuple(catalog)
    if processes is None:
        processes = min(os.cpu_count() or 1, -(-len(tables) // _TABLES_A_PROCESS))
    answers: dict[int, Answered] = {}
    problems = list(catalog.problems)
    try:
        with Progress("tables", len(tables)) as progress:
            for position, answered in _ask_each(tables, asked, processes):
                answers[position] = answered
                progress.advance()
    except Interrupted as interrupted:
        problems.append(LakeError(str(interrupted), path=catalog.root, hint="ask again for the others"))
    listed = [
        SurveyedTable(
            tables[position].name, tables[position].format, tables[position].path, answers[position]
        )
        for position in sorted(answers)
    ]
    return Survey(listed, asked, catalog.root, problems)


def _ask_each(
    tables: Sequence[FoundTable], names: Sequence[str], processes: int
) -> Iterator[tuple[int, Answered]]:
    if processes <= 1:
        for position, table in enumerate(tables):
            yield position, ask_table(table, names)
        return
    workers = [_Worker() for _ in range(processes)]
    idle: SimpleQueue[_Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def ask(table: FoundTable) -> Answered:
        worker = idle.get()
        try:
            return worker.ask(table, names)
        finally:
            idle.put(worker)

    pool = start_pool(processes, "survey")
    try:
        running = {pool.submit(ask, table): position for position, table in enumerate(tables)}
        for future in as_completed(running):
            yield running[future], future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.stop()


class _Worker:
    """Another process that is asked about one table at a time; one that ended is started again for the next."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, table: FoundTable, names: Sequence[str]) -> Answered:
        """Ask about a table and wait for the answer."""
        if self._process is None:
            command = [sys.executable, "-m", "lakelens.answers.worker"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            pickle.dump((table, names), process.stdin)
            process.stdin.flush()
            answered = pickle.load(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._process = None
            process.kill()
            return Answered({}, failed=(f"the process that read it ended with status {process.wait()}",))
        assert isinstance(answered, Answered)
        return answered

    def stop(self) -> None:
        """End the process, also in the middle of an answer."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
