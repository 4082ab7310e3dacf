"""The Python data source `lakelens`, for PySpark 4.0 and newer: tables by `spark.read.format("lakelens")`, and from SQL.

Spark pickles the classes of a data source. They are made inside of a function, so that they travel by value and can say on
an executor that lakelens is not there; all else is here and in `planning` and `scanning`.

Spark offers its filters and evaluates every one again, so the files that are selected by them may be too many, never too
few. Of the partition those filters count that are on fields whose values look the same in Spark as here: no fractions,
whose zeros and NaN compare otherwise, and nothing that travels in another type.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from lakelens.errors import Unsupported
from lakelens.model.arrow import arrow_type
from lakelens.model.facts.facts import build_manifests
from lakelens.model.scan.plan import drop_removed
from lakelens.model.scan.pruning import Selection, select_files
from lakelens.opening import open_table
from lakelens.spark.frames.planning import (
    ReadPlan,
    Wanted,
    find_parallelism,
    pack_rows,
    plan_entries,
    plan_files,
    plan_rows,
)
from lakelens.spark.frames.scanning import NOT_HERE, check_damage, read_bin
from lakelens.spark.frames.types import carrier_type, spark_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from lakelens.model.fileset import FileColumns


#: A filter as plain data: the name of its class in `pyspark.sql.datasource`, its column path, and its value.
Pushed = tuple[str, tuple[str, ...], Any]


def describe_filters(filters: Iterable[Any]) -> tuple[Pushed, ...]:
    """Spark's filters as plain data; unknown ones are left out.

    >>> class EqualTo: attribute, value = ("path",), "x"
    >>> describe_filters([EqualTo()])
    (('EqualTo', ('path',), 'x'),)
    """
    return tuple(
        (type(one).__name__, tuple(one.attribute), getattr(one, "value", None))
        for one in filters
        if hasattr(one, "attribute")
    )


def select_pushed(columns: FileColumns, pushed: Iterable[Pushed]) -> Selection:
    """Select the files that may pass pushed filters."""
    selection = Selection()
    kinds = {name: arrow_type(kind) for name, kind in columns.partition}
    for word, attribute, value in pushed:
        if attribute == ("path",) and selection.path is None:
            # a pattern that fits every path that the filter passes: signs of patterns in a path only widen it
            patterns = {"EqualTo": value, "StringStartsWith": f"{value}*"} if isinstance(value, str) else {}
            selection = replace(selection, path=patterns.get(word))
        elif len(attribute) == 2 and attribute[0] == "partition_values" and _is_alike(kinds, attribute[1]):
            wanted = _make_wanted(word, value)
            if wanted:
                with suppress(Unsupported):  # a value of another type: Spark knows what it means by it
                    further = select_files(columns, {attribute[1]: wanted["wanted"]})
                    selection = replace(selection, partition=selection.partition + further.partition)
    return selection


def _make_wanted(word: str, value: Any) -> dict[str, Any]:
    """Make the argument for `select_files`, under the key "wanted"; empty if nothing is ruled out."""
    if word in ("EqualTo", "EqualNullSafe"):
        return {"wanted": value}
    if word == "In" and isinstance(value, list | tuple):
        return {"wanted": list(value)}
    if word in ("GreaterThan", "GreaterThanOrEqual"):
        return {"wanted": (value, None)}
    if word in ("LessThan", "LessThanOrEqual"):
        return {"wanted": (None, value)}
    if word == "IsNull":
        return {"wanted": None}
    return {"wanted": (None, None)} if word == "IsNotNull" else {}


def _is_alike(kinds: Mapping[str, Any], name: str) -> bool:
    import pyarrow.types as types

    kind = kinds.get(name)
    return kind is not None and bool(carrier_type(kind).equals(kind)) and not types.is_floating(kind)


VIEWS = ("files", "entries", "snapshots", "manifests")
_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


def register_data_source(spark: SparkSession, *, push_filters: bool = False) -> None:
    """Register `spark.read.format("lakelens")` in a session, for SQL too. Needs PySpark 4.0 or newer.

    `load(path)` takes a path or URL, as `lakelens.open` does, but no name of a catalog. Options of a read:

    `view`         "files" (the default), "entries", "snapshots" or "manifests"
    `snapshot`     an id, a branch, a tag or a time, for files and manifests; `branch` opens a branch
    `columns`      names, divided by commas, of files or entries; `stats` "false" leaves bounds and counts out
    `allSnapshots` "true": the entries of every manifest that some snapshot names
    `partition`    as in `lakelens.spark.files`, in JSON: `{"day": "2024-01-01"}`, `{"b": [1, 2, null]}`,
                   `{"day": {"low": "2024-01-01", "high": null}}`; `filePath` a path, a pattern or a prefix
    `strict`       "false" skips damaged manifests
    `parallelism`  how many tasks run at once; by default what the session says when this is called

    A DataFrame keeps the plan of its first query. The driver reads Paimon's DELETE entries and ships them with the read:
    `lakelens.spark.files` is faster for tables with millions of them.

    Parameters
    ----------
    spark
        The session.
    push_filters
        Whether to use the filters of queries on `partition_values` and `path`, if the session has
        `spark.sql.python.filterPushdown.enabled` (PySpark 4.1). PySpark 4.1 keeps the filters of one query of a DataFrame
        for the next one without filters: load it again for each query.

    Raises
    ------
    Unsupported
        PySpark is older than 4.0.

    Examples
    --------
    >>> import lakelens as ll
    >>> ll.spark.register_data_source(spark)                                        # doctest: +SKIP
    >>> spark.read.format("lakelens").option("stats", "false").load("warehouse/db/t").show()  # doctest: +SKIP
    """
    if not hasattr(spark, "dataSource"):
        raise Unsupported("data sources in Python need PySpark 4.0 or newer", hint="lakelens.spark.files")
    pushes = push_filters and str(spark.conf.get(_PUSHDOWN, "false")).lower() == "true"
    spark.dataSource.register(make_data_source(find_parallelism(spark), pushes))


def make_data_source(parallelism: int, pushes: bool) -> type:
    """Make the class of the data source; with `pushes` its reader takes filters."""
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

    not_here = NOT_HERE

    class Reader(DataSourceReader):  # type: ignore[misc]
        def __init__(self, options: dict[str, str], schema: Any) -> None:
            self.options, self.schema = options, schema
            self.pushed: tuple[Any, ...] = ()
            self.packed: Any = None

        def prepare(self) -> Any:
            from lakelens.spark.frames.data_source import pack_view

            if self.packed is None:  # Spark pickles the reader before it asks for partitions
                self.packed = pack_view(self.options, self.pushed, self.schema, parallelism)
            return self.packed

        def __getstate__(self) -> dict[str, Any]:
            head, removals, _ = self.prepare()
            return {"packed": (head, removals, ())}

        def partitions(self) -> list[Any]:
            return [InputPartition(packed) for packed in self.prepare()[2]]

        def read(self, partition: Any) -> Iterator[Any]:
            try:
                from lakelens.spark.frames.data_source import read_part

                head, removals, _ = self.packed
                yield from read_part(head, removals, None if partition is None else partition.value)
            except ImportError as error:
                raise RuntimeError(not_here.format(error=error)) from None

    class FilteredReader(Reader):
        def pushFilters(self, filters: list[Any]) -> Iterable[Any]:  # noqa: N802
            from lakelens.spark.frames.data_source import describe_filters

            self.pushed = describe_filters(filters)
            return filters  # Spark evaluates them again

    chosen = FilteredReader if pushes else Reader

    class LakelensSource(DataSource):  # type: ignore[misc]
        @classmethod
        def name(cls) -> str:
            return "lakelens"

        def schema(self) -> Any:
            try:
                from lakelens.spark.frames.data_source import describe_view
            except ImportError as error:
                raise RuntimeError(not_here.format(error=error)) from None
            return describe_view(dict(self.options), parallelism)

        def reader(self, schema: Any) -> Any:
            return chosen(dict(self.options), schema)

    return LakelensSource


def describe_view(options: Mapping[str, str], parallelism: int) -> StructType:
    """Describe the Spark schema of the requested view."""
    return spark_schema(plan_view(parse_options(options, parallelism)).layout.schema)


def pack_view(
    options: Mapping[str, str], pushed: Iterable[Pushed], schema: StructType, parallelism: int
) -> tuple[bytes, bytes, tuple[bytes, ...]]:
    """Pack a read as bytes: the head of its plan, the removed files (in Arrow's stream format), and the bins."""
    plan = plan_view(parse_options(options, parallelism), tuple(pushed))
    if spark_schema(plan.layout.schema).simpleString() != schema.simpleString():
        raise Unsupported(
            "the columns of the table have changed since it was loaded",
            path=options.get("path"),
            hint="load it again, without a schema of your own",
        )
    return plan.pickle_head(), _read_removals(plan), plan.bins


def read_part(head: bytes, removals: bytes, packed: bytes | None) -> Iterator[pa.RecordBatch]:
    """Read the rows of one bin, without the removed files."""
    if packed is not None:
        yield from read_bin(head, packed, partial(drop_removed, removals=_load_removals(removals)))


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """The options of one read."""

    path: str
    view: str = "files"
    snapshot: str | None = None
    branch: str | None = None
    columns: tuple[str, ...] | None = None
    stats: bool = True
    all_snapshots: bool = False
    strict: bool = True
    parallelism: int = 1
    partition: Mapping[str, Any] | None = None
    file_path: str | None = None


def parse_options(options: Mapping[str, str], parallelism: int = 1) -> ViewOptions:
    """Parse the options of a read as Spark gives them. Raises `Unsupported` for an unknown one.

    >>> parse_options({"path": "/t", "columns": "path, size_bytes", "stats": "FALSE"}).columns
    ('path', 'size_bytes')
    """
    given = {key.lower(): value for key, value in options.items()}
    known = {name.replace("_", "") for name in ViewOptions.__dataclass_fields__}
    if unknown := sorted(given.keys() - known):
        raise Unsupported(f"no option {unknown[0]!r}", hint=f"one of {', '.join(sorted(known))}")
    if "path" not in given:
        raise Unsupported("no table is named", hint='spark.read.format("lakelens").load(path)')
    if (view := given.get("view", "files")) not in VIEWS:
        raise Unsupported(f"no view {view!r}", hint=f"one of {', '.join(VIEWS)}")
    if not (count := given.get("parallelism", str(parallelism))).isdigit():
        raise Unsupported(f"the option 'parallelism' is {count!r}, not a number")
    columns = given.get("columns")
    return ViewOptions(
        given["path"],
        view,
        given.get("snapshot"),
        given.get("branch"),
        None if columns is None else tuple(name.strip() for name in columns.split(",")),
        _parse_flag(given, "stats", True),
        _parse_flag(given, "allsnapshots", False),
        _parse_flag(given, "strict", True),
        int(count),
        _parse_partition(given.get("partition")),
        given.get("filepath"),
    )


def plan_view(options: ViewOptions, pushed: tuple[Pushed, ...] = ()) -> ReadPlan:
    """Give the plan of the requested view."""
    table = open_table(options.path, branch=options.branch)
    if options.view == "snapshots":
        return plan_rows(table.snapshots.to_arrow())
    chosen = table.current if options.snapshot is None else table.snapshot(options.snapshot)
    if options.view == "manifests":
        return plan_rows(build_manifests(chosen))
    select = partial(_select, options=options, pushed=pushed)
    wanted = Wanted(options.stats, options.columns, select, options.strict)
    if options.view == "entries":
        return plan_entries(table, options.all_snapshots, wanted, options.parallelism)
    return plan_files(table, chosen, wanted, options.parallelism)


def _select(columns: FileColumns, options: ViewOptions, pushed: tuple[Pushed, ...]) -> Selection:
    asked = select_files(columns, options.partition, options.file_path)
    further = select_pushed(columns, pushed)
    path = further.path if asked.path is None else asked.path  # Spark evaluates what it pushed again
    return Selection(asked.partition + further.partition, path)


def _parse_partition(text: str | None) -> dict[str, Any] | None:
    """Parse the option in the form that `select_files` takes: a range is an object with `low` and `high`."""
    if text is None:
        return None
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise Unsupported(f"the option 'partition' is {text!r}, not a JSON object")
    ranges = {name: value for name, value in given.items() if isinstance(value, dict)}
    if any(value.keys() - {"low", "high"} for value in ranges.values()):
        raise Unsupported("a range in the option 'partition' has other keys than low and high")
    return given | {name: (value.get("low"), value.get("high")) for name, value in ranges.items()}


def _parse_flag(options: Mapping[str, str], name: str, default: bool) -> bool:
    text = options.get(name, str(default)).lower()
    if text not in ("true", "false"):
        raise Unsupported(f"the option {name!r} is {text!r}, not true or false")
    return text == "true"


def _read_removals(plan: ReadPlan) -> bytes:
    if not plan.removing or plan.scan is None:
        return b""
    removals = plan.scan.removals([task for packed in plan.removing for task in pickle.loads(packed)])
    check_damage(plan)
    return pack_rows(removals)


@lru_cache(maxsize=2)
def _load_removals(stored: bytes) -> pa.Table | None:
    import pyarrow as pa

    return pa.ipc.open_stream(stored).read_all() if stored else None


__all__ = ["describe_filters", "make_data_source", "register_data_source"]
