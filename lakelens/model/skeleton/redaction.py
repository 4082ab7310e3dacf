"""What replaces the names and values of one table, and what was kept or left out."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from lakelens.errors import LakeError, list_nearest
from lakelens.model.skeleton.names import Names

if TYPE_CHECKING:
    from lakelens.model.schema import DataType
    from lakelens.model.skeleton.numbers import NumberScale
    from lakelens.model.skeleton.texts import TextScale

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
        """Whether the values of a column stay, which had these names."""
        return "values" in self.keep or not self.keep.isdisjoint(names)

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
