"""`Layout`: how the rows of a table are to be arranged, in the words of the formats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, Missing, list_nearest, say_value
from lakelens.model.schema import PartitionField, PartitionSpec

if TYPE_CHECKING:
    from lakelens.model.schema import Field, Schema

_CALL = re.compile(
    r"(?P<word>\w+)\s*(?:\(\s*(?P<width>\d+)\s*,\s*(?P<second>.+?)\s*\)|\(\s*(?P<first>.+?)\s*\))"
)
_ORDER = re.compile(r"(?P<column>.+?)(?:\s+(?P<way>asc|desc))?(?:\s+nulls\s+last)?", re.I)
_WORDS = {
    "years": "year",
    "months": "month",
    "days": "day",
    "hours": "hour",
    "date": "day",
    "date_hour": "hour",
}
_TRANSFORMS = ("identity", "year", "month", "day", "hour", "bucket", "truncate")
_WORDED = re.compile(
    r"(?:(?P<order>sort|z-?order|hilbert(?:\s+curve)?)\s+by\s+(?P<columns>.+?))?\s*,?\s*"
    r"(?:(?:inside\s+of\s+each|partition\s+by)\s+(?P<parts>.+?)|(?P<bare>without\s+partitions))?"
    r"(?:\s*,?\s*in\s+files\s+of\s+(?P<size>.+))?",
    re.I | re.S,
)
_COMMAS = re.compile(r",(?![^(]*\))")  # outside of parentheses
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?(?:ytes)?\s*", re.I)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_NO_SPEC = -7


@dataclass(frozen=True)
class WantedLayout:
    """How the rows of a table are to be arranged.

    Parameters
    ----------
    partition_by
        Partition fields: `"region"`, `"day(ts)"`, `"bucket(16, id)"`, `"truncate(4, name)"`. None leaves the partitioning as
        it is; an empty tuple takes it away.
    sort_by
        Columns to sort by, `"ts"` or `"ts desc"`; nulls come last.
    zorder_by, hilbert_by
        Columns of a curve, in place of `sort_by`: Z-order, or (Paimon) Hilbert's.
    target_file_size
        The bytes that a file is to have: a number, or text such as `"128 MiB"`; None for the table's own.

    Raises
    ------
    LakeError
        It says nothing, says two orders at once, or is not understood.

    Examples
    --------
    >>> import lakelens as ll
    >>> print(ll.Layout(partition_by="day(ts)", sort_by=("user_id", "ts"), target_file_size="100 MiB"))
    sort by user_id, ts inside of each day(ts), in files of 100 MiB
    """

    partition_by: Sequence[str] | str | None = None
    sort_by: Sequence[str] | str = ()
    zorder_by: Sequence[str] | str = ()
    hilbert_by: Sequence[str] | str = ()
    target_file_size: int | str | None = None

    def __post_init__(self) -> None:
        for name in ("partition_by", "sort_by", "zorder_by", "hilbert_by"):
            given = getattr(self, name)
            names = _COMMAS.split(given) if isinstance(given, str) else given or ()
            if not isinstance(names, Sequence):
                raise LakeError(f"{name} takes the names of columns", seen=say_value(given))
            for text in names:
                if not isinstance(text, str) or not text.strip():
                    raise LakeError(f"{name} takes the names of columns", seen=say_value(text))
            if given is not None:
                object.__setattr__(self, name, tuple(text.strip() for text in names))
        object.__setattr__(self, "target_file_size", read_size(self.target_file_size))
        orders = [name for name in ("sort_by", "zorder_by", "hilbert_by") if getattr(self, name)]
        if len(orders) > 1:
            raise LakeError(f"a layout has one order, not both {' and '.join(orders)}")
        if not orders and self.partition_by is None:
            raise LakeError(
                "a layout that says nothing", hint="Layout(sort_by=…), zorder_by=…, partition_by=…"
            )
        for name in ("zorder_by", "hilbert_by"):
            if len(getattr(self, name)) == 1:
                raise LakeError(f"a curve takes two columns: {name} has one", hint="sort_by=…")

    @property
    def strategy(self) -> str:
        """The order: `sort`, `zorder`, `hilbert`; `sort` by the partition's own columns where it names none."""
        return "zorder" if self.zorder_by else "hilbert" if self.hilbert_by else "sort"

    @property
    def columns(self) -> tuple[str, ...]:
        """The terms of the order, as they were written."""
        return tuple(self.sort_by or self.zorder_by or self.hilbert_by)

    def __str__(self) -> str:
        from lakelens.model.facts.traits import format_size

        words = {"sort": "sort by", "zorder": "z-order by", "hilbert": "Hilbert curve by"}[self.strategy]
        said = f"{words} {', '.join(self.columns)}" if self.columns else ""
        if self.partition_by:
            parts = ", ".join(self.partition_by)
            said = f"{said} inside of each {parts}" if said else f"partition by {parts}"
        elif self.partition_by is not None:
            said = f"{said} without partitions".strip()
        if isinstance(self.target_file_size, int):
            said += f", in files of {format_size(self.target_file_size)}"
        return said


def read_layout(text: str) -> WantedLayout:
    """Read a layout in the words in which one prints itself.

    >>> print(read_layout("sort by user_id, ts inside of each day(ts), in files of 100 MiB"))
    sort by user_id, ts inside of each day(ts), in files of 100 MiB
    >>> read_layout("hilbert by x, y").hilbert_by, read_layout("partition by bucket(4, id)").partition_by
    (('x', 'y'), ('bucket(4, id)',))
    """
    found = _WORDED.fullmatch(text.strip())
    if found is None or not (found["columns"] or found["parts"]):
        raise LakeError(
            "the layout is not understood",
            seen=say_value(text),
            hint="'sort by id inside of each day(ts), in files of 128 MiB'",
        )
    order = {"s": "sort_by", "z": "zorder_by", "h": "hilbert_by"}[(found["order"] or "s")[0].lower()]
    partition = () if found["bare"] else found["parts"]
    given: dict[str, Any] = {
        order: found["columns"] or (),
        "partition_by": partition,
        "target_file_size": found["size"],
    }
    return WantedLayout(**given)


def read_size(given: Any) -> int | None:
    """Read a number of bytes, or text such as `128 MiB`.

    >>> read_size("1.5 MiB"), read_size(4096), read_size(None)
    (1572864, 4096, None)
    """
    if given is None:
        return None
    found = _SIZE.fullmatch(str(given)) if not isinstance(given, bool) else None
    size = 0 if found is None else int(float(found[1]) * _UNITS[found[2].lower()])
    if size <= 0:
        raise LakeError(
            f"target_file_size: {say_value(given)}", hint="a number of bytes, or text such as '128 MiB'"
        )
    return size


@dataclass(frozen=True)
class Key:
    """One column of an order: its name in the schema, its field, and whether the greatest comes first."""

    column: str
    field: Field
    is_descending: bool = False


@dataclass(frozen=True)
class Resolved:
    """A layout whose columns were found in a table's schema; `spec` is None where the partitioning stays."""

    layout: WantedLayout
    keys: tuple[Key, ...]
    spec: PartitionSpec | None
    columns: dict[str, Field] = field(default_factory=dict)


def resolve_layout(layout: WantedLayout, schema: Schema) -> Resolved:
    """Find the columns that a layout names.

    Raises `Missing` for a column that there is not, `LakeError` for a term that is not understood.
    """
    leaves = dict(schema.leaves())
    keys = []
    for term in layout.columns:
        found = _ORDER.fullmatch(term)
        assert found is not None
        name = _find_column(found["column"], leaves)
        keys.append(Key(name, leaves[name], (found["way"] or "").lower() == "desc"))
    spec = None
    if layout.partition_by is not None:
        fields = tuple(_read_field(term, leaves) for term in layout.partition_by)
        spec = PartitionSpec(_NO_SPEC, fields)
        if not keys:
            keys = [Key(part.source_name, leaves[part.source_name]) for part in fields]
    names = [key.column for key in keys] + [part.source_name for part in (spec.fields if spec else ())]
    return Resolved(layout, tuple(keys), spec, {name: leaves[name] for name in names})


def _find_column(name: str, leaves: dict[str, Field]) -> str:
    plain = name.strip().strip('`"')
    if plain in leaves:
        return plain
    alike = [known for known in leaves if known.lower() == plain.lower()]
    if len(alike) == 1:
        return alike[0]
    raise Missing(f"no column {plain!r} that rows can be ordered by", hint=list_nearest(plain, leaves))


def _read_field(term: str, leaves: dict[str, Field]) -> PartitionField:
    """Read a partition field: a column, or a transform of one, with its width on either side."""
    found = _CALL.fullmatch(term)
    if found is None:
        name = _find_column(term, leaves)
        return PartitionField(name, leaves[name].id, name, "identity", None, leaves[name].type)
    word = _WORDS.get(found["word"].lower(), found["word"].lower())
    inner, width = found["second"] or found["first"], found["width"]
    if width is None and "," in inner:
        inner, _, width = (text.strip() for text in inner.rpartition(","))
    needs_width = word in ("bucket", "truncate")
    if (
        word not in _TRANSFORMS
        or needs_width != bool(width)
        or (width and not (width.isdigit() and int(width)))
    ):
        raise LakeError(
            f"{term!r} is no partition transform", hint="day(ts), bucket(16, id), truncate(4, name)"
        )
    name = _find_column(inner, leaves)
    transform = f"{word}[{width}]" if width else word
    return PartitionField(f"{name}_{word}", leaves[name].id, name, transform)
