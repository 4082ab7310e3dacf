"""What a data file says of itself: the footer of Parquet, ORC and Puffin, the header and the blocks of Avro."""

from __future__ import annotations

from typing import Any

from lakelens.display import Displayable
from lakelens.model.explainable import Explainable, Source


class Footer(Explainable, Displayable):
    """The facts that one file tells of itself; every fact is an attribute here.

    `facts` is what was decoded (Parquet, ORC, Avro or Puffin facts) and `path` the file. All attributes of `facts` are
    attributes of the footer: `format`, `num_rows`, `columns`, `created_by`, `key_values`, and what only one format has,
    as `row_groups` and `serialized_size` of Parquet. Sizes are bytes.

    >>> from types import SimpleNamespace
    >>> footer = Footer(SimpleNamespace(format="parquet", num_rows=2, columns=("id", "name")))
    >>> footer, footer.num_rows
    (<Footer parquet: 2 rows, 2 columns>, 2)
    """

    __slots__ = ("_source", "facts", "path")

    def __init__(self, facts: Any, path: str | None = None, source: Source | None = None) -> None:
        self.facts = facts
        self.path = path
        self._source = source

    def __getattr__(self, name: str) -> Any:
        # private and special names are not facts: a copy in the making, whose `facts` is not set yet, asks for some
        if name.startswith("_") or name in Footer.__slots__:
            raise AttributeError(f"a footer has no {name!r}")
        try:
            return getattr(self.facts, name)
        except AttributeError:
            kind = getattr(self.facts, "format", None) or "this"
            raise AttributeError(f"the footer of a {kind} file has no {name!r}") from None

    def __dir__(self) -> list[str]:
        facts = (name for name in dir(self.facts) if not name.startswith("_"))
        return sorted({*super().__dir__(), *facts})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Footer) and self.facts == other.facts

    def __hash__(self) -> int:
        return hash((type(self.facts).__name__, self.path))

    def __repr__(self) -> str:
        counts = []
        for name, noun in (("num_rows", "row"), ("columns", "column"), ("blobs", "blob")):
            held = getattr(self.facts, name, None)
            if held is not None:
                number = held if isinstance(held, int) else len(held)
                counts.append(f"{number:,} {noun}{'' if number == 1 else 's'}")
        return f"<Footer {getattr(self.facts, 'format', 'of a file')}: {', '.join(counts) or 'nothing told'}>"
