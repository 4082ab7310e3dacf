"""Which deletes reach which files, by numbers and all at once; what they weigh, and what takes them away.

The rules are those of `lakelens.formats.iceberg.deletes.matching` ("Scan Planning" of the Iceberg table specification). Of
more than 20,000 position delete files for whole partitions the bounds of their `file_path` column are not looked at: each
counts for every file of its partition that is old enough. Deleted rows are known of a file by the deletes that are for it
alone, as `BinPackRewriteFilePlanner.tooHighDeleteRatio` counts them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.model.measures.figures import Reach, sum_groups
from lakelens.model.measures.measure import Limit, Measure, count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.formats.iceberg.health.rules import IcebergHealth
    from lakelens.model.measures.figures import FileFigures
    from lakelens.model.measures.measure import DocumentParts

    Numbers = NDArray[np.int64]

_RATIO = Limit(0.3, "<", "default", "delete-ratio-threshold of rewrite_data_files, since 1.8")
_REACHING = Limit(10, "≤", "lakelens")
_MIN_INPUT_FILES = 5
_MOST_LOOSE = 20_000
_TARGET = 64 << 20


def find_reach(figures: FileFigures) -> Reach:
    """Find how many deletes reach each data file, and how many of its rows are known to be deleted."""
    import numpy as np

    positions, equality = figures.find("position_deletes"), figures.find("equality_deletes")
    vectors = figures.find("deletion_vector")
    deletes, known = np.zeros(len(figures.data), np.int64), np.zeros(len(figures.data), np.int64)
    everything = np.r_[positions, vectors, equality]
    if len(everything):
        _, targeted_vectors, rows_of_vectors = _match_targeted(figures, vectors)
        is_targeted, targeted, rows = _match_targeted(figures, positions)
        loose = positions[~is_targeted]
        held = targeted + _match_loose(figures, loose)
        # where a file has a vector no position delete file reaches it
        deletes = np.where(targeted_vectors > 0, targeted_vectors, held)
        known = np.where(targeted_vectors > 0, rows_of_vectors, rows)
        # equality deletes reach the files of their partition, and those of no partition every file
        divided = np.array([bool(partition.texts) for partition in figures.partitions], np.bool_)
        is_global = ~divided[figures.partition[equality]] if len(equality) else np.zeros(0, np.bool_)
        sequence = np.maximum(figures.numbers("sequence_number"), 0)
        numbers = np.sort(sequence[equality[is_global]])
        later = len(numbers) - np.searchsorted(numbers, sequence[figures.data], "right")
        deletes += later + _match_partitions(figures, equality[~is_global], "right")
    by_position = np.r_[positions, vectors]
    return Reach(
        deletes,
        np.minimum(known, figures.rows[figures.data]),
        figures.sum_by_partition(everything),
        figures.sum_by_partition(by_position, figures.rows[by_position]),
        len(everything),
        int(figures.rows[by_position].sum()),
        len(equality),
        int(figures.rows[equality].sum()),
    )


def _match_targeted(figures: FileFigures, places: Numbers) -> tuple[NDArray[np.bool_], Numbers, Numbers]:
    """Match which of some deletes are for one file alone; for each data file how many of them, and their rows."""
    import numpy as np
    import pyarrow.compute as pc

    counts, rows = np.zeros(len(figures.data), np.int64), np.zeros(len(figures.data), np.int64)
    targets, paths = figures.column("referenced_data_path"), figures.column("path")
    if targets is None or paths is None or not len(places):
        return np.zeros(len(places), np.bool_), counts, rows
    chosen = targets.take(places)
    found = pc.fill_null(pc.index_in(chosen, value_set=paths.take(figures.data)), -1)
    numbers = found.to_numpy(zero_copy_only=False).astype(np.int64)
    reached = np.flatnonzero(numbers >= 0)
    data, deletes = figures.data[numbers[reached]], places[reached]
    sequence, spec = figures.numbers("sequence_number"), figures.numbers("spec_id")
    fits = (
        (np.maximum(sequence[data], 0) <= np.maximum(sequence[deletes], 0))
        & (spec[data] == spec[deletes])
        & (figures.partition[data] == figures.partition[deletes])
    )
    reached = reached[fits]
    counts = sum_groups(numbers[reached], len(figures.data))
    rows = sum_groups(numbers[reached], len(figures.data), figures.rows[places[reached]])
    return chosen.is_valid().to_numpy(zero_copy_only=False), counts, rows


def _match_loose(figures: FileFigures, places: Numbers) -> Numbers:
    """For each data file how many position delete files of its partition may name it, by the bounds of their paths."""
    import numpy as np

    names = figures.column("recorded_path")
    known = {side: array for (side, _), array in figures.beside.items() if array is not None}
    if names is None or not known or not len(places) or len(places) > _MOST_LOOSE:
        return _match_partitions(figures, places, "left")
    sequence = np.maximum(figures.numbers("sequence_number"), 0)
    groups = _number_groups(figures)
    counts = np.zeros(len(figures.data), np.int64)
    none = [None] * len(places)
    ends = [
        none
        if (array := known.get(side)) is None
        else [_encode(one) for one in array.take(places).to_pylist()]
        for side in ("lower_bounds", "upper_bounds")
    ]
    chosen = np.flatnonzero(np.isin(groups[figures.data], groups[places]))
    paths: list[bytes] = [_encode(one) or b"" for one in names.take(figures.data[chosen]).to_pylist()]
    order = np.array(
        sorted(range(len(chosen)), key=lambda n: (groups[figures.data[chosen[n]]], paths[n])), np.int64
    )
    chosen, paths = chosen[order], [paths[n] for n in order.tolist()]
    of_group = groups[figures.data[chosen]]
    for place, low, high in zip(places.tolist(), *ends, strict=True):
        start, end = (
            np.searchsorted(of_group, groups[place], "left"),
            np.searchsorted(of_group, groups[place], "right"),
        )
        first = start if low is None else bisect_left(paths, low, int(start), int(end))
        last = end if high is None else bisect_right(paths, high, int(start), int(end))
        within = chosen[first:last]
        counts[within] += sequence[figures.data[within]] <= sequence[place]
    return counts


def _encode(text: object) -> bytes | None:
    return (
        text.encode("utf-8", "surrogatepass")
        if isinstance(text, str)
        else text
        if isinstance(text, bytes)
        else None
    )


def _number_groups(figures: FileFigures) -> Numbers:
    """For each file the number of its partition of its partitioning."""
    import numpy as np

    pairs = (figures.numbers("spec_id") + 1) * len(figures.partitions) + figures.partition
    found: Numbers = np.unique(pairs, return_inverse=True)[1]
    return found


def _match_partitions(figures: FileFigures, places: Numbers, side: str) -> Numbers:
    """For each data file how many of some deletes are in its partition and as new ("left"), or newer ("right")."""
    import numpy as np

    if not len(places):
        return np.zeros(len(figures.data), np.int64)
    groups = _number_groups(figures)
    sequence = np.unique(np.maximum(figures.numbers("sequence_number"), 0), return_inverse=True)[1]
    width = int(sequence.max()) + 2
    keys = np.sort(groups[places] * width + sequence[places])
    own = groups[figures.data] * width
    ends = np.searchsorted(keys, own + width, "left")
    found: Numbers = ends - np.searchsorted(keys, own + sequence[figures.data], side)  # type: ignore[call-overload]
    return found


def measure_deletes(
    rules: IcebergHealth, figures: FileFigures, reach: Reach | None, documents: DocumentParts
) -> Iterator[Measure]:
    """Measure the share of deleted rows of the worst file, and the most deletes that reach one."""
    import numpy as np

    if reach is None or not len(figures.data):
        return
    rows = np.maximum(figures.rows[figures.data], 1)
    shares = reach.known / rows
    worst = int(np.argmax(shares))
    place = _name_file(figures, worst) if reach.known[worst] else ""
    many = int(np.count_nonzero(shares >= _RATIO.value))
    rewrite = rules.call_procedure("rewrite_data_files", "writes files again without their deleted rows")
    advice = f"rewrite_data_files takes {count(many, 'file')} with that many" if many else ""
    name = "deleted rows, worst file"
    yield Measure(
        name, "deletes", float(shares[worst]), "share", _RATIO, advice, (rewrite,) if many else (), place
    )
    worst = int(np.argmax(reach.deletes))
    value = int(reach.deletes[worst])
    place = _name_file(figures, worst) if value else ""
    advice, calls = "", ()
    if not _REACHING.keeps(value):
        advice, calls = _advise(rules, figures, reach)  # type: ignore[assignment]
    yield Measure(
        "deletes that reach a file, worst", "deletes", value, "count", _REACHING, advice, calls, place
    )


def _advise(rules: IcebergHealth, figures: FileFigures, reach: Reach) -> tuple[str, tuple[object, ...]]:
    """What takes deletes away: joining position delete files where that alone helps, else writing data files again."""
    import numpy as np

    taken, made = count_joined(rules, figures)
    if not reach.equality_files and taken > made:
        advice = f"rewrite_position_delete_files joins {taken:,} into about {made:,}"
        return advice, (rules.call_procedure("rewrite_position_delete_files", "joins position delete files"),)
    option = f"options => map('delete-file-threshold', '{int(_REACHING.value) + 1}')"
    many = int(np.count_nonzero(reach.deletes > _REACHING.value))
    call = rules.call_procedure("rewrite_data_files", "writes files again without their deleted rows", option)
    return f"{count(many, 'file')} written again have none", (call,)


def count_joined(rules: IcebergHealth, figures: FileFigures) -> tuple[int, int]:
    """Count how many position delete files `rewrite_position_delete_files` with its defaults takes, and makes of them."""
    import numpy as np

    positions = figures.find("position_deletes")
    target = rules.read("target", "write.delete.target-file-size-bytes", _TARGET).value
    small = positions[figures.sizes[positions] < int(0.75 * target)]
    counts = figures.sum_by_partition(small)
    sizes = figures.sum_by_partition(small, figures.sizes[small])
    takes = (counts >= _MIN_INPUT_FILES) | ((counts > 1) & (sizes > target))
    taken, made = np.where(takes, counts, 0), np.where(takes, np.maximum(-(-sizes // target), 1), 0)
    return int(taken.sum()), int(made.sum())


def _name_file(figures: FileFigures, number: int) -> str:
    paths = figures.column("path")
    return "" if paths is None else str(paths[int(figures.data[number])].as_py()).rsplit("/", 1)[-1]
