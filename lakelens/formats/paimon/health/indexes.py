"""How much of a Paimon table its indexes cover: data files without a file index, rows without a global index.

A global index over rows with ids covers ranges of ids; that of a table with keys names the data files that it was made from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.codecs.paimon.index.global_index_meta_spans import explain_source_meta
from lakelens.errors import LakeError
from lakelens.model.health.measure import Call, Limit, Measure, count
from lakelens.model.health.rules import quote

if TYPE_CHECKING:
    from lakelens.formats.paimon.health.rules import PaimonHealth
    from lakelens.model.health.figures import FileFigures
    from lakelens.model.health.measure import DocumentParts
    from lakelens.model.health.reach import Reach

    Ranges = list[tuple[int, int]]

_ALL = Limit(0, "≤", "lakelens")
_SUFFIX = ".index"


def list_index_columns(rules: PaimonHealth) -> Sequence[str]:
    """The columns of files that say what is indexed, where anything is."""
    names: list[str] = []
    if _list_indexed(rules):
        names += ("embedded_file_index", "extra_files")
    if rules.snapshot is not None and any(one.global_index for one in rules.snapshot.index_files):
        names.append("path" if rules.has_keys else "first_row_id")
    return names


def _list_indexed(rules: PaimonHealth) -> dict[str, str]:
    """The file indexes that the options ask for: columns by the type of index."""
    options = rules.table.options
    start, end = "file-index.", ".columns"
    return {
        key[len(start) : -len(end)]: str(value)
        for key, value in options.items()
        if key.startswith(start) and key.endswith(end) and len(key) > len(start) + len(end)
    }


def measure_indexes(
    rules: PaimonHealth, figures: FileFigures, reach: Reach | None, documents: DocumentParts
) -> Iterator[Measure]:
    """Files without the file index that options ask for; rows that a global index does not cover."""
    wanted = _list_indexed(rules)
    if wanted and len(figures.data):
        yield _measure_files(rules, figures, wanted)
    yield from _measure_sources(rules, figures) if rules.has_keys else _measure_global(rules, figures)


def _measure_sources(rules: PaimonHealth, figures: FileFigures) -> Iterator[Measure]:
    """For each index of a table with keys the data files that no file of it was made from."""
    paths = figures.column("path")
    if paths is None:
        return
    names = {str(path).rsplit("/", 1)[-1] for path in paths.take(figures.data).to_pylist()}
    sources: dict[tuple[str, tuple[int, ...]], set[str]] = {}
    for kind, fields, facts in _walk_indexes(rules):
        sources.setdefault((kind, fields), set()).update(_list_sources(facts))
    for (kind, fields), covered in sources.items():
        columns = ", ".join(_name_field(rules, number) for number in fields)
        value = len(names - covered)
        advice = (
            f"{count(value, 'data file')} of {len(names):,} named by no file of the index" if value else ""
        )
        name = f"files without the {kind} index of {columns}"
        yield Measure(name, "columns", value, "files", _ALL, advice, (), columns)


def _list_sources(facts: Mapping[str, Any]) -> Iterator[str]:
    """The data files that an index file says it was made from; none where that is damaged."""
    meta = facts.get("source_meta")
    if not isinstance(meta, bytes):
        return
    try:
        leaves = list(explain_source_meta(meta).leaves())
    except LakeError:
        return
    yield from (str(leaf.value) for leaf in leaves if leaf.label == "file name")


def _measure_files(rules: PaimonHealth, figures: FileFigures, wanted: dict[str, str]) -> Measure:
    import numpy as np

    embedded, extra = figures.column("embedded_file_index"), figures.column("extra_files")
    has = np.zeros(len(figures), np.bool_)
    if embedded is not None:
        has |= embedded.is_valid().to_numpy(zero_copy_only=False)
    if extra is not None:
        named = (any(str(name).endswith(_SUFFIX) for name in names or ()) for names in extra.to_pylist())
        has |= np.fromiter(named, np.bool_, len(figures))
    value = int((~has[figures.data]).sum())
    kinds = ", ".join(f"{kind} of {columns}" for kind, columns in list(wanted.items())[:3])
    call = rules.call_procedure("rewrite_file_index", "builds the file indexes that are missing", tried=False)
    advice = f"asked for: {kinds}; rewrite_file_index builds it" if value else ""
    name = "files without a file index"
    return Measure(name, "columns", value, "files", _ALL, advice, (call,))


def _measure_global(rules: PaimonHealth, figures: FileFigures) -> Iterator[Measure]:
    """For each global index the rows that no file of it covers."""
    import numpy as np

    first = figures.numbers("first_row_id")[figures.data]
    known = np.flatnonzero(first >= 0)
    rows = figures.rows[figures.data]
    held = join_ranges((int(first[n]), int(first[n] + rows[n]) - 1) for n in known.tolist() if rows[n])
    for (kind, fields), ranges in _group_indexes(rules).items():
        columns = ", ".join(_name_field(rules, number) for number in fields)
        value = count_uncovered(held, ranges)
        call = _call_index(rules, kind, columns)
        total = sum(end - start + 1 for start, end in held)
        advice = (
            f"{count(value, 'row')} of {total:,} came after it: create_global_index covers them"
            if value
            else ""
        )
        name = f"rows without the {kind} index of {columns}"
        yield Measure(name, "columns", value, "count", _ALL, advice, (call,), columns)


def _group_indexes(rules: PaimonHealth) -> dict[tuple[str, tuple[int, ...]], Ranges]:
    """The row ranges of each global index, by its type and the columns that it is of."""
    found: dict[tuple[str, tuple[int, ...]], Ranges] = {}
    for kind, fields, facts in _walk_indexes(rules):
        start, end = facts.get("row_range_start"), facts.get("row_range_end")
        if isinstance(start, int) and isinstance(end, int):
            found.setdefault((kind, fields), []).append((start, end))
    return {key: join_ranges(ranges) for key, ranges in found.items()}


def _walk_indexes(rules: PaimonHealth) -> Iterator[tuple[str, tuple[int, ...], Mapping[str, Any]]]:
    """The files of global indexes: type, columns, and what the index manifest says of each."""
    for one in () if rules.snapshot is None else rules.snapshot.index_files:
        facts = one.global_index
        if facts:
            extra = facts.get("extra_field_ids") or ()
            numbers = [facts.get("index_field_id"), *(extra if isinstance(extra, Iterable) else ())]
            yield one.index_type, tuple(number for number in numbers if isinstance(number, int)), facts


def join_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Ranges of row ids, both ends in them, as few as they can be, in order.

    >>> join_ranges([(5, 9), (0, 4), (20, 30), (25, 26)])
    [(0, 9), (20, 30)]
    """
    joined: Ranges = []
    for start, end in sorted(one for one in ranges if one[0] <= one[1]):
        if joined and start <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def count_uncovered(held: Ranges, covered: Ranges) -> int:
    """How many ids of some joined ranges are in none of the others.

    >>> count_uncovered([(0, 9), (20, 29)], [(0, 4), (8, 21)])
    11
    """
    total = sum(end - start + 1 for start, end in held)
    place = 0
    for start, end in held:
        while place < len(covered) and covered[place][1] < start:
            place += 1
        number = place
        while number < len(covered) and covered[number][0] <= end:
            total -= min(end, covered[number][1]) - max(start, covered[number][0]) + 1
            number += 1
    return total


def _name_field(rules: PaimonHealth, number: int) -> str:
    column = rules.table.schema.find_column(number)
    return f"#{number}" if column is None else column.name


def _call_index(rules: PaimonHealth, kind: str, columns: Any) -> Call:
    arguments = (f"index_column => {quote(columns)}", f"index_type => {quote(kind)}")
    why = "covers the rows that came after the index"
    return rules.call_procedure("create_global_index", why, *arguments, tried=False)
