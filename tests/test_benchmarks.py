"""The benchmarks themselves: tables grow as they should, readers of one table agree, and only the README's part is written.

No clock is asked here: what the readers take is measured by `python -m tests.benchmarks`.
"""

from __future__ import annotations

import datetime
import json
import platform
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import pytest

from lakelens.opening import open_table
from tests.benchmarks import child, first_steps, octets, parts, report, typed, values
from tests.benchmarks.fits import fit_times
from tests.benchmarks.measure import Grown, Measurement, list_disagreements, measure
from tests.benchmarks.results import Results, describe_machine, load_results
from tests.benchmarks.runners import RUNNERS, Runner, Target, Unavailable
from tests.benchmarks.runners.raw import iterate_blocks
from tests.benchmarks.tables import PROOF, Tables
from tests.support import growth
from tests.support.engines import ENGINE, REASONS

FILES, COLUMNS = 240, 25
LOCAL = ("to_arrow", "no_stats", "batches", "fastavro", "polars", "datafusion", "floor")
FORMATS = ("iceberg", "paimon")
needs_datafusion = pytest.mark.skipif(ENGINE != "datafusion", reason=REASONS["datafusion"])


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Grown]:
    """A table of each format, in chunks so small that some of them leave out bounds."""
    tables = Tables(tmp_path_factory.mktemp("grown"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typed, "_CHUNK_FILES", 20)
        return {format: tables.grow(format, FILES, COLUMNS) for format in FORMATS}


def list_grown(table: Grown) -> list[dict[str, Any]]:
    """The grown files of a table as lakelens reads them, in the order of their numbers."""
    rows = open_table(table.target.path).files.to_arrow().to_pylist()
    made = [row for row in rows if "grown" in Path(row["manifest"]).name]
    return sorted(made, key=lambda row: row["upper_bounds"][PROOF])


@pytest.mark.parametrize("format", FORMATS)
def test_files_have_the_statistics_that_their_numbers_give(grown: dict[str, Grown], format: str) -> None:
    rows = list_grown(grown[format])
    numbers = np.arange(FILES, dtype=np.int64)
    assert [row["record_count"] for row in rows] == values.count_rows(numbers).tolist()
    assert [row["size_bytes"] for row in rows] == values.measure_files(numbers).tolist()
    first, rows_of = numbers * 1_000_000 + 3, values.count_rows(numbers)
    assert [row["lower_bounds"][PROOF] for row in rows] == first.tolist()
    assert [row["upper_bounds"][PROOF] for row in rows] == (first + rows_of - 1).tolist()
    assert len(rows[0]["lower_bounds"]) == COLUMNS
    assert len({row["path"] for row in rows}) == FILES


@pytest.mark.parametrize("format", FORMATS)
def test_every_kind_of_column_has_bounds_of_its_type(grown: dict[str, Grown], format: str) -> None:
    rows = list_grown(grown[format])
    kinds = {name: name.split("_")[0] for name in rows[0]["lower_bounds"] if "_" in name}
    assert set(kinds.values()) == {kind.name for kind in values.KINDS}
    types = {
        "long": int,
        "string": str,
        "int": int,
        "double": float,
        "decimal": Decimal,
        "date": datetime.date,
        "timestamp": datetime.datetime,
        "boolean": bool,
        "code": str,
        "float": float,
    }
    for name, kind in kinds.items():
        pairs = [(row["lower_bounds"][name], row["upper_bounds"][name]) for row in rows]
        known = [pair for pair in pairs if pair != (None, None)]
        assert all(type(bound) is types[kind] for pair in known for bound in pair)
        assert all(low <= high for low, high in known)
        assert len(set(known)) > 1, f"{name} is the same in every file"
        assert len(known) in (FILES, FILES - 20), name
    left_out = [name for name in kinds if any(row["lower_bounds"][name] is None for row in rows)]
    assert left_out and PROOF not in left_out
    day = datetime.date(2018, 1, 1)
    assert {row["lower_bounds"]["date_8"] for row in rows} <= {day, None}
    assert {str(row["partition_values"]).count("2018-01-01") for row in rows} == {1}


@pytest.mark.parametrize("format", FORMATS)
def test_a_grown_table_tells_what_it_has(grown: dict[str, Grown], format: str) -> None:
    table = open_table(grown[format].target.path)
    assert table.current is not None
    assert table.current.record_count == table.files.record_count
    assert not list(table.findings)
    assert [manifest.size_bytes for manifest in table.current.manifests] == [
        Path(manifest.path).stat().st_size for manifest in table.current.manifests
    ]
    if format == "iceberg":
        assert int(table.current.summary["total-data-files"]) == len(table.files)
        document = json.loads(Path(grown[format].target.metadata_path).read_text())
        assert document["location"] == str(grown[format].target.path)


def test_manifests_start_anew_at_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed, "MANIFEST_BYTES", 60_000)
    root = growth.grow_paimon(
        tmp_path / "rolled", files=3_000, manifests=0, typed=10, lake=growth.TYPED_PAIMON
    )
    sizes = [path.stat().st_size for path in sorted((root / "manifest").glob("manifest-grown-*"))]
    assert len(sizes) > 2
    assert all(60_000 <= size < 90_000 for size in sizes[:-1]) or sorted(sizes)[1] >= 60_000
    assert len(open_table(root).files) == 3_017
    root = growth.grow_iceberg(tmp_path / "given", files=100, manifests=3, typed=5, lake=growth.TYPED_ICEBERG)
    table = open_table(root)
    assert table.current is not None
    counts = [
        len(manifest.entries) for manifest in table.current.manifests if "grown" in Path(manifest.path).name
    ]
    assert counts == [33, 33, 34]


def test_numbers_are_encoded_as_fastavro_does() -> None:
    numbers = np.array([200_000, 1_000_000, 999_999], np.int64)
    assert [row.tobytes() for row in octets.encode_longs(numbers)] == [
        octets.encode_record("long", int(number)) for number in numbers
    ]
    assert [octets.encode_long(number) for number in (0, -1, 63, 64, 2**40)] == [
        octets.encode_record("long", number) for number in (0, -1, 63, 64, 2**40)
    ]
    with pytest.raises(ValueError, match="magnitude"):
        octets.encode_longs(np.array([1, 1_000], np.int64))
    assert octets.encode_big(np.array([1, 127], np.int64)).tolist() == [[1], [0x7F]]
    assert octets.encode_big(np.array([128, 300], np.int64)).tolist() == [[0, 128], [1, 44]]


@needs_datafusion
@pytest.mark.parametrize("format", FORMATS)
def test_readers_on_this_machine_find_the_same(grown: dict[str, Grown], format: str) -> None:
    told = []
    for name in LOCAL:
        try:
            prepared = RUNNERS[name].prepare(grown[format].target)
        except Unavailable as error:
            assert (name, format, str(error)) == ("polars", "paimon", "knows no zstd in Avro")
            continue
        sums = prepared.total(prepared.run())
        found = {
            "files": sums.files,
            "records": sums.records,
            "bytes": sums.bytes,
            "bounds": sums.bounds,
        }
        told.append(Measurement("x", name, grown[format].facts, found=found))
    assert list_disagreements(told) == []
    everything = next(one.found for one in told if one.runner == "to_arrow")
    assert None not in everything.values()
    assert everything["files"] == FILES + {"iceberg": 10, "paimon": 17}[format]
    wrong = Measurement("x", "spark", grown[format].facts, found={**everything, "records": 1})
    assert len(list_disagreements([*told, wrong])) == 1


@pytest.mark.parametrize("format", FORMATS)
def test_blocks_are_those_of_the_file(grown: dict[str, Grown], format: str) -> None:
    for path in grown[format].target.manifests:
        with path.open("rb") as stream:
            counts = [block.num_records for block in fastavro.block_reader(stream)]
        assert [count for count, _ in iterate_blocks(path.read_bytes())] == counts


def test_a_process_of_its_own_tells_what_it_took(grown: dict[str, Grown]) -> None:
    one = measure("x", "fastavro", grown["iceberg"], warm=2, cold=1)
    assert (len(one.warm), len(one.cold), one.unavailable) == (2, 1, None)
    assert one.found["files"] == FILES + 10
    assert one.peak is not None and one.growth is not None and 0 < one.growth < one.peak


def test_a_reader_that_cannot_run_is_told_of(
    grown: dict[str, Grown], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = measure("x", "pyiceberg", Grown(Target("paimon", Path("nowhere")), {}), cold=1, ask=_ask_here)
    assert one.unavailable == "does not read Paimon"
    broken = Runner("broken", "broken", "raw:prepare_floor")
    monkeypatch.setitem(RUNNERS, "broken", broken)
    failed = measure("x", "broken", Grown(Target("iceberg", Path("nowhere")), {}), cold=2)
    assert failed.unavailable is not None and failed.unavailable.startswith("failed: ")
    assert failed.cold == [] and failed.warm_seconds is None


def _ask_here(request: dict[str, Any], modules: Any = ()) -> dict[str, Any]:
    return child.measure(request)


@needs_datafusion
def test_measurements_come_back_from_their_file(tmp_path: Path, grown: dict[str, Grown]) -> None:
    one = Measurement(
        "iceberg", "to_arrow", grown["iceberg"].facts, [0.5, 0.25], [1.0], 7, 3, found={"files": 2}
    )
    results = Results(describe_machine(), [one], {"bare Python": [0.1]}, {"iceberg": 1.0})
    results.save(tmp_path)
    again = load_results(tmp_path)
    assert again.find("iceberg", "to_arrow", columns=COLUMNS) == one
    assert again == results
    assert one.warm_seconds == 0.375
    text = (tmp_path / "results.json").read_text()
    assert str(tmp_path) not in text and str(Path.home()) not in text
    assert platform.node() not in json.loads(text)["machine"].values()
    again.replace_case("iceberg", [])
    assert again.select("iceberg") == []


def test_the_report_tells_ratios_and_what_is_not_to_be_had() -> None:
    facts = {"format": "iceberg", "files": 100, "columns": 25, "snapshots": 0, "manifest_bytes": 1_000_000}
    results = Results(
        measurements=[
            Measurement("iceberg", "to_arrow", facts, [0.5], [1.0], 100_000_000, 50_000_000),
            Measurement("iceberg", "pyiceberg", facts, [12.5], [9.0], 400_000_000, 300_000_000),
            Measurement("iceberg", "duckdb", facts, unavailable="not to be had"),
        ]
    )
    lines = report.render_report(results).splitlines()
    assert any(
        "pyiceberg" in line and "| 25.0× |" in line and "| 9.0× | 400 | 300 |" in line for line in lines
    )
    assert any("DuckDB" in line and "not to be had" in line for line in lines)


def test_a_line_is_fitted_through_what_is_large() -> None:
    fit = fit_times([(10, 9.0), (10_000, 0.5), (100_000, 5.0), (1_000_000, 50.0)])
    assert fit is not None
    assert (round(fit.slope, 6), round(fit.r_squared, 6), round(fit.per_item * 1e6, 6)) == (1, 1, 50)
    assert fit_times([(10_000, 0.5), (100_000, None)]) is None


def test_a_curve_has_the_point_of_the_main_table() -> None:
    def at(case: str, runner: str, files: int, columns: int = 25) -> Measurement:
        facts = {"format": "iceberg", "files": files, "columns": columns, "snapshots": 0, "manifest_bytes": 1}
        return Measurement(case, runner, facts, [files / 1e6])

    points = [at("entries", "to_arrow", 10_000), at("entries", "to_arrow", 1_000_000)]
    main = [at("iceberg", "to_arrow", 100_000), at("iceberg", "duckdb", 100_000)]
    wide = [at("wide", "to_arrow", 2_000, 1_000), at("columns", "to_arrow", 2_000, 10)]
    results = Results(measurements=[*points, *main, *wide, at("iceberg", "to_arrow", 10_000)])
    assert results.select_curve("entries") == [*points, main[0]]
    assert results.select_curve("columns") == [wide[1], wide[0]]
    assert "to the power of 1.00 (R² 1.0000)" in report.render_report(results)


def test_a_first_step_is_taken_in_processes_of_their_own(grown: dict[str, Grown]) -> None:
    count = first_steps.Step("len(table.files)", "files", ("fastavro",))
    wrong = first_steps.Step("table.nothing")
    steps = (count, wrong)
    one, failed, peer = first_steps._measure_table(steps, grown["iceberg"], 1, None)
    assert (one.runner, len(one.cold), len(one.warm), one.found) == (
        "len(files)",
        1,
        3,
        {"files": FILES + 10},
    )
    assert one.peak is not None and one.warm[0] < one.cold[0]
    assert failed.unavailable is not None and "has no attribute 'nothing'" in failed.unavailable
    assert peer.runner == "fastavro" and list_disagreements([one, peer]) == []


def test_the_report_has_each_step_beside_to_arrow_another_checkout_and_peers() -> None:
    facts = {"format": "iceberg", "files": 100, "columns": 25, "snapshots": 0, "manifest_bytes": 1}
    results = Results(
        measurements=[
            Measurement("steps", first_steps.BASE, facts, [0.5], [1.5], 90_000_000),
            Measurement("steps", "len(files)", facts, [30.0], [31.0], checkout=first_steps.OTHER),
            Measurement("steps", "len(files)", facts, [0.25], [1.25], 80_000_000),
            Measurement("steps", "fastavro", facts, [7.5]),
        ]
    )
    lines = report.render_steps(results).splitlines()
    assert "| `len(files)` | 0.25 | 2.0× | 1.25 | 80 | 120.0× | fastavro 30.0× |" in lines
    assert "| `files.to_arrow()` | 0.50 |  | 1.50 | 90 |  |  |" in lines


def test_only_what_is_between_the_markers_is_written(tmp_path: Path) -> None:
    document = tmp_path / "README.md"
    document.write_text(f"# a\n\n{report.BEGIN}\nold\n{report.END}\n\n## b\n")
    report.write_between_markers(document, "new")
    report.write_between_markers(document, "newer")
    assert document.read_text() == f"# a\n\n{report.BEGIN}\nnewer\n{report.END}\n\n## b\n"
    for text in ("# a\n", f"{report.BEGIN}\n", f"{report.END}\n{report.BEGIN}\n"):
        document.write_text(text)
        with pytest.raises(ValueError, match="no <!-- benchmarks:begin"):
            report.write_between_markers(document, "new")
        assert document.read_text() == text


def test_parts_measure_with_runners_that_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pretend(case: str, runner: str, grown: Grown, **runs: Any) -> Measurement:
        assert runner in RUNNERS
        return Measurement(case, runner, grown.facts, warm=[1.0] * (runs.get("warm") or 0))

    def ask(step: first_steps.Step, path: Path, checkout: Path, warm: int) -> dict[str, Any]:
        return {"seconds": [1.0, 0.5], "elapsed": 1.5, "peak": 7, "found": 3}

    monkeypatch.setattr(parts, "measure", pretend)
    monkeypatch.setattr(first_steps, "measure", pretend)
    monkeypatch.setattr(first_steps, "_ask", ask)
    tables, tiny = Tables(tmp_path), parts.QUICK
    for name, run in parts.PARTS.items():
        measured = list(run(tables, tiny))
        assert measured and {one.case for one in measured} == {name}
