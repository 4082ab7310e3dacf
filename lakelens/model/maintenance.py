"""What a format says of its maintenance procedures: which there are, their options, and what each would do."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from lakelens.display import Named
from lakelens.errors import LakeError, list_nearest, say_value
from lakelens.installed import read_text

if TYPE_CHECKING:
    from lakelens.model.fileset import FileSet
    from lakelens.model.table import Table


# A maintenance procedure of a format, its options, and the values that a caller gives to them.
#
# A value may be what Python has for it or text, as a command line gives it. A wrong one raises `LakeError`, which names
# the option, what was seen, and what is expected.

Kind = Literal[
    "text", "integer", "number", "boolean", "time", "bytes", "duration", "predicate", "integers", "texts"
]

_EXPECTED: Mapping[str, str] = {
    "text": "text",
    "predicate": "a predicate in SQL, as text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "time": "a time: ISO text (UTC where it has no zone), a datetime or a date",
    "bytes": "a number of bytes, as 134217728 or '128 MB'",
    "duration": "a length of time: a timedelta, or text as '3 d', '12 h', '30 min'",
    "integers": "whole numbers: a list, or text with commas between them",
    "texts": "names: a list, or text with commas between them",
}
_UNITS = {"": 1, "b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40}
_TIMES = {
    **dict.fromkeys(("ms", "milli", "millis", "millisecond", "milliseconds"), 1),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000),
}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a procedure: its name, the kind of its values, its default as words, and what it means.

    `least` is the smallest number that is accepted.
    """

    name: str
    kind: Kind
    meaning: str
    default: str = ""
    is_required: bool = False
    least: int | None = None

    def read(self, value: Any) -> Any:
        """A value as its kind has it: a number, `bool`, `datetime` (UTC), `timedelta`, `str`, a tuple. Raises `LakeError`.

        >>> Option("older_than", "time", "").read("2024-03-01")
        datetime.datetime(2024, 3, 1, 0, 0, tzinfo=datetime.timezone.utc)
        >>> Option("target", "bytes", "").read("128 MB"), Option("ids", "integers", "").read("5, 6")
        (134217728, (5, 6))
        """
        try:
            read = _READERS[self.kind](value)
        except (ValueError, TypeError, OverflowError, KeyError, AttributeError):
            raise self._refuse(value) from None
        if self.least is not None and isinstance(read, int | float) and read < self.least:
            raise self._refuse(value, f"at least {self.least}")
        return read

    def _refuse(self, value: Any, expected: str | None = None) -> LakeError:
        message = f"option {self.name}: the value does not fit"
        return LakeError(message, expected=expected or _EXPECTED[self.kind], seen=say_value(value))


@dataclass(frozen=True)
class Procedure:
    """One procedure: `plan(table, values)` says what it would do; `values` has the options that were given, by name.

    `title` is its name as a sentence begins ("Expire snapshots"), `meaning` says in one sentence what it is for.

    How a statement calls it: `parameters` are the names of what a CALL without names gives after the table, where that is
    not the order of the options ("options" is a map of some of them). `form` is the statement of what is not CALLed, as
    `lakelens.analysis.statement` reads it.
    """

    name: str
    title: str
    meaning: str
    options: tuple[Option, ...]
    plan: Callable[[Table, Mapping[str, Any]], Proposal] = field(repr=False)
    also_called: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    form: str = ""

    @classmethod
    def of(
        cls,
        name: str,
        title: str,
        meaning: str,
        plan: Callable[[Any, Mapping[str, Any]], Proposal],
        *options: Option,
        also: tuple[str, ...] = (),
        parameters: tuple[str, ...] = (),
        form: str = "",
    ) -> Procedure:
        """Describe a procedure of one format, whose options are listed last."""
        return cls(name, title, meaning, options, plan, also, parameters, form)

    @classmethod
    def read_all(cls, package: str, name: str) -> Mapping[str, Procedure]:
        """Read the procedures of a format from a document beside the code that plans them, each under its name."""
        made = {}
        for key, said in tomllib.loads(read_text(package, name)).items():
            said["options"] = tuple(Option(**option) for option in said["options"])
            said["also_called"] = tuple(said.get("also_called", ()))
            module, _, plan = said["plan"].partition(":")
            made[key] = cls(key, **{**said, "plan": getattr(import_module(f"{package}.{module}"), plan)})
        return made

    def name_values(self, values: Sequence[Any], options: Mapping[str, Any]) -> dict[str, Any]:
        """Name the values of a CALL that come without names, the table first. Raises `LakeError` for too many of them."""
        names = ("table", *(self.parameters or (option.name for option in self.options)))
        if len(values) > len(names):
            raise LakeError(f"{self.name} takes at most {len(names)} values", expected=", ".join(names))
        given = dict(zip(names, values, strict=False))
        twice = given.keys() & options.keys()
        if twice:
            raise LakeError(f"{self.name} is given {min(twice)} twice, by its place and by its name")
        return {**given, **options}

    def read_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Read the values that were given, each as its kind has it; `-` in a name counts as `_`, and None as not given.

        The items of a map called `options` count as given by themselves, as engines take them.

        Raises `LakeError` for an option that there is not, for one that is missing, and for a value that does not fit.
        """
        known = {option.name: option for option in self.options}
        values: dict[str, Any] = {}
        inner = given.get("options")
        if isinstance(inner, Mapping):
            given = {**{name: value for name, value in given.items() if name != "options"}, **inner}
        for name, value in given.items():
            option = known.get(name.replace("-", "_").replace(".", "_"))
            if option is None:
                raise LakeError(
                    f"{self.name} has no option {name}",
                    hint=list_nearest(name, known) if known else "it takes none",
                )
            if value is not None:
                values[option.name] = option.read(value)
        for option in self.options:
            if option.is_required and option.name not in values:
                message = f"{self.name} needs the option {option.name}: {option.meaning}"
                raise LakeError(message, hint=f"{option.name}=…, {_EXPECTED[option.kind]}")
        return values


def _read_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _read_integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError(value)
    number = int(value.strip()) if isinstance(value, str) else value
    if not -(2**63) <= number < 2**63:
        raise OverflowError
    return number


def _read_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError(value)
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(value)
    return number


def _read_boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}[value.strip().lower()]


def read_time(value: Any) -> datetime:
    """Read a time in UTC: of ISO text, a datetime or a date; without a zone it is UTC. Raises ValueError or TypeError.

    >>> read_time("2024-03-01T12:00:00+02:00").hour
    10
    """
    if isinstance(value, str):
        value = datetime.fromisoformat(value.strip().removesuffix("UTC").strip())
    if not isinstance(value, date):
        raise TypeError(value)
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    moment: datetime = value if value.tzinfo else value.replace(tzinfo=UTC)
    return moment.astimezone(UTC)


def _split_unit(value: str) -> tuple[float, str]:
    text = value.strip().lower()
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz ")
    return float(digits), text[len(digits) :].strip()


def read_bytes(value: Any) -> int:
    """A number of bytes: a number, or text with a unit of 1,024 (Paimon's and Hadoop's way). Raises ValueError or TypeError.

    >>> read_bytes("8 kb"), read_bytes("1GiB"), read_bytes(5)
    (8192, 1073741824, 5)
    """
    if not isinstance(value, str):
        return _read_integer(value)
    number, unit = _split_unit(value)
    unit = unit.replace("ib", "b")
    return _read_integer(int(number * _UNITS[unit if unit in _UNITS else f"{unit}b"]))


def read_duration(value: Any) -> timedelta:
    """Read a length of time: a timedelta, or text with a unit. Raises ValueError or TypeError.

    >>> read_duration("3 d"), read_duration("90 min")
    (datetime.timedelta(days=3), datetime.timedelta(seconds=5400))
    """
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str):
        raise TypeError(value)
    number, unit = _split_unit(value)
    return timedelta(milliseconds=number * _TIMES[unit])


def _read_list(value: Any) -> tuple[Any, ...]:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, int):
        return (value,)
    return tuple(value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "text": _read_text,
    "predicate": _read_text,
    "integer": _read_integer,
    "number": _read_number,
    "boolean": _read_boolean,
    "time": read_time,
    "bytes": read_bytes,
    "duration": read_duration,
    "integers": lambda value: tuple(_read_integer(one) for one in _read_list(value)),
    "texts": lambda value: tuple(_read_text(one) for one in _read_list(value)),
}


# What a procedure would do to a table, as its format works it out: the material of a `Plan`.
#
#     reads       files that go in, and are read
#     replaces    files that leave the current state; older states keep them, so that they are not deleted yet
#     writes      lines of what is written: a role, a number of files, bytes, and whether that is an estimate
#     lost        states that can no longer be read, each with why
#     kept        states that stay, each with why and with what keeps it
#     deletes     files that are deleted, by name; with `deletes_lost` those too that a lost state needs, and no kept one
#                 nor
#                 document; with `orphans` those that nothing refers to
#
# A format fills in what its procedure does and leaves out the rest.


@dataclass(frozen=True, slots=True)
class Fate(Named):
    """What becomes of one state of the table, and why.

    `keeper` is the name of the state among `Referring.list_keepers` ("snapshot 5", "tag v1"). `by` is what keeps it ("branch
    main"), as rows of a table are grouped; `id` and `at` are the snapshot's id and time of commit.
    """

    keeper: str
    why: str
    by: str = ""
    id: int | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Output(Named):
    """Files of one role that would be written: how many, of how many bytes together (None: not known), and why.

    An estimate says how wrong it may be: the true bytes are at least `least` and at most `most` (None: no limit is known).
    The same holds for the number of files, with `least_files` and `most_files`. `note` says what it is an estimate of.
    """

    role: str
    files: int
    size_bytes: int | None
    is_estimated: bool = True
    least: int | None = None
    most: int | None = None
    least_files: int | None = None
    most_files: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stored file that a procedure reads, replaces or deletes: where it is, its role as `StoredFile` has it, and why.

    `size_bytes` may be left out of what is deleted: the listing has it. Of a part of a file (a deletion vector) it is the
    part's.
    """

    path: str
    role: str
    size_bytes: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class OrphanRule:
    """Which files that nothing refers to are deleted: those last written before a time, below a directory (None: all)."""

    before: datetime
    below: str | None = None


@dataclass(frozen=True, slots=True)
class Group(Named):
    """Files that are rewritten together: what of (a partition, a bucket), how many, their bytes, why, and into how many."""

    name: str
    files: int
    size_bytes: int
    why: str = ""
    outputs: int | None = None


@dataclass(frozen=True, slots=True)
class Assumption(Named):
    """Something that must hold for the plan to come true; `is_known` is false of what the files cannot say."""

    text: str
    is_known: bool = True


@dataclass(frozen=True)
class Proposal:
    """What a procedure would do: see the module. Nothing in it was done.

    `changes` is one sentence about what the table's readers see ("The current data does not change."). `call` is the
    engine's statement, `dialect` what it is written in. `refusal` says why the engine would refuse to run it: then nothing
    is written, and the rest is empty. `becomes` is the state that is the current one afterwards (an id, or words) where that
    changes. `frees` says what a procedure is there to take away, where `deletes` names the files by itself.
    `dangers` are sentences about what the engine would take from states that stay.
    """

    changes: str
    call: str
    dialect: str = "Spark SQL"
    reads: FileSet | Sequence[Piece] = ()
    replaces: Sequence[Piece] = ()
    writes: Sequence[Output] = ()
    lost: Sequence[Fate] = ()
    kept: Sequence[Fate] = ()
    deletes: Sequence[Piece] = ()
    deletes_lost: bool = False
    orphans: OrphanRule | None = None
    groups: Sequence[Group] = ()
    assumptions: Sequence[Assumption] = ()
    notes: Sequence[str] = ()
    refusal: str | None = None
    becomes: str | None = None
    frees: Literal["states", "orphans"] | None = None
    dangers: Sequence[str] = ()
