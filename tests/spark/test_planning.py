"""Plans for Spark without Spark: what they read here, what travels, which manifests they leave out, what it all gives."""

from __future__ import annotations

import pickle
import subprocess
import sys
import sysconfig
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakelens as ll
from lakelens.errors import LakeError, Unsupported
from lakelens.model.scan.plan import ScanTask
from lakelens.model.scan.pruning import select_files
from lakelens.model.table import Table
from lakelens.spark.frames.planning import Wanted, count_bins, fill_bins, plan_entries, plan_files
from lakelens.spark.frames.scanning import cut_batch, make_reader
from lakelens.spark.frames.types import carrier_schema, carry_batch, spark_schema
from tests.support import LAKES
from tests.support.growth import grow_iceberg, grow_paimon
from tests.support.planned import build_local, list_lakes, read_plan, unpack_tasks, word_rows


def plan(table: Table, parallelism: int = 2, **asked: Any) -> Any:
    select = partial(select_files, partition=asked.pop("partition", None), path=asked.pop("path", None))
    return plan_files(table, table.current, Wanted(select=select, **asked), parallelism)


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("lake", list_lakes(), ids=lambda lake: lake.parent.relative_to(LAKES).as_posix())
def test_executors_give_what_the_record_path_gives(lake: Path) -> None:
    table = ll.open(lake)
    planned = plan(table)
    rows = read_plan(planned)
    local = drop_untold(build_local(table), rows.schema)
    assert rows.schema == local.schema
    assert word_rows(rows) == word_rows(local)


def drop_untold(local: pa.Table, schema: pa.Schema) -> pa.Table:
    """Without the statistics of ids that only manifests tell of: Iceberg's ORC writer counts the values of structs."""
    for field in schema:
        if pa.types.is_struct(field.type) and field.type != local.schema.field(field.name).type:
            told = [child.name for child in field.type]
            column = local[field.name].combine_chunks()
            untold = [child.name for child in column.type if child.name not in told]
            assert untold and all(name.startswith("#") for name in untold), untold
            children = [column.field(name) for name in told]
            kept = pa.StructArray.from_arrays(children, fields=list(field.type), mask=column.is_null())
            local = local.set_column(local.column_names.index(field.name), field.name, kept)
    return local


@pytest.mark.parametrize("format", ["iceberg", "paimon"])
def test_no_manifest_is_read_on_the_driver(format: str) -> None:
    for lake in list_lakes(f"spark/{format}"):
        table = ll.open(lake)
        planned = plan(table)
        tasks = {task.path for task in unpack_tasks(planned.bins)}
        for name, _ in planned.scan.columns.partition if planned.scan is not None else ():
            plan(table, partition={name: None})
        assert not tasks & set(table.reads.paths), lake
        if table.current is not None:
            every = unpack_tasks(plan_entries(table, True, Wanted(), 2).bins)
            assert not {task.path for task in every} & set(table.reads.paths), lake
            assert max(Counter(task.path for task in every).values(), default=1) == 1


@pytest.mark.parametrize("name", ["iceberg", "paimon"])
def test_manifests_elsewhere_are_a_finding_though_executors_read_them(name: str, tmp_path: Path) -> None:
    root = Path(ll.sample(name).location).rename(tmp_path / name)
    manifest = Path(ll.open(root).current.manifests[0].path)
    manifest.symlink_to(manifest.rename(tmp_path / manifest.name))
    table = ll.open(root)
    assert unpack_tasks(plan(table).bins)
    found = [finding.path for finding in table.findings if finding.code == "foreign-file"]
    assert found == [str(tmp_path)]


def list_partitioned() -> list[Path]:
    """Tables of several partition values."""
    return [
        lake
        for lake in list_lakes("spark")
        if "partition" in lake.parent.name or "bucket" in lake.parent.name or "tags" in lake.parent.name
    ]


def iterate_filters(rows: pa.Table) -> Iterator[tuple[str, Any, pa.Array]]:
    """Filters on every partition field by some of its own values, and which rows they mean."""
    values = rows["partition_values"].combine_chunks()
    for field in values.type:
        column = values.field(values.type.get_field_index(field.name))
        stored = getattr(column, "storage", column)
        nulls = pc.is_null(stored)
        yield field.name, None, nulls
        distinct = [n for n, value in enumerate(stored.to_pylist()) if value is not None][:2]
        for n in distinct:
            value, one = column[n].as_py(), stored[n]
            if value != value:  # NaN equals itself here, as it does in Spark
                yield field.name, value, pc.fill_null(pc.is_nan(stored), False)
                continue
            equal = pc.fill_null(pc.equal(stored, one), False)
            yield field.name, value, equal
            yield field.name, [value, None], pc.or_(equal, nulls)
            yield field.name, (value, None), pc.fill_null(pc.greater_equal(stored, one), False)
            yield field.name, (None, value), pc.fill_null(pc.less_equal(stored, one), False)


def test_partition_filters_lose_nothing_and_leave_out_manifests() -> None:
    pruned = looked = 0
    for lake in list_partitioned():
        table = ll.open(lake)
        every = plan(table)
        if every.scan is None or not every.scan.columns.partition:
            continue
        local = table.files.to_arrow(columns=["path", "partition_values"])
        for name, asked, chosen in iterate_filters(local):
            planned = plan(table, columns=("path",), partition={name: asked})
            wanted = sorted(local["path"].filter(chosen).to_pylist())
            assert sorted(read_plan(planned)["path"].to_pylist()) == wanted, (lake, name, asked)
            looked += 1
            pruned += planned.scan is not None and len(unpack_tasks(planned.bins)) < len(
                unpack_tasks(every.bins)
            )
    assert looked > 200 and pruned > 50, (looked, pruned)


@pytest.mark.parametrize("grow", [grow_iceberg, grow_paimon])
def test_bins_are_balanced_and_as_many_as_run_at_once(grow: Any, tmp_path: Path) -> None:
    table = ll.open(grow(tmp_path / "t", files=12_000, manifests=12))
    planned = plan(table, parallelism=3)
    sizes = [sum(task.size_bytes for task in pickle.loads(packed)) for packed in planned.bins]
    tasks = unpack_tasks(planned.bins)
    assert len(tasks) == len({task.path for task in tasks}) >= 12
    assert len(sizes) == count_bins(sum(sizes), 3) and max(sizes) - min(sizes) <= max(
        t.size_bytes for t in tasks
    )
    assert len(planned.pickle_head()) < 100_000, "the scan travels without its tasks"


@given(st.lists(st.integers(0, 10_000), max_size=60), st.integers(1, 9))
def test_bins_hold_every_task_once_and_none_is_much_fuller(sizes: list[int], count: int) -> None:
    tasks = [ScanTask(n, f"m{n}", size) for n, size in enumerate(sizes)]
    bins = fill_bins(tasks, count)
    assert sorted(task.position for one in bins for task in one) == list(range(len(sizes)))
    assert len(bins) == min(count, len(sizes)) and all(bins)
    filled = [sum(max(task.size_bytes, 1) for task in one) for one in bins]
    if filled:
        assert max(filled) - min(filled) <= max(max(size, 1) for size in sizes)


def test_paths_choose_files() -> None:
    table = ll.open(LAKES / "spark/iceberg/v2-partition-identity/table")
    paths = sorted(file.path for file in table.files)
    folder = paths[0].rsplit("/", 1)[0] + "/"
    for asked in (paths[0], folder, folder + "*", "*/data/*", "*.orc", paths[0].replace("00", "??"), "*"):
        found = sorted(read_plan(plan(table, path=asked, columns=("path",)))["path"].to_pylist())
        if asked == paths[0]:
            assert found == [asked]
        elif asked.startswith(folder):
            assert found == [path for path in paths if path.startswith(folder)]
        elif "??" in asked:
            assert paths[0] in found
        else:
            assert found == ([] if asked == "*.orc" else paths)
    recorded = table.files[0].recorded_path
    assert read_plan(plan(table, path=recorded, columns=("recorded_path",))).num_rows == 1


def test_what_cannot_be_asked_is_said() -> None:
    table = ll.open(LAKES / "spark/iceberg/v2-partition-identity/table")
    name = table.files.columns.partition[0][0]
    with pytest.raises(Unsupported, match="no partition field 'nosuch'; try: there are "):
        plan(table, partition={"nosuch": 1})
    with pytest.raises(Unsupported, match="pair"):
        plan(table, partition={name: (1, 2, 3)})
    with pytest.raises(Unsupported, match="is no value of the partition field"):
        plan(table, partition={name: object()})
    with pytest.raises(KeyError, match="nosuch"):
        plan(table, columns=("nosuch",))
    hive = ll.open(LAKES / "spark/hive/partitioned/table")
    with pytest.raises(Unsupported, match="hive tables have no manifests"):
        plan_entries(hive, False, Wanted(), 1)
    with pytest.raises(Unsupported, match="hive tables have no manifests"):
        plan_entries(hive, True, Wanted(), 1)


def test_text_is_taken_for_dates_and_numbers(tmp_path: Path) -> None:
    table = ll.open(LAKES / "spark/iceberg/v2-partition-time/table")
    told = {name: kind.logical for name, kind in table.current.scan_files().columns.partition}
    days = [name for name, logical in told.items() if logical == "date"]
    assert days
    for file in table.files:
        value = file.partition.get(days[0])
        if value is not None:
            found = read_plan(plan(table, partition={days[0]: str(value)}, columns=("path",)))
            assert file.path in found["path"].to_pylist()


def test_a_damaged_manifest_fails_the_task_each_time_it_is_tried(tmp_path: Path) -> None:
    table = ll.open(grow_iceberg(tmp_path / "t", files=40, manifests=4))
    victim = next(m for m in table.current.manifests if "grown-2" in m.path)
    Path(victim.path).write_bytes(b"Obj\x01 not any more")
    planned = plan(ll.open(tmp_path / "t"))
    for _ in range(2):
        with pytest.raises(LakeError, match="strict=False goes past it"):
            read_plan(planned)
    rows = read_plan(plan(ll.open(tmp_path / "t"), strict=False))
    assert rows.num_rows == len(ll.open(tmp_path / "t").files) > 30


SCRIPT = """
import sys
sys.path += sys.argv[2:]
import pyarrow as pa
from pyspark import cloudpickle
read = cloudpickle.loads(open(sys.argv[1], "rb").read())
try:
    print(sum(batch.num_rows for batch in read(iter([pa.record_batch({"id": [0]})]))))
except RuntimeError as error:
    print(error)
"""


def run_elsewhere(closure: Any, folder: Path, *places: Path) -> str:
    """What a closure does in an interpreter that finds no editable installation: `site` is left out."""
    packed = folder / "closure"
    packed.write_bytes(pytest.importorskip("pyspark.cloudpickle").dumps(closure))
    paths = [sysconfig.get_path("purelib"), *map(str, places)]
    command = [sys.executable, "-I", "-S", "-c", SCRIPT, str(packed), *paths]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_closure_without_lakelens_says_so_in_one_line(tmp_path: Path) -> None:
    """It is unpickled where lakelens cannot be imported: nothing of it may travel by reference."""
    said = run_elsewhere(make_reader(b"head", [b"bin"]), tmp_path).splitlines()
    assert len(said) == 1 and "cannot be imported on this executor (No module named 'lakelens')" in said[0]
    assert "spark.archives" in said[0]


def test_a_zip_of_the_package_is_enough_beside_its_libraries(tmp_path: Path) -> None:
    table = ll.open(LAKES / "spark/iceberg/v3-deletion-vectors/table")
    planned = plan(table)
    package = Path(ll.__file__).parent
    with zipfile.ZipFile(tmp_path / "lakelens.zip", "w") as archive:
        for path in package.rglob("*.py"):
            archive.write(path, path.relative_to(package.parent))
    closure = make_reader(planned.pickle_head(), planned.bins)
    assert run_elsewhere(closure, tmp_path, tmp_path / "lakelens.zip").split() == [str(len(table.files))]


def test_wide_rows_travel_in_small_batches() -> None:
    batch = pa.record_batch({f"c{n}": pa.array(["x" * 1_000] * 100) for n in range(200)})
    parts = list(cut_batch(batch))
    assert len(parts) > 3 and sum(part.num_rows for part in parts) == 100
    assert pa.Table.from_batches(parts).equals(pa.Table.from_batches([batch]))


def test_every_arrow_type_has_one_of_spark() -> None:
    pytest.importorskip("pyspark")
    kinds = {
        pa.int8(): "tinyint",
        pa.int16(): "smallint",
        pa.int32(): "int",
        pa.int64(): "bigint",
        pa.float32(): "float",
        pa.float64(): "double",
        pa.bool_(): "boolean",
        pa.date32(): "date",
        pa.string(): "string",
        pa.large_string(): "string",
        pa.binary(): "binary",
        pa.binary(16): "binary",
        pa.uuid(): "string",
        pa.null(): "string",
        pa.time32("ms"): "string",
        pa.time64("ns"): "string",
        pa.timestamp("ms"): "timestamp_ntz",
        pa.timestamp("ns"): "timestamp_ntz",
        pa.timestamp("us", "UTC"): "timestamp",
        pa.timestamp("ns", "UTC"): "timestamp",
        pa.decimal128(38, 10): "decimal(38,10)",
        pa.decimal128(5, -2): "string",
        pa.decimal256(60, 3): "string",
        pa.list_(pa.uuid()): "array<string>",
        pa.list_(pa.float32(), 3): "array<float>",
        pa.map_(pa.string(), pa.int64()): "map<string,bigint>",
        pa.struct([]): "struct<>",
        pa.struct([("a.b", pa.null()), ("x#3", pa.struct([("A", pa.int8())]))]): (
            "struct<a.b:string,x#3:struct<A:tinyint>>"
        ),
    }
    for kind, worded in kinds.items():
        schema = pa.schema([("c", kind)])
        assert spark_schema(schema)["c"].dataType.simpleString() == worded
        empty = carry_batch(pa.record_batch([pa.nulls(3, kind)], schema=schema), carrier_schema(schema))
        assert empty.num_rows == 3 and spark_schema(empty.schema) == spark_schema(schema)


@given(
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1),
    st.sampled_from(["s", "ms", "us", "ns"]),
)
def test_bounds_of_fine_timestamps_remain_bounds(ticks: list[int | None], unit: str) -> None:
    names = ["lower_bounds", "upper_bounds"]
    kind = pa.struct([("t", pa.timestamp(unit))])
    column = pa.StructArray.from_arrays(
        [pa.array(ticks, pa.int64()).view(pa.timestamp(unit))], fields=list(kind)
    )
    batch = pa.record_batch([column, column], names=names).slice(len(ticks) // 3)
    carried = carry_batch(batch, carrier_schema(batch.schema))
    lows, highs = (carried[name].field(0).view(pa.int64()).to_pylist() for name in names)
    factor = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": None}[unit]
    for tick, low, high in zip(ticks[len(ticks) // 3 :], lows, highs, strict=True):
        if tick is None:
            assert low is None and high is None
        elif factor is None:
            assert low * 1_000 <= tick <= high * 1_000 and high - low <= 1
        else:
            held = tick * factor if factor == 1 or abs(tick * factor) < 2**63 else None
            assert low == high == held


def test_a_scan_travels_in_few_bytes() -> None:
    table = ll.open(LAKES / "spark/iceberg/v2-partition-identity/table")
    planned = plan(table)
    assert planned.scan is not None and planned.scan.tasks == ()
    again = pickle.loads(replace(planned, bins=(), removing=()).pickle_head())
    assert again.layout == planned.layout and again.request == planned.request
