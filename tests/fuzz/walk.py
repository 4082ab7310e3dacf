"""A walk of every public verb of a table as named steps: `table.current.files[0].bounds.to_text(3)`.

The walk goes by what `dir()` shows: each attribute and each verb of each kind of object that a reader finds, two of a kind,
so that a new verb is walked without a word here; one that needs arguments has them in `ARGUMENTS`, and a test says which
have none yet. A step fails by anything but a `LakeError`, by a `LakeError` that names neither file nor query, by text with a
character that acts on a terminal, or by taking too long.
"""

from __future__ import annotations

import contextlib
import io
import random
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from lakelens.analysis.layout.wanted import WantedLayout as Layout
from lakelens.display import Named
from lakelens.errors import LakeError, UnknownName, visible

ARGUMENTS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "to_text": [((detail,), {}) for detail in range(4)],
    "show": [((1,), {})],
    "to_html": [(("@file.html",), {})],
    "count": [((None,), {})],
    "index": [(("@item",), {})],
    "get": [(("@key",), {}), (("no such",), {})],
    "field": [((1,), {}), ((10**30,), {})],
    "find": [(("no such",), {})],
    "may_fit": [(("@files",), {}), (("@files",), {"bounds": False})],
    "find_comparison": [(("missing-file",), {})],
    "BytesView.find": [((0,), {}), (("@end",), {})],
    "pick": [(("path", "record_count", "partition"), {})],
    "sample": [((2,), {})],
    "Catalog.where": [(("files > 0",), {}), ((), {"format": "hive", "name": "*"}), (("no_such = 1",), {})],
    "below": [(("no such",), {}), (("",), {})],
    "Catalog.sort_by": [(("name",), {}), (("committed_at",), {"descending": True})],
    "sort_by": [(("record_count",), {}), (("path",), {"descending": True})],
    "where": [(("record_count > 0",), {}), ((), {"content": "data"}), (("no_such = 1",), {})],
    "FileSet.to_arrow": [((), {}), ((), {"stats": False})],
    "preview": [((3,), {})],
    "count_live_rows": [((), {}), ((), {"read": False})],
    "biography": [(("@file",), {})],
    "check": [((), {}), ((), {"data": True})],
    "compare": [(("@table",), {}), (("@table",), {"data": True})],
    "conflict": [((), {"base": "@first", "operation": "merge", "where": "@where"}), (("no such",), {})],
    "advise": [(("@where",), {}), (("@null",), {"sample": 100, "target_file_size": 4096})],
    "what_if": [
        (("@layout", "@where"), {}),
        (("@layout", "@null"), {"sample": 100}),
        (("no such", "@where"), {}),
    ],
    "map": [((), {}), ((), {"snapshot": "@first"})],
    "StoredRow.map": [((), {})],
    "save": [(("@file.svg",), {})],
    "diff": [(("@first", "@last"), {}), ((None, "@last"), {})],
    "dry_run": [((name,), {}) for name in ("expire_snapshots", "remove_orphan_files", "rewrite_manifests")]
    + [
        ((name,), {})
        for name in ("rewrite_data_files", "rewrite_position_delete_files", "compact", "expire_tags")
    ]
    + [((name,), {}) for name in ("vacuum", "optimize", "reorg")],
    "note_doubles": [((["a", "a"],), {})],
    "expire": [(("2100-01-01",), {}), (("2000-01-01",), {})],
    "explain": [(("@where",), {}), (("@null",), {"row_groups": True}), (("no_such > 1",), {})],
    "row": [(("@where",), {})],
    "skeleton": [(("@folder",), {})],
    "snapshot": [((None,), {}), (("main",), {}), ((10**30,), {}), (("2100-01-01",), {})],
    "sql": [(("SELECT count(*) FROM files",), {}), (("SELECT * FROM data LIMIT 2",), {})],
    "branch": [(("main",), {}), (("no such",), {})],
    "vector_view": [(("@path",), {})],
    "tasks": [((), {})],
    "at": [((0,), {}), (("@end",), {})],
    "timeline": [((), {}), ((), {"spacing": "even"})],
    "Guess.look": [((4,), {})],
    "Guess.write": [((4,), {})],
    "Ladder.run": [(({},), {})],
    "LoggedPredicates.of": [(("@table",), {})],
    "Look.judge": [((True,), {})],
    "Quiz.question": [((1,), {})],
    "Quiz.state": [((1,), {})],
}
#: Verbs that take a span, a term or a function of ours: what they give is walked through those that have it; and `explore`,
#: which starts a server of the pages that are walked without one.
UNWALKED = frozenset(
    (
        "explore",
        "focus",
        "trace",
        "answer",
        "ask",  # each question is asked by its own verb
        "column_of",
        "decide",  # of a figure and a limit of the kinds that its sense compares
        "find_freed",
        "find_row_writer",
        "finish",
        "list_found",
        "list_largest",
        "look_with",
        "measure",
        "place",
        "recount",
        "sum",
    )
)
#: What a wrong argument may raise besides a `LakeError`, by verb.
ALLOWED: dict[str, tuple[type[Exception], ...]] = {
    "index": (ValueError,),
    "at": (ValueError,),
    "find": (ValueError,),
    "unpacked": (ValueError,),
    "unpack": (ValueError,),
}
#: Slow ones, done a quarter as often.
RARE = frozenset(
    (
        "plot",
        "to_pandas",
        "to_polars",
        "widget",
        "to_html",
        "sql",
        "skeleton",
        "watch",
        "edit",
        "timeline",
        "_repr_html_",
    )
)
_MOST_ITEMS = 300
_MOST_STEPS = 4_000


class StepTooLong(BaseException):
    """A step took more CPU than it may."""


@dataclass
class Failure:
    """What a step did that no step may do."""

    step: str
    cause: str
    text: str


@dataclass
class Walk:
    """One walk. `before` and `after` are called around each step, `listen` with what it gave, printed or raised.

    `only` are the steps to do, all when empty.
    """

    rng: random.Random
    share: float
    scratch: Path
    only: Sequence[str] = ()
    before: Callable[[str], None] = lambda step: None
    after: Callable[[str], None] = lambda step: None
    listen: Callable[[str, Any], None] = lambda step, said: None
    most_of_a_kind: int = 2
    failures: list[Failure] = field(default_factory=list)
    steps: int = 0
    _table: Any = None

    def run(self, opens: Callable[[], Any]) -> None:
        """Open a table and walk it."""
        opened = self.step("table", opens)
        self._table = opened
        pending: deque[tuple[str, Any]] = deque([("table", opened)])
        seen: Counter[type] = Counter()
        while pending and self.steps < _MOST_STEPS:
            path, thing = pending.popleft()
            if isinstance(thing, Named) and not isinstance(thing, type):
                seen[type(thing)] += 1
                if self.only or seen[type(thing)] <= self.most_of_a_kind:
                    pending.extend(self._visit(path, thing))
            elif isinstance(thing, tuple | list):
                pending.extend((f"{path}[{n}]", thing[n]) for n in ({0, len(thing) - 1} if thing else ()))

    def _visit(self, path: str, thing: Any) -> Iterator[tuple[str, Any]]:
        self.step(f"repr({path})", lambda: repr(thing))
        for name in dir(thing):
            owner = next((one for one in type(thing).__mro__ if name in vars(one)), type(thing))
            static = vars(owner).get(name)
            if callable(static) or isinstance(static, classmethod | staticmethod):
                if owner.__module__.startswith("lakelens") or name in ARGUMENTS:
                    yield from self._call(path, thing, name)
            else:
                yield f"{path}.{name}", self.step(f"{path}.{name}", lambda name=name: getattr(thing, name))
        if hasattr(thing, "_repr_html_"):
            yield from self._call(path, thing, "_repr_html_")
        yield from self._open_up(path, thing)

    def _open_up(self, path: str, thing: Any) -> Iterator[tuple[str, Any]]:
        """The first and the last of what it holds."""
        if isinstance(thing, Mapping):
            keys = self.step(f"list({path})", lambda: list(islice(thing, _MOST_ITEMS))) or []
            for key in (*keys[:1], *keys[-1:]):
                yield f"{path}[{key!r}]", self.step(f"{path}[{key!r}]", lambda key=key: thing[key])
        elif hasattr(thing, "leaves") and hasattr(thing, "field"):  # a schema, by name
            names = self.step(f"{path}.walk()", lambda: [name for name, _ in thing.walk()]) or []
            for name in names[:1]:
                yield f"{path}[{name!r}]", self.step(f"{path}[{name!r}]", lambda name=name: thing[name])
        elif hasattr(thing, "__len__") and hasattr(thing, "__getitem__"):
            size = self.step(f"len({path})", lambda: len(thing)) or 0
            for place in (0, -1) if size else ():
                yield f"{path}[{place}]", self.step(f"{path}[{place}]", lambda place=place: thing[place])

    def _call(self, path: str, thing: Any, name: str) -> Iterator[tuple[str, Any]]:
        if name in UNWALKED:
            return
        verb = getattr(thing, name)
        keys = [*(f"{one.__name__}.{name}" for one in type(thing).__mro__), name]
        calls = next((ARGUMENTS[key] for key in keys if key in ARGUMENTS), [((), {})])
        if name == "check" and thing is not self._table:
            calls = calls[:1]
        for n, (args, options) in enumerate(calls):
            told = ", ".join([*map(str, args), *(f"{key}={value}" for key, value in options.items())])
            step = f"{path}.{name}({told})"
            if not self._is_chosen(name):
                continue
            try:
                given = [self._fill(arg, thing, n) for arg in args]
            except _NothingThereError:
                continue
            result = self.step(step, lambda given=given, options=options: verb(*given, **options), name)
            yield step, result

    def _is_chosen(self, name: str) -> bool:
        share = self.share / 4 if name in RARE and self.share < 1 else self.share
        return bool(self.only) or self.rng.random() < share

    def _fill(self, arg: Any, thing: Any, number: int) -> Any:
        """The argument that a word stands for."""
        if not isinstance(arg, str) or not arg.startswith("@"):
            return arg
        try:
            if arg in ("@file.html", "@file.svg", "@folder"):
                return self.scratch / f"{self.steps}-{number}{arg.removeprefix('@')}"
            if arg == "@item":
                return thing[0]
            if arg == "@key":
                return next(iter(thing.keys()))
            if arg == "@file":
                return self._table.files[0].path
            if arg == "@files":
                return self._table.files
            if arg == "@table":
                return self._table
            if arg == "@layout":
                return Layout(sort_by=f"`{self._table.schema.fields[0].name}`")
            if arg == "@path":
                return next(iter(thing.vectors))
            if arg == "@end":
                return thing.end - 1
            if arg in ("@first", "@last"):
                return self._table.snapshots[0 if arg == "@first" else -1]
            name = self._table.schema.fields[0].name.replace('"', '""')
            return f'"{name}" IS NULL' if arg == "@null" else f'"{name}" IS NOT NULL'
        except (LakeError, LookupError, StopIteration, AttributeError, TypeError):
            raise _NothingThereError from None

    def step(self, step: str, ask: Callable[[], Any], verb: str = "") -> Any:
        """One step: what it gives, consumed when it is an iterator; None when it raises."""
        if self.only and not any(wanted.startswith(_stem(step)) or step == wanted for wanted in self.only):
            return None
        self.steps += 1
        self.before(step)
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                result = ask()
                result = list(islice(result, _MOST_ITEMS)) if isinstance(result, Iterator) else result
            self.listen(step, printed.getvalue() or result)
            if isinstance(result, str) and not step.endswith("_repr_html_()") and step.count("to_text("):
                self._check_text(step, result)
            return result
        except LakeError as error:
            self.listen(step, error)
            self._check_error(step, error)
        except ALLOWED.get(verb, ()):
            pass
        except (StepTooLong, Exception) as error:
            self.failures.append(Failure(step, find_cause(error), _tail(error)))
        finally:
            self.after(step)
        return None

    def _check_text(self, step: str, text: str) -> None:
        active = {ascii(one) for one in text if one != "\n" and visible(one) != one}
        if active:
            cause = f"text with {', '.join(sorted(active))}: {_last(step)}"
            self.failures.append(Failure(step, cause, text[:300]))

    def _check_error(self, step: str, error: LakeError) -> None:
        """An error says where, and can itself be shown."""
        if (
            error.path is None
            and error.sql is None
            and not isinstance(error, UnknownName)
            and not _is_own(step)
        ):
            cause = f"{find_cause(error)}, a LakeError without path: {error.message[:80]}"
            self.failures.append(Failure(step, ascii(cause), _tail(error)))
        try:
            said = [str(error), error.to_text(), error.reason]
            repr(error), error._repr_html_(), error._render_traceback_()
        except Exception as other:
            self.failures.append(Failure(step, f"showing an error: {find_cause(other)}", _tail(other)))
        else:
            self._check_text(f"str(error of {step})", said[0] + said[1])


class _NothingThereError(Exception):
    """There is no such argument in this table."""


def _is_own(step: str) -> bool:
    """Whether the error is about what was given and not about the lake."""
    own = ("no such", "no_such", "(10000", ".dry_run(", ".sort_by(", ".branch(")
    # a partitioning, a branch and the like have no bytes, and so no file to name; most bytes are not for a bench
    return any(word in step for word in own) or step.endswith((".bytes_view()", ".edit()"))


def _stem(step: str) -> str:
    return step if not step.startswith(("repr(", "list(", "len(")) else step[step.index("(") + 1 : -1]


def _last(step: str) -> str:
    return step.rpartition(".")[2]


def find_cause(error: BaseException) -> str:
    """The kind of an error and where in lakelens it came from, without numbers of lines: equal for equal causes."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/lakelens/" in frame.filename]
    where = ours[-1] if ours else frames[-1]
    module = where.filename.rpartition("/lakelens/")[2] if ours else Path(where.filename).name
    return f"{type(error).__name__} in {module}:{where.name}"


def _tail(error: BaseException) -> str:
    return ascii("".join(traceback.format_exception(error)[-6:])[-1500:]).replace("\\n", "\n")
