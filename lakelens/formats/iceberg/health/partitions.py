"""Partitions that are too fine for the files in them, and buckets: what the transforms of a partitioning say."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from lakelens.codecs.iceberg.transforms import Transform
from lakelens.model.facts.amounts import format_size
from lakelens.model.health.figures import sum_groups
from lakelens.model.health.measure import Call
from lakelens.model.health.rules import quote_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.formats.iceberg.health.rules import IcebergHealth
    from lakelens.model.health.figures import FileFigures

    Numbers = NDArray[np.int64]

_UNITS = {"hour": "h", "day": "D", "month": "M", "year": "Y"}
_COARSER = {"hour": ("day", "month", "year"), "day": ("month", "year"), "month": ("year",)}
_EPOCH = date(1970, 1, 1)


def advise_coarser(rules: IcebergHealth, figures: FileFigures) -> tuple[str, tuple[Call, ...]]:
    """The next coarser time that holds at least half of what a file should have, and the statements for it."""
    import numpy as np

    spec = rules.table.partitioning
    for field in spec.fields:
        name = Transform.parse(field.transform).name
        if name not in _COARSER:
            continue
        counts = [count_units(partition.get(field.name)) for partition in figures.partitions]
        chosen = figures.data[figures.numbers("spec_id")[figures.data] == spec.id]
        if any(one is None for one in counts) or not len(chosen):
            continue
        others = _number_others(figures, field.name)
        moments = np.array(counts, np.int64).astype(f"datetime64[{_UNITS[name]}]")
        for coarser in _COARSER[name]:
            units = moments.astype(f"datetime64[{_UNITS[coarser]}]").astype(np.int64)
            pairs = others * (int(np.ptp(units)) + 1) + units - units.min()
            groups = np.unique(pairs, return_inverse=True)[1]
            held = sum_groups(groups[figures.partition[chosen]], int(groups.max()) + 1, figures.sizes[chosen])
            median = float(np.median(held[held > 0])) if (held > 0).any() else 0.0
            if median >= rules.file_size.value / 2:
                return _say_coarser(rules, field.name, field.source_name, coarser, median)
    return "", ()


def _say_coarser(
    rules: IcebergHealth, field: str, column: str, coarser: str, median: float
) -> tuple[str, tuple[Call, ...]]:
    name = quote_name(rules.table.name)
    replace = f"REPLACE PARTITION FIELD {quote_name(field)} WITH {coarser}s({quote_name(column)})"
    why = f"partitions of a {coarser} for new files"
    alter = Call(f"ALTER TABLE <catalog>.{name} {replace}", why)
    option = "options => map('rewrite-all', 'true')"
    # after the other: what can be tried before would come first
    move = rules.call_procedure(
        "rewrite_data_files", "moves what is there to today's partitions", option, tried=False
    )
    return f"by {coarser} they would hold about {format_size(median)}", (alter, move)


def count_units(value: Any) -> int | None:
    """A partition value of a time transform as units since 1970; None where it is none.

    >>> count_units(date(1970, 1, 3)), count_units(648), count_units(None)
    (2, 648, None)
    """
    if isinstance(value, date):
        return (value - _EPOCH).days
    is_count = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 31
    return value if is_count else None


def _number_others(figures: FileFigures, name: str) -> Numbers:
    """For each partition a number that is the same for those that differ in one field alone."""
    import numpy as np

    known: dict[Any, int] = {}
    found = [
        known.setdefault(tuple((key, text) for key, text in one.texts.items() if key != name), len(known))
        for one in figures.partitions
    ]
    return np.array(found, np.int64)


def name_buckets(rules: IcebergHealth, figures: FileFigures) -> tuple[list[str], Numbers] | None:
    """The buckets of today's partitioning, and for each file the number of its own (-1: none)."""
    import numpy as np

    spec = rules.table.partitioning
    field = next((one for one in spec.fields if Transform.parse(one.transform).name == "bucket"), None)
    if field is None:
        return None
    values = [partition.get(field.name) for partition in figures.partitions]
    numbers = sorted({one for one in values if isinstance(one, int)})
    if len(numbers) < 2:
        return None
    places = {number: place for place, number in enumerate(numbers)}
    of_partition = np.array([places.get(one, -1) if isinstance(one, int) else -1 for one in values], np.int64)
    return [str(number) for number in numbers], of_partition[figures.partition]
