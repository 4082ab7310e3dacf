"""Deletion vectors of a Paimon table: how many rows of which files they delete, as the index manifest counts them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lakelens.model.health.figures import sum_groups
from lakelens.model.health.measure import Limit, Measure, count
from lakelens.model.health.reach import Reach

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.formats.paimon.health.rules import PaimonHealth
    from lakelens.model.health.figures import FileFigures
    from lakelens.model.health.measure import DocumentParts

    Numbers = NDArray[np.int64]

_RATIO = "compaction.delete-ratio-threshold"


def find_reach(rules: PaimonHealth, figures: FileFigures) -> Reach | None:
    """Which vectors reach which files; None where the table has none and makes none.

    Vectors of an older index manifest have no count of rows: those delete a number that is not known without reading.
    """
    import numpy as np
    import pyarrow as pa

    snapshot = rules.snapshot
    if snapshot is None or not (
        rules.table.context.is_on("deletion-vectors.enabled") or figures.column("path")
    ):
        return None
    indexes = [one for one in snapshot.index_files if one.index_type == "DELETION_VECTORS"]
    ranges = [item for one in indexes for item in one.ranges]
    paths = figures.column("path")
    deletes, known = np.zeros(len(figures.data), np.int64), np.zeros(len(figures.data), np.int64)
    if ranges and paths is not None and len(figures.data):
        names = pa.array([str(path).rsplit("/", 1)[-1] for path in paths.take(figures.data).to_pylist()])
        wanted = pa.array([str(item["data_file"]) for item in ranges])
        places = find_places(wanted, names)
        rows = np.array([_count_rows(item) for item in ranges], np.int64)
        reached = places >= 0
        deletes = sum_groups(places[reached], len(figures.data))
        known = sum_groups(places[reached], len(figures.data), rows[reached])
    of_data = figures.partition[figures.data]
    number = len(figures.partitions)
    return Reach(
        deletes,
        np.minimum(known, figures.rows[figures.data]),
        sum_groups(of_data, number, deletes),
        sum_groups(of_data, number, known),
        len(ranges),
        int(known.sum()),
    )


def find_places(wanted: pa.Array, names: pa.Array) -> Numbers:
    """For each name its place among others; -1 where it is not there."""
    import numpy as np
    import pyarrow.compute as pc

    found = pc.fill_null(pc.index_in(wanted, value_set=names), -1)
    places: Numbers = found.to_numpy(zero_copy_only=False).astype(np.int64)
    return places


def _count_rows(item: Mapping[str, Any]) -> int:
    rows = item.get("cardinality")
    return rows if isinstance(rows, int) and rows > 0 else 0


def measure_vectors(
    rules: PaimonHealth, figures: FileFigures, reach: Reach | None, documents: DocumentParts
) -> Iterator[Measure]:
    """The share of deleted rows of the worst file, against what makes an append table's compaction take it."""
    import numpy as np

    if reach is None or not len(figures.data):
        return
    shares = reach.known / np.maximum(figures.rows[figures.data], 1)
    worst = int(np.argmax(shares))
    text = rules.table.options.get(_RATIO)
    try:
        ratio, source = (0.2, "default") if text is None else (float(text), "property")
    except ValueError:
        ratio, source = 0.2, "default"
    limit = (
        Limit(0.3, "≤", "lakelens") if rules.has_keys else Limit(ratio, "≤", source, _RATIO)  # type: ignore[arg-type]
    )
    beyond = int(np.count_nonzero(shares > limit.value))
    advice = f"compact writes {count(beyond, 'file')} again without {'its' if beyond == 1 else 'their'} deleted rows"
    paths = figures.column("path")
    place = ""
    if reach.known[worst] and paths is not None:
        place = str(paths[int(figures.data[worst])].as_py()).rsplit("/", 1)[-1]
    calls = rules.call_compact(figures, "writes files again without their deleted rows") if beyond else ()
    value = float(shares[worst])
    name = "deleted rows, worst file"
    yield Measure(name, "deletes", value, "share", limit, advice if beyond else "", calls, place)
