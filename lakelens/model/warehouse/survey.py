"""What questions say of many tables: one row for each, and the tables to do something about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Self

from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.lazy import dataclass
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact, build_rows
from lakelens.model.warehouse.catalog import place_below

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Answered:
    """What the questions said of one table: its figures by name, the rows of what it is made of, and what failed."""

    figures: Mapping[str, Any]
    rows: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    failed: tuple[str, ...] = ()


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


class TableSurvey(Items[SurveyedTable]):
    """What questions say of many tables: a row for each, in path order. `worst` has those to do something about."""

    __slots__ = ("kinds", "names", "problems", "root")

    def __init__(
        self,
        tables: Iterable[SurveyedTable] = (),
        names: Sequence[str] = (),
        kinds: Mapping[str, str] | None = None,
        root: str = "",
        problems: Sequence[LakeError] = (),
    ) -> None:
        super().__init__(tables)
        #: the questions that were asked
        self.names = tuple(names)
        #: the columns of their figures, with what each holds
        self.kinds = dict(kinds or {})
        #: the directory, or what the catalog is called
        self.root = root
        #: what could not be looked into, and that it was interrupted
        self.problems = tuple(problems)

    def _like(self, held: Sequence[Any]) -> Self:
        return type(self)(held, self.names, self.kinds, self.root, self.problems)

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

        figures = (read(name, kind) for name, kind in self.kinds.items())
        return build_rows(self, (Fact("name"), Fact("format"), Fact("path"), *figures, Fact("error")))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self), self.names, self.kinds, self.root, self.problems)

    def __repr__(self) -> str:
        return f"<TableSurvey {', '.join(self.names)} of {len(self)} tables>"
