"""What replaces the names and values of one table, and what was kept or left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from lakelens.errors import LakeError, list_nearest

if TYPE_CHECKING:
    from lakelens.model.schema import DataType
    from lakelens.model.skeleton.scales import NumberScale, TextScale


# Names in place of names: the same one wherever the old one stands, and never one that the table has itself.


class Names:
    """The names of one table and what replaces them.

    >>> names = Names()
    >>> names.reserve(["id", "p2"])
    >>> names.column("id", 1), names.column("renamed", 1), names.column("other", 2), names.column("id", 7)
    ('c1', 'c1_2', 'c2', 'c1')
    >>> names.field("p2", 2)
    'px2'
    >>> names.word("b", "audit"), names.word("b", "main"), names.word("b", "audit")
    ('b1', 'b2', 'b1')
    """

    def __init__(self, keep: Collection[str] = ()) -> None:
        self.keep = frozenset(keep)
        self._columns: dict[str, str] = {}
        self._fields: dict[str, str] = {}
        self._words: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._prefixes: dict[str, str] = {}
        self._taken: set[str] = set()
        self._reserved: set[str] = set()
        self._files: dict[str, int] = {}

    @property
    def keeps_all(self) -> bool:
        """Whether the names of columns, partition fields, branches and tags stay."""
        return "names" in self.keep

    def reserve(self, names: Iterable[str]) -> None:
        """Original names, which no new one may be like."""
        self._reserved.update(name.lower() for name in names)

    def column(self, name: str, field_id: int | str, full_name: str = "") -> str:
        """The name in place of a column's; a column that was renamed has two of them."""
        if self.keeps_all or name in self.keep or full_name in self.keep:
            self._columns[name] = name
        if name not in self._columns:
            self._columns[name] = self._take(f"c{field_id}")
        return self._columns[name]

    def find_column(self, name: str) -> str | None:
        """Find the name in place of one that some column has; None when none has it."""
        return self._columns.get(name)

    def refer(self, name: str) -> str:
        """The name in place of one that refers to a column; a numbered word where no column has it."""
        return self._columns.get(name) or self.word("no-column-", name)

    def field(self, name: str, field_id: int | str) -> str:
        """The name in place of a partition field's: the column's where they are the same."""
        if name in self._columns:
            return self._columns[name]
        if self.keeps_all:
            return name
        if name not in self._fields:
            self._fields[name] = self._take(f"p{field_id}")
        return self._fields[name]

    def ref(self, name: str, kind: str) -> str:
        """The name in place of a branch's or a tag's; `main` stays."""
        return name if name == "main" or self.keeps_all else self.word(kind, name)

    def word(self, prefix: str, text: str) -> str:
        """A numbered word in place of a text: `prefix` says what it is."""
        key = (prefix, text)
        if key not in self._words:
            number = self._counts[prefix] = self._counts.get(prefix, 0) + 1
            self._words[key] = self._take(f"{prefix}{number}")
        return self._words[key]

    def number_files(self, paths: Iterable[str]) -> None:
        """Give each path its number, in the order of the paths."""
        self._files = {path: number for number, path in enumerate(sorted(set(paths)), 1)}

    def file(self, path: str) -> str:
        """The stem of the name in place of a file's, which sorts as its path did."""
        number = self._files.setdefault(path, len(self._files) + 1)
        return f"f{number:06d}"

    def knows_file(self, path: str) -> bool:
        """Check whether a path was numbered."""
        return path in self._files

    def stand(self, text: str) -> str:
        """The stem of the first file at or after a text: where a cut path stands among the files."""
        number = sum(path < text for path in self._files) + 1
        return f"f{number:06d}"

    def _take(self, name: str) -> str:
        prefix = name.rstrip("0123456789")
        number = name[len(prefix) :]
        if prefix not in self._prefixes:
            free = prefix
            while any(one.startswith(free) and one[len(free) :].isdecimal() for one in self._reserved):
                free += "x"  # no number makes the name of such a table
            self._prefixes[prefix] = free
        prefix = self._prefixes[prefix]
        found, count = prefix + number, 1
        while found in self._taken or found in self._reserved:
            count += 1
            found = f"{prefix}{number}_{count}"
        self._taken.add(found)
        return found


Scale = "NumberScale | TextScale"
#: what `keep` may name beside columns
KINDS = ("names", "values", "properties")


@dataclass(frozen=True, slots=True)
class RedactedColumn:
    """A column in the skeleton: its full name there, its type, and what replaces its values (None: they are kept)."""

    name: str
    type: DataType
    scale: NumberScale | TextScale | None


class Redaction:
    """How one table is redacted: what is kept by choice, what replaces the rest, and what is said about it.

    `columns` has each column by its full original name; it is what a predicate is translated with. `notes` are sentences
    about what is not in the skeleton, or could not be replaced in order.
    """

    def __init__(self, keep: Collection[str] = (), seed: int | str | None = None) -> None:
        if isinstance(keep, str):
            keep = (keep,)
        self.random = Random(seed)
        self.keep = frozenset(keep)
        self.names = Names(self.keep)
        self.columns: dict[str, RedactedColumn] = {}
        self.notes: list[str] = []

    @property
    def keeps_properties(self) -> bool:
        """Whether the values of properties and summaries stay."""
        return "properties" in self.keep

    def keeps_values(self, names: Iterable[str]) -> bool:
        """Check whether the values of a column stay, which had these names."""
        return "values" in self.keep or not self.keep.isdisjoint(names)

    def comment(self, text: Any) -> Any:
        """Say what stands for a comment: it stays with the names, or where it is empty."""
        return text if self.names.keeps_all or not text else "(comment)"

    def leave_out(self, what: str, instead: Any) -> Callable[[Any], Any]:
        """Make a pen that writes one thing instead of any other, and says what was left out where there was anything."""

        def write(value: Any) -> Any:
            if value:
                self.note(f"{what} are left out")
            return instead

        return write

    def check_kept(self, columns: Collection[str]) -> None:
        """Raises `LakeError` when `keep` names what is neither a kind nor a column."""
        unknown = sorted(self.keep - set(KINDS) - set(columns))
        if unknown:
            hint = list_nearest(unknown[0], [*KINDS, *columns])
            raise LakeError(f"keep names {unknown[0]!r}, which is no column", hint=hint)

    def note(self, text: str) -> None:
        """Say something of what was left out, once."""
        if text not in self.notes:
            self.notes.append(text)


# The documents of a skeleton before they are written: what a format makes of its table, and what can be cut from it.


class Bones(Protocol):
    """A redacted table as plain documents. Nothing in it names a place: that is filled in when it is written."""

    def encode(self, location: str) -> Iterator[tuple[str, bytes]]:
        """Each file of the skeleton: its path below the table's directory, and its bytes, if the table is at `location`."""
        ...

    def list_parts(self, kind: str) -> list[str]:
        """List what of a kind could be left out: a key for each part."""
        ...

    def leave_out(self, kind: str, keys: Collection[str]) -> Bones:
        """The same without some parts; what only they referred to is left out too."""
        ...

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of parts, those first of which much hangs."""
        ...
