"""How well files separate values, and of which columns nothing is recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.analysis.health.clustering import Clustering, ColumnDepth, measure_column
from lakelens.model.health.measure import Call, Limit, Measure, count
from lakelens.model.predicate import Term
from lakelens.model.scan.placement import open_placement

if TYPE_CHECKING:
    from lakelens.model.health.figures import FileFigures
    from lakelens.model.health.rules import HealthRules
    from lakelens.model.schema import Field
    from lakelens.model.table import Table

_DEPTH = Limit(4, "≤", "lakelens")
_NONE = Limit(0, "≤", "lakelens")
_NO_BOUNDS = (
    "list",
    "map",
    "multiset",
    "struct",
    "vector",
    "variant",
    "blob",
    "unknown",
    "geometry",
    "geography",
)
_MOST_NAMED = 3


def measure_clustering(figures: FileFigures, rules: HealthRules) -> Clustering:
    """Every column with bounds, the best separated first."""
    found = [one for leaf, kind in figures.leaves if (one := measure_column(figures, leaf, kind)) is not None]
    why = _list_reasons(figures, rules)
    found = [replace(one, why=_say_why(one, why.get(one.name, ""))) for one in found]
    return Clustering(sorted(found, key=lambda one: (one.mean, one.worst, one.name)))


def _list_reasons(figures: FileFigures, rules: HealthRules) -> dict[str, str]:
    """Why a column may be in order: partitions, buckets, the order of rows."""
    reasons: dict[str, list[str]] = {}
    for spec in rules.specs:
        for field in spec.fields:
            word = "partition" if field.transform == "identity" else f"partition {field}"
            listed = reasons.setdefault(field.source_name, [])
            if word not in listed:
                listed.append(word)
    sorted_by = rules.sort_column
    if sorted_by is not None:
        reasons.setdefault(sorted_by[0], []).append(sorted_by[1])
    return {name: ", ".join(words) for name, words in reasons.items()}


def _say_why(depth: ColumnDepth, reason: str) -> str:
    """What the depth comes from: what puts rows in order, else whether they are in one at all."""
    words = [reason] if reason else []
    if not reason and depth.files > 1 and depth.mean > depth.files / 2:
        words.append("not sorted across files")
    if depth.unbounded:
        words.append(f"{count(depth.unbounded, 'file')} without bounds")
    if depth.reversed:
        words.append(f"{count(depth.reversed, 'file')} with bounds the wrong way round")
    return "; ".join(words)


def measure_columns(figures: FileFigures, rules: HealthRules, clustering: Clustering) -> Iterator[Measure]:
    """The depth in the order of rows, files without bounds, and columns without statistics."""
    if not len(figures.data) or not rules.has_records:
        return
    sorted_by = rules.sort_column
    depth = None if sorted_by is None else clustering.get(sorted_by[0])
    if depth is not None and sorted_by is not None:
        advice: str = ""
        calls: tuple[Call, ...] = ()
        if not _DEPTH.keeps(depth.inside_mean):
            calls = rules.call_sort(depth.name)
            advice = f"a look-up of one {depth.name} opens that many files of a partition"
        name = f"depth in the {sorted_by[1]}, mean"
        yield Measure(name, "columns", depth.inside_mean, "files", _DEPTH, advice, calls, depth.name)
    absences = _Absences(rules.table)
    yield from _measure_unbounded(clustering, absences)
    yield _measure_silent(figures, rules, clustering, absences)


def _measure_unbounded(clustering: Clustering, absences: _Absences) -> Iterator[Measure]:
    """Files that have no bounds of a column of which others have some: every look-up opens them."""
    if not len(clustering):
        return
    worst = max(clustering, key=lambda one: one.unbounded)
    if not worst.unbounded:
        yield Measure("files without bounds, worst column", "columns", 0, "files", _NONE)
        return
    reason = absences.explain(worst.name, "")
    older = "written without bounds, or before the column was there"
    advice = f"every look-up by {worst.name} opens them: {reason or older}"
    yield Measure(
        "files without bounds, worst column",
        "columns",
        worst.unbounded,
        "files",
        _NONE,
        advice,
        (),
        worst.name,
    )


class _Absences:
    """Why files have no bounds of a column, as far as properties say it. The columns are walked once: there may be many."""

    def __init__(self, table: Table) -> None:
        self._placement = open_placement(table)
        self._fields = {field.name: field for field in table.schema.fields} | dict(table.schema.leaves())

    def explain(self, column: str, file_format: str) -> str:
        """The property that leaves a column's bounds out; empty where none is known."""
        if column not in self._fields:
            return ""
        term = Term("", column, self._fields[column].type, "is not null")
        return self._placement.explain_absence(term, file_format) or ""


def _measure_silent(
    figures: FileFigures, rules: HealthRules, clustering: Clustering, absences: _Absences
) -> Measure:
    """Columns of which no file has bounds although they could have some, and the property that causes it."""
    able = {name for name, _ in _walk_bounded(rules.table.schema.fields)}
    silent = [
        leaf
        for leaf, _ in figures.leaves
        if leaf in able and clustering.get(leaf) is None and not _is_empty(figures, leaf)
    ]
    name = "columns without statistics"
    if not silent:
        return Measure(name, "columns", 0, "count", _NONE)
    formats = figures.column("file_format")
    first = "" if formats is None or not len(figures.data) else formats[int(figures.data[0])].as_py() or ""
    reasons: dict[str, list[str]] = {}
    for leaf in silent:
        reasons.setdefault(absences.explain(leaf, first) or "nothing recorded says why", []).append(leaf)
    return Measure(name, "columns", len(silent), "count", _NONE, _say_silent(reasons), (), silent[0])


def _say_silent(reasons: dict[str, list[str]]) -> str:
    said = []
    for reason, names in list(reasons.items())[:_MOST_NAMED]:
        more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        said.append(f"{', '.join(names[:_MOST_NAMED])}{more}: {reason}")
    if len(reasons) > _MOST_NAMED:
        said.append(f"… {len(reasons) - _MOST_NAMED:,} more reasons")
    return "; ".join(said)


def _is_empty(figures: FileFigures, leaf: str) -> bool:
    """Whether every data file holds nothing but nulls of a column, so that there is nothing to bound."""
    import pyarrow.compute as pc

    nulls, values = figures.stat("null_counts", leaf), figures.stat("value_counts", leaf)
    if nulls is None or nulls.null_count:
        return False
    rows: Any = figures.rows[figures.data] if values is None else values
    return bool(pc.all(pc.equal(nulls, rows)).as_py())


def _walk_bounded(fields: Sequence[Field], prefix: str = "") -> Iterator[tuple[str, Field]]:
    """The leaf columns that may have bounds: those in no list and no map, of a type that is in an order."""
    for field in fields:
        name = f"{prefix}{field.name}"
        if field.type.logical == "struct":
            yield from _walk_bounded(field.type.children, f"{name}.")
        elif field.type.logical not in _NO_BOUNDS:
            yield name, field
