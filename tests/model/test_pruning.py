"""Which manifests a filter leaves out: only those that cannot hold a file that is meant."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakelens.errors import Corrupt, Unsupported
from lakelens.model.fileset import FileColumns
from lakelens.model.manifest import FieldSummary
from lakelens.model.scan.plan import FileBatch, ScanTask
from lakelens.model.scan.pruning import match_paths, read_summaries, select_files
from lakelens.model.schema import DataType, PartitionField, PartitionSpec

KINDS = {
    "i": DataType("int", "int32"),
    "s": DataType("string", "string"),
    "f": DataType("float", "float64"),
    "d": DataType("date", "date"),
}
COLUMNS = FileColumns(partition=tuple(KINDS.items()))
VALUES = {
    "i": st.integers(-5, 5),
    "s": st.text("ab", max_size=4),
    "f": st.floats(width=16) | st.just(-0.0),
    "d": st.dates(date(2024, 1, 1), date(2024, 1, 9)),
}


def sum_up(name: str, values: list[Any], cut: int) -> FieldSummary:
    """As a writer would; text may be cut short, below and above."""
    plain = [value for value in values if value is not None and value == value]
    low, high = (min(plain), max(plain)) if plain else (None, None)
    if name == "s" and plain:
        low, high = low[:cut], high[:cut]
    nulls, nans = None in values, any(value is not None and value != value for value in values)
    return FieldSummary(name, low, high, contains_null=nulls, contains_nan=nans if name == "f" else None)


def choose(name: str, wanted: Any, values: list[Any]) -> list[bool]:
    types = {"i": pa.int32(), "s": pa.string(), "f": pa.float64(), "d": pa.date32()}
    (one,) = select_files(COLUMNS, {name: wanted}).partition
    return one.choose(pa.array(values, types[name], from_pandas=False)).to_pylist()


@given(st.data(), st.sampled_from(sorted(VALUES)), st.integers(0, 4))
def test_no_manifest_with_a_file_that_is_meant_is_left_out(data: Any, name: str, cut: int) -> None:
    value = VALUES[name]
    values = data.draw(st.lists(st.none() | value, min_size=1, max_size=5))
    wanted = data.draw(
        value
        | st.none()
        | st.lists(st.none() | value, max_size=3)
        | st.tuples(st.none() | value, st.none() | value)
    )
    (one,) = select_files(COLUMNS, {name: wanted}).partition
    if any(choose(name, wanted, values)):
        assert one.may_match(sum_up(name, values, cut))


@given(st.data(), st.sampled_from(["i", "d", "s"]))
def test_files_that_are_meant_are_those_of_plain_comparison(data: Any, name: str) -> None:
    values = data.draw(st.lists(st.none() | VALUES[name], min_size=1, max_size=6))
    some = data.draw(st.lists(st.none() | VALUES[name], max_size=3))
    low, high = data.draw(st.tuples(st.none() | VALUES[name], st.none() | VALUES[name]))
    assert choose(name, some, values) == [value in some for value in values]
    assert choose(name, (low, high), values) == [
        value is not None and (low is None or value >= low) and (high is None or value <= high)
        for value in values
    ]


def test_what_proves_nothing_keeps_a_manifest() -> None:
    (one,) = select_files(COLUMNS, {"i": 7}).partition
    assert not one.may_match(FieldSummary("i", 1, 6, contains_null=True))
    for summary in (
        FieldSummary("i"),
        FieldSummary("i", 1, None),
        FieldSummary("i", "text", b"bytes"),
        FieldSummary("i", 2**40, 2**41),
    ):
        assert one.may_match(summary), summary
    (null,) = select_files(COLUMNS, {"i": None}).partition
    assert null.may_match(FieldSummary("i", 1, 2)) and null.may_match(
        FieldSummary("i", 1, 2, contains_null=True)
    )
    assert not null.may_match(FieldSummary("i", 1, 2, contains_null=False))
    (nan,) = select_files(COLUMNS, {"f": float("nan")}).partition
    assert nan.may_match(FieldSummary("f", 1.0, 2.0, contains_nan=None))


def make_manifest(summaries: Any, spec_id: int | None = 0, **further: Any) -> Any:
    return SimpleNamespace(partition_summary=summaries, spec_id=spec_id, **further)


def make_specs(*transforms: str) -> dict[int | None, PartitionSpec]:
    fields = tuple(PartitionField(f"p{n}", 1, "c", transform) for n, transform in enumerate(transforms))
    return {0: PartitionSpec(0, fields)}


def test_only_known_transforms_of_a_known_partitioning_tell_something() -> None:
    summaries = (FieldSummary("p0", 1, 2), FieldSummary("p1", 1, 2))
    told = read_summaries(make_manifest(summaries), make_specs("identity", "bucket[16]"))
    assert sorted(told) == ["p0", "p1"]
    for transform in ("zorder", "bucket", "truncate[x]", "void"):
        assert sorted(read_summaries(make_manifest(summaries), make_specs("day", transform))) == ["p0"]
    assert read_summaries(make_manifest(summaries), make_specs("identity")) == {}
    assert read_summaries(make_manifest(summaries, spec_id=9), make_specs("identity", "day")) == {}

    class Damaged:
        spec_id = 0

        @property
        def partition_summary(self) -> Any:
            raise Corrupt("no bounds")

    assert read_summaries(Damaged(), make_specs("identity")) == {}  # type: ignore[arg-type]


def test_tasks_without_a_manifest_or_its_field_are_kept() -> None:
    selection = select_files(
        FileColumns(partition=(("p0", KINDS["i"]), ("old", KINDS["i"]))), {"p0": 9, "old": 1}
    )
    tasks = [ScanTask(n, path, 1) for n, path in enumerate(("in", "out", "unknown"))]
    manifests = {
        "in": make_manifest((FieldSummary("p0", 1, 20),)),
        "out": make_manifest((FieldSummary("p0", 1, 2),)),
    }
    kept = selection.prune_tasks(tasks, manifests, make_specs("identity"))
    assert [task.path for task in kept] == ["in", "unknown"]


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("/t/a b[1]/x.parquet", [True, False, False]),
        ("/t/*", [True, True, False]),
        ("/t/a?b[1]/*", [True, False, False]),
        ("/t/a b[1]/", [True, False, False]),
        ("*.parquet", [True, True, False]),
        ("/t", [False, False, False]),
        (".*", [False, False, False]),
    ],
)
def test_patterns_of_paths(pattern: str, fits: list[bool]) -> None:
    paths = pa.array(["/t/a b[1]/x.parquet", "/t/é\n.parquet", None])
    assert match_paths(paths, pattern).to_pylist() == fits


def test_a_batch_is_filtered_by_path_now_or_recorded() -> None:
    plain = {"path": pa.array(["/now/a", "/now/b"]), "recorded_path": pa.array(["s3://was/a", None])}
    batch = FileBatch(2, plain)
    assert select_files(COLUMNS, None, "s3://was/a").filter_batch(batch).plain["path"].to_pylist() == [
        "/now/a"
    ]
    assert select_files(COLUMNS).filter_batch(batch) is batch


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"i": "x"}, "'x' is no value of the partition field 'i'"),
        ({"d": "2024-13-01"}, "no value of the partition field 'd'"),
        ({"i": 2**40}, "no value"),
        ({"i": (1,)}, "not a pair"),
        ({"x": 1}, "no partition field 'x'; try: there are i, s, f, d"),
    ],
)
def test_what_is_no_value_is_said(wanted: dict[str, Any], said: str) -> None:
    with pytest.raises(Unsupported, match=said):
        select_files(COLUMNS, wanted)
