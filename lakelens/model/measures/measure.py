"""One figure of a table's health: its value, the limit it is compared with, whose limit that is, and what would help.

good    the value keeps its limit
watch   it does not, by little or beyond help
act     it does not, and a call helps
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lakelens.display import Displayable, Named
from lakelens.errors import LakeError
from lakelens.model.collections import Items, NamedItems
from lakelens.model.facts.facts import Fact

if TYPE_CHECKING:
    from lakelens.model.measures.figures import FileFigures
    from lakelens.model.schema import Schema
    from lakelens.model.snapshot import Snapshot


Group = Literal["files", "deletes", "levels", "metadata", "columns"]
Sense = Literal["≤", "≥", "<"]
Source = Literal["property", "default", "lakelens"]
Verdict = Literal["good", "watch", "act"]
#: What a value counts: its text depends on it. `share` is a part of 1, `times` a quotient.
Unit = Literal["bytes", "files", "share", "times", "seconds", "count"]

GROUPS: tuple[Group, ...] = ("files", "deletes", "levels", "metadata", "columns")


@dataclass(frozen=True, slots=True)
class Limit(Named):
    """What a value is compared with, and whose limit it is: a property of the table, an engine's default, or lakelens.

    >>> Limit(4, "≤", "lakelens").keeps(4), Limit(0.3, "<", "default", "delete-ratio-threshold").keeps(0.3)
    (True, False)
    """

    value: float
    sense: Sense
    source: Source
    compared_with: str = ""

    def keeps(self, value: float) -> bool:
        """Check whether a value is within the limit."""
        if self.sense == "≥":
            return value >= self.value
        return value < self.value if self.sense == "<" else value <= self.value

    def measure_excess(self, value: float) -> float:
        """Measure how many times the limit a value is beyond it; 1 or less where it keeps it.

        >>> Limit(4, "≤", "lakelens").measure_excess(12), Limit(100, "≥", "lakelens").measure_excess(25)
        (3.0, 4.0)
        """
        if self.keeps(value):
            return min(value / self.value, 1.0) if self.value and self.sense != "≥" else 1.0
        if self.sense == "≥":
            return self.value / max(value, 1)
        return value / self.value if self.value else 1.0 + value


@dataclass(frozen=True, slots=True, repr=False)
class Call(Displayable):
    """A statement that helps, in the engine's own words, and what it does; `procedure` is what `Table.dry_run` can try."""

    statement: str
    why: str
    procedure: str = ""

    @property
    def name(self) -> str:
        """What is called: the procedure, or the first words of the statement.

        >>> Call("CALL sys.compact(table => 'db.t')", "").name, Call("ALTER TABLE t SET x", "").name
        ('compact', 'ALTER TABLE')
        """
        words = self.statement.split("(")[0].split()
        return words[1].rsplit(".", 1)[-1] if words[0] == "CALL" else " ".join(words[:2])

    def __repr__(self) -> str:
        return f"<Call {self.statement}>"


class Calls(Items[Call]):
    """The statements that help, the most worth first."""

    __slots__ = ()
    facts = (Fact("statement"), Fact("why"), Fact("procedure"))


@dataclass(frozen=True, slots=True, repr=False)
class Measure(Displayable):
    """One figure. `place` is the partition, the file or the column that the worst value belongs to, where there is one.

    `advice` says what would help, or why nothing does; `statements` are the calls that help, none where nothing does.

    >>> limit = Limit(4, "≤", "lakelens")
    >>> Measure("skew", "files", 9.0, "times", limit).verdict, Measure("skew", "files", 2.0, "times", limit).verdict
    ('watch', 'good')
    """

    name: str
    group: Group
    value: float
    unit: Unit
    bound: Limit
    advice: str = ""
    statements: tuple[Call, ...] = ()
    place: str = ""

    @property
    def limit(self) -> float:
        """The limit."""
        return self.bound.value

    @property
    def sense(self) -> Sense:
        """Whether the value has to be at most, at least, or below the limit."""
        return self.bound.sense

    @property
    def source(self) -> Source:
        """Whose limit it is."""
        return self.bound.source

    @property
    def compared_with(self) -> str:
        """The property or the option that sets the limit; empty for one of lakelens."""
        return self.bound.compared_with

    @property
    def verdict(self) -> Verdict:
        """Good within the limit; beyond it something to act on where a call helps, else something to watch."""
        if self.bound.keeps(self.value):
            return "good"
        return "act" if self.statements else "watch"

    @property
    def call(self) -> str:
        """The statement that helps; empty where none does, and where none is needed."""
        return self.statements[0].statement if self.verdict == "act" else ""

    def __repr__(self) -> str:
        value = f"{self.value:,.4g}" if self.value < 10_000 else f"{self.value:,.0f}"
        return f"<Measure {self.name}: {value} {self.sense} {self.limit:,.10g}, {self.verdict}>"


class Measures(NamedItems[Measure]):
    """The figures of a table's health, by name too."""

    __slots__ = ()
    facts = (
        Fact("name"),
        Fact("group"),
        Fact("value", "float64", lambda measure: float(measure.value)),
        Fact("unit"),
        Fact("sense"),
        Fact("limit", "float64", lambda measure: float(measure.limit)),
        Fact("compared_with"),
        Fact("source"),
        Fact("verdict"),
        Fact("place"),
        Fact("advice"),
        Fact("call"),
    )

    def _list_names(self, item: Measure) -> tuple[str, ...]:
        return (item.name,)


@dataclass(frozen=True, slots=True, repr=False)
class Need(Displayable):
    """A feature that a reader must know; `where` is how much of the table needs it, `since` what brought it."""

    feature: str
    where: str = ""
    since: str = ""

    def __repr__(self) -> str:
        return f"<Need {self.feature}>"


class Needs(Items[Need]):
    """What a reader of the table must know, the most demanding first."""

    __slots__ = ()
    facts = (Fact("feature"), Fact("where"), Fact("since"))


@dataclass(frozen=True, slots=True, repr=False)
class DocumentPart(Displayable):
    """A part of the metadata that is written again or kept with every commit: how many things it lists, and its bytes."""

    document: str
    name: str
    entries: int | None
    size_bytes: int

    def __repr__(self) -> str:
        return f"<DocumentPart {self.name}: {self.size_bytes} bytes>"


class DocumentParts(Items[DocumentPart]):
    """What makes the metadata large."""

    __slots__ = ()
    facts = (Fact("document"), Fact("name"), Fact("entries", "int64"), Fact("size_bytes", "int64"))

    @property
    def size_bytes(self) -> int:
        """The bytes of all parts."""
        return sum(part.size_bytes for part in self)


def count(number: int, noun: str, many: str | None = None) -> str:
    """Give a count with its noun, as advice has it.

    >>> count(1, "file"), count(1684, "file"), count(2, "entry", "entries")
    ('1 file', '1,684 files', '2 entries')
    """
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


# What a reader of a table of any format must know: the types of its columns, the formats and codecs of its files.

_MOST_NAMED = 3
# a file that comes later in a large set is not looked up for this alone
_NEAR = 64


def list_type_needs(schema: Schema, since: Mapping[str, str]) -> Iterator[Need]:
    """List the types that not every reader knows, with the columns that have them; `since` says what brought each."""
    found: dict[str, list[str]] = {}
    for name, field in schema.walk():
        kind = str(field.type).split("(")[0].split("<")[0].strip().lower()
        if kind in since:
            found.setdefault(kind, []).append(name)
    for kind, names in found.items():
        more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        yield Need(f"type {kind}", ", ".join(names[:_MOST_NAMED]) + more, since[kind])


def list_file_needs(figures: FileFigures, snapshot: Snapshot | None) -> Iterator[Need]:
    """List the formats of files, and the codecs that the footer of one data file names."""
    formats = figures.column("file_format")
    counted: Counter[str] = Counter()
    if formats is not None:
        for one in formats.value_counts().to_pylist():
            counted[one["values"] or "unknown"] += one["counts"]
    for name, number in counted.most_common():
        yield Need(f"{name} files", count(number, "file"))
    if formats is None and snapshot is not None and len(figures.data):
        yield Need(f"{snapshot.files[0].file_format} files", "as the name of one file says")
    if snapshot is None or not len(figures.data) or int(figures.data[0]) >= _NEAR:
        return
    try:
        codec = read_codec(snapshot, int(figures.data[0]))
    except LakeError:
        return  # a file that is gone is `check`'s to say
    if codec:
        yield Need(f"codec {codec}", "as the footer of one data file says")


def read_codec(snapshot: Snapshot, number: int) -> str:
    """The codecs that one file's footer names; empty where it names none. Raises `LakeError` when it cannot be read."""
    footer = snapshot.files[number].footer
    facts = footer.facts
    found = getattr(facts, "compression", None) or getattr(facts, "codec", None)
    if found is not None:
        return str(found).lower()
    columns = getattr(facts, "columns", ())
    named = dict.fromkeys(name for column in columns for name in getattr(column, "compression", ()))
    return ", ".join(str(name).lower() for name in named)
