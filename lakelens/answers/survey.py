"""The same questions asked of many tables: `Catalog.ask`, `lakelens health ROOT` and `lakelens check ROOT`.

Each table is asked in one of several processes of this machine. A table that cannot be answered for, or whose process
ends, is a row with its error: it stops nothing. `lakelens.spark.inventory` asks the same of more tables than that.
"""

from __future__ import annotations

import os
import pickle
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from lakelens.answers.parts import describe, read_part
from lakelens.answers.question import Datum, Question, load_questions
from lakelens.errors import Interrupted, LakeError, list_nearest
from lakelens.installed import write_command
from lakelens.model.warehouse.survey import Answered, SurveyedTable, TableSurvey
from lakelens.progress import Progress
from lakelens.threads import start_pool

if TYPE_CHECKING:
    from lakelens.model.table import Table
    from lakelens.model.warehouse.catalog import Catalog, FoundTable

#: Tables for which another process is worth its start.
_TABLES_A_PROCESS = 8


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


def survey_tables(catalog: Catalog, names: Iterable[str], processes: int | None = None) -> TableSurvey:
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
    kinds = list_figures(map(find_answerable().__getitem__, asked))
    return TableSurvey(listed, asked, kinds, catalog.root, problems)


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
        try:
            asked = pickle.dumps((table, names))
        except Exception:  # what opens a table of a catalog may not leave this process
            return ask_table(table, names)
        if self._process is None:
            command = write_command("lakelens.answers.worker:main")
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(asked)
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
