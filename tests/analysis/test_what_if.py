"""`what_if`: what is foretold of a layout beside what Spark did, the rules that it follows, and what it refuses to say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lakelens as ll
from lakelens.analysis.explain.judgement import REASONS
from lakelens.analysis.layout.curves import number_values, order_hilbert, order_zorder
from lakelens.analysis.layout.known import make_column
from lakelens.analysis.layout.wanted import read_layout, read_size
from lakelens.errors import LakeError, Missing, Unsupported
from lakelens.opening import open_table
from tests.support.unpacked import unpack_archive

LAKES = Path(__file__).parents[1] / "lakes" / "layouts"
DEEDS: dict[str, Any] = json.loads((LAKES / "deeds.json").read_text("utf-8"))
#: Of Delta, whose tables a number drew.
OPTIMIZED: dict[str, Any] = json.loads((LAKES / "optimized.json").read_text("utf-8"))
#: Made after the rules were, with row groups.
LATER: dict[str, Any] = json.loads((LAKES / "planted.json").read_text("utf-8"))

#: Statements that arrange a part of a table.
PARTS: dict[str, Any] = json.loads((LAKES / "parts.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the tables as they were before."""
    place = tmp_path_factory.mktemp("layouts")
    unpack_archive(LAKES / "planted.tar.xz", place)
    unpack_archive(LAKES / "optimized.tar.xz", place)
    return unpack_archive(LAKES / "tables.tar.xz", place)


FORETOLD: dict[tuple[str, int | None], Any] = {}


def foretell(lakes: Path, name: str, sample: int | None) -> Any:
    """Foretell a deed from the table before it, once."""
    deed, known = {**DEEDS, **LATER, **OPTIMIZED, **PARTS}[name], (name, sample)
    if known not in FORETOLD:
        statement = deed["layout"].get("statement")
        layout = statement.format(table="t", full="t") if statement else ll.Layout(**deed["layout"])
        FORETOLD[known] = open_table(lakes / deed["table"]).what_if(
            layout, list(deed["reads"]), sample=sample, row_groups=name in {**LATER, **PARTS}
        )
    return FORETOLD[known]


def count_hits(foretold: Any, deed: Any) -> int:
    """Count the predicates whose files and bytes are within 10 %, or a file, of what `explain` says after the deed."""
    mean = deed["outputs"][1] / deed["outputs"][0]
    hits = 0
    for row in foretold.predicates:
        files, size, *_ = deed["reads"][row.predicate]
        is_near = abs(row.then_files - files) <= max(1, 0.1 * files)
        hits += is_near and abs(row.then_bytes - size) <= max(mean, 0.1 * size)
    return hits


def test_what_is_foretold_is_what_spark_did(lakes: Path) -> None:
    assert len(DEEDS) == 33 and all(len(deed["reads"]) == 10 for deed in DEEDS.values())
    hits = {name: count_hits(foretell(lakes, name, 100_000), deed) for name, deed in DEEDS.items()}
    assert sum(hits.values()) >= 297, hits  # nine of ten; the last 13 layouts were made after the rules were
    assert min(hits.values()) >= 6, hits


def test_what_is_foretold_of_other_tables_is_what_spark_did(lakes: Path) -> None:
    assert all(len(deed["reads"]) == 10 for deed in LATER.values())
    hits = {name: count_hits(foretell(lakes, name, 100_000), deed) for name, deed in LATER.items()}
    assert sum(hits.values()) >= 0.9 * 10 * len(LATER), hits


def test_what_is_foretold_of_delta_is_what_optimize_did(lakes: Path) -> None:
    assert len(OPTIMIZED) == 18 and all(len(deed["reads"]) == 10 for deed in OPTIMIZED.values())
    hits = {name: count_hits(foretell(lakes, name, 100_000), deed) for name, deed in OPTIMIZED.items()}
    assert sum(hits.values()) >= 0.9 * 10 * len(OPTIMIZED), hits


def test_what_is_foretold_of_a_part_is_what_spark_did(lakes: Path) -> None:
    """Predicates, files that come out and row groups; what stays as it is counts as today."""
    assert len(PARTS) == 19 and all(len(deed["reads"]) == 10 for deed in PARTS.values())
    hits = {name: count_hits(foretell(lakes, name, 100_000), deed) for name, deed in PARTS.items()}
    assert sum(hits.values()) >= 0.95 * 10 * len(PARTS), hits
    near = asked = 0
    for name, deed in PARTS.items():
        answer, table = foretell(lakes, name, 100_000), open_table(lakes / deed["table"])
        plan = table.dry_run(deed["layout"]["statement"].format(table="t", full="t"))
        assert answer.rewritten_files == len(plan.reads) and answer.files == len(table.files)
        assert answer.rewritten_bytes == sum(file.size_bytes for file in plan.reads)
        assert abs(answer.then_files - deed["outputs"][0]) <= 1, name
        assert answer.then_files == answer.files - answer.rewritten_files + answer.made_files
        assert answer.sampled_files == answer.rewritten_files
        for row in answer.predicates:
            groups = deed["reads"][row.predicate][2]
            near, asked = near + (abs(row.then_row_groups - groups) <= max(1, 0.1 * groups)), asked + 1
    assert near >= 0.95 * asked, (near, asked)


def test_what_stays_as_it_is_reads_as_today(lakes: Path) -> None:
    name = next(name for name in PARTS if name.startswith("sales: user_id ASC NULLS LAST of ts >="))
    answer = foretell(lakes, name, 100_000)
    assert (answer.rewritten_files, answer.files) == (14, 24)
    days = next(row for row in answer.predicates if row.predicate.startswith("ts < '2026-01-02"))
    assert (days.then_files, days.then_bytes) == (days.files, days.size_bytes)
    (said,) = [line for line in answer.assumptions if "laid out again" in line]
    assert said == "14 of 24 files are laid out again; the others stay as they are"
    assert ", of 14 of 24 files" in str(answer) and "10 files more as today" in str(answer)
    (call,) = answer.calls
    again = open_table(lakes / "sales").what_if(
        call.replace("<catalog>", "lake"), [days.predicate], sample=100
    )
    assert again.rewritten_files == 14


def test_a_part_without_files_reads_as_today(lakes: Path) -> None:
    name = next(name for name in PARTS if name.endswith("of all that are not of 20000"))
    for sample in (None, 4_000):
        answer = foretell(lakes, name, sample)
        assert answer.rewritten_files == answer.made_files == 0 and answer.then_bytes == answer.today_bytes
        assert {row.known_by for row in answer.predicates} == {"nothing is laid out again"}
        assert all(row.then_row_groups == row.row_groups for row in answer.predicates)


def test_a_part_that_an_engine_refuses_is_refused(lakes: Path) -> None:
    compact = "CALL sys.compact(table => 't', order_strategy => 'order', order_by => 'user_id', %s)"
    for folder, statement in (
        ("visits", compact % 'where => "amount > 5"'),
        ("visits", compact % "where => \"dt = '1'\", partitions => \"dt='1'\""),
        ("visits", compact.replace("user_id", "dt") % "full => true"),
        ("optimized_1", "OPTIMIZE t WHERE score > 5 ZORDER BY (customer)"),
        ("optimized_1", "OPTIMIZE t WHERE team = 'team-01' ZORDER BY (team)"),
        (
            "sales",
            "CALL lake.system.rewrite_data_files(table => 't', strategy => 'sort', sort_order => 'id', branch => 'b')",
        ),
    ):
        with pytest.raises(LakeError):
            open_table(lakes / folder).what_if(statement, ["id = 5"], sample=100)


def test_a_statement_is_read_whatever_space_follows_its_verb(lakes: Path) -> None:
    table = open_table(lakes / "optimized_0")
    said = table.what_if("\nOPTIMIZE\n  lake.t\nZORDER BY (weight, account)", "weight = 5", sample=1_000)
    assert said.layout == ll.Layout(zorder_by=("weight", "account"))


def test_row_groups_are_what_spark_wrote(lakes: Path) -> None:
    """Within a tenth, or as many as a file has, in nine of ten; requests are two for each file more."""
    hits = asked = 0
    for name, deed in LATER.items():
        slack = max(1, deed["outputs"][2] / deed["outputs"][0])
        for row in foretell(lakes, name, 100_000).predicates:
            groups = deed["reads"][row.predicate][2]
            hits, asked = hits + (abs(row.then_row_groups - groups) <= max(slack, 0.1 * groups)), asked + 1
            assert row.then_requests == 2 * row.then_files + row.then_row_groups
    assert hits >= 0.9 * asked, (hits, asked)
    for deed in LATER.values():
        if deed["table"] == "scans":  # the one whose files have several
            assert deed["outputs"][2] > 5 * deed["outputs"][0]


def test_a_fifth_of_the_rows_foretells_as_much(lakes: Path) -> None:
    foretold = {name: foretell(lakes, name, 4_000) for name in DEEDS}
    assert all(3_900 < answer.sampled_rows <= 4_000 and not answer.is_whole for answer in foretold.values())
    hits = {name: count_hits(answer, DEEDS[name]) for name, answer in foretold.items()}
    assert sum(hits.values()) >= 290, hits


def test_files_that_come_out_are_as_many_as_came_out(lakes: Path) -> None:
    counts = [(foretell(lakes, name, 100_000).then_files, deed["outputs"][0]) for name, deed in DEEDS.items()]
    assert all(abs(then - done) <= 1 for then, done in counts), counts


@pytest.mark.parametrize("sample", [1_000, 2_000, 4_000])
def test_the_limits_of_a_sample_hold(lakes: Path, sample: int) -> None:
    """Of 20,000 rows a part is read: Spark reads no more files than `most_files`, and the one by which it ends otherwise."""
    held = [
        deed["reads"][row.predicate][0] <= row.most_files + 1
        for name, deed in DEEDS.items()
        for row in foretell(lakes, name, sample).predicates
    ]
    assert sum(held) >= 313, sum(held)  # 95 of 100


def test_a_small_sample_is_called_small(lakes: Path) -> None:
    said = [
        line
        for line in foretell(lakes, "events: sort user_id", 1_000).assumptions
        if "rows are known" in line
    ]
    assert said == ["of each new file about 35 rows are known; of fewer than 30 its bounds say little"]
    assert not any(
        "rows are known" in line for line in foretell(lakes, "events: sort user_id", 100_000).assumptions
    )


def test_today_is_what_explain_says(lakes: Path) -> None:
    for folder in ("events", "sales", "clicks", "visits"):
        name = next(name for name, deed in DEEDS.items() if deed["table"] == folder)
        table = open_table(lakes / folder)
        for row in foretell(lakes, name, 100_000).predicates:
            explained = table.explain(row.predicate)
            assert (row.files, row.size_bytes) == (len(explained.kept), explained.size_bytes)


def test_row_groups_of_today_are_those_that_footers_leave(lakes: Path) -> None:
    name = next(name for name, deed in LATER.items() if deed["table"] == "scans")
    table = open_table(lakes / "scans")
    for row in foretell(lakes, name, 100_000).predicates:
        reasons = [
            code
            for read in table.explain(row.predicate, row_groups=True).row_groups
            for code in read.judgement.reason
        ]
        left = [code < 0 or REASONS[code] in ("dictionary", "bloom") for code in reasons]
        assert (row.row_groups, row.requests) == (sum(left), 2 * row.files + sum(left))
    assert any(row.row_groups > row.files for row in foretell(lakes, name, 100_000).predicates)


def test_row_groups_that_are_not_known_are_called_so(lakes: Path) -> None:
    table = open_table(lakes / "scans")
    answer = table.what_if("sort by item", ["item = 5"], sample=20, row_groups=True)
    (row,) = answer.predicates
    assert row.then_row_groups is None and row.then_requests is None and row.row_groups
    assert "not known" in str(answer)
    without = table.what_if("sort by item", ["item = 5"], sample=100_000).predicates[0]
    assert without.row_groups is None and without.then_row_groups is None


def test_bounds_that_are_too_wide_say_nothing_and_are_called_so(lakes: Path) -> None:
    answer = open_table(lakes / "events").what_if(ll.Layout(sort_by="user_id"), ["user_id = 5"])
    assert answer.then_bytes is None and answer.then_files is None
    assert "too wide" in answer.refusal and "user_id" in answer.refusal and "sample" in answer.refusal
    assert "Cannot be foretold" in str(answer)


def test_narrow_bounds_foretell_without_a_row(lakes: Path) -> None:
    table = open_table(lakes / "events")
    layout = ll.Layout(sort_by="ts", target_file_size=32_768)
    from_bounds = table.what_if(layout, ["ts < '2026-01-02 00:00:00'"])
    from_rows = table.what_if(layout, ["ts < '2026-01-02 00:00:00'"], sample=100_000)
    assert from_bounds.source == "bounds" and not from_bounds.refusal
    (bounds,), (rows,) = from_bounds.predicates, from_rows.predicates
    assert abs(bounds.then_files - rows.then_files) <= 1


def test_bounds_alone_hide_no_file_that_spark_wrote(lakes: Path) -> None:
    """A column whose bounds are wide rules nothing out of files that are ordered by another."""
    for name in ("events: sort ts", "sales: sort ts", "clicks: order ts", "visits: order ts"):
        answer = foretell(lakes, name, None)
        assert answer.source == "bounds" and "user_id" in answer.wide
        for row in answer.predicates:
            assert row.then_files >= DEEDS[name]["reads"][row.predicate][0] - 1, (name, row)


def test_a_predicate_that_loses_is_counted_and_marked() -> None:
    answer = ll.sample("iceberg").what_if(ll.Layout(sort_by="name"), {"id = 3": 7}, sample=100)
    assert answer.losers == 1 and answer.asked == 7
    assert answer.today_bytes == 7 * answer.predicates[0].size_bytes
    assert "READS MORE" in str(answer)


def test_what_a_layout_says_is_read_and_refused() -> None:
    assert read_size("1.5 MiB") == 3 << 19
    table = ll.sample("iceberg")
    for given, kind in (
        ({}, LakeError),
        ({"sort_by": 5}, LakeError),
        ({"sort_by": [5]}, LakeError),
        ({"sort_by": "id", "zorder_by": ("id", "name")}, LakeError),
        ({"zorder_by": "id"}, LakeError),
        ({"sort_by": "no such"}, Missing),
        ({"partition_by": "bucket(id)"}, LakeError),
        ({"partition_by": "median(id)"}, LakeError),
        ({"hilbert_by": ("id", "name")}, Unsupported),
        ({"sort_by": "id", "target_file_size": "big"}, LakeError),
    ):
        with pytest.raises(kind):
            table.what_if(ll.Layout(**given), ["id = 3"], sample=10)  # type: ignore[arg-type]
    with pytest.raises(Unsupported, match="hive"):
        ll.sample("hive").what_if(ll.Layout(sort_by="id"), ["id = 3"])
    with pytest.raises(LakeError, match="predicate"):
        table.what_if(ll.Layout(sort_by="id"), [])


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("sort by id", {"sort_by": "id"}),
        ("Z-order by id, name", {"zorder_by": ("id", "name")}),
        ("hilbert by id, name", {"hilbert_by": ("id", "name")}),
        ("partition by bucket(4, id)", {"partition_by": "bucket(4, id)"}),
        ("sort by id without partitions", {"sort_by": "id", "partition_by": ()}),
        (
            "sort by id desc, name inside of each bucket(4, id), p, in files of 1 MiB",
            {
                "sort_by": ("id desc", "name"),
                "partition_by": ("bucket(4, id)", "p"),
                "target_file_size": 1 << 20,
            },
        ),
    ],
)
def test_a_layout_is_read_as_it_prints_itself(text: str, given: dict[str, Any]) -> None:
    assert read_layout(text) == ll.Layout(**given) == read_layout(str(ll.Layout(**given)))


def test_a_statement_of_a_runbook_is_a_layout(lakes: Path) -> None:
    asked = ["user_id = 1250"]
    for folder in ("events", "clicks"):
        table = open_table(lakes / folder)
        for layout in (ll.Layout(sort_by="user_id"), ll.Layout(zorder_by=("user_id", "ts"))):
            answer = table.what_if(layout, asked, sample=100_000)
            (call,) = [call for call in answer.calls if call.startswith("CALL")]
            for statement in (call, call.replace("<catalog>", "lake").replace("\n", " ") + ";"):
                again = table.what_if(statement, asked, sample=100_000)
                assert (again.layout, again.then_bytes) == (answer.layout, answer.then_bytes)
    sized = "call lake.system.rewrite_data_files('t', 'sort', 'zorder(id, name)', map('target-file-size-bytes', '4096'))"
    said = ll.sample("iceberg").what_if(sized, "id = 3", sample=100).layout
    assert said == ll.Layout(zorder_by=("id", "name"), target_file_size=4096)
    for text, kind in (
        ("CALL lake.system.rewrite_data_files('t')", LakeError),
        ("CALL lake.system.expire_snapshots('t')", LakeError),
        (sized[:-1] + ", where => 'no_such > 5')", Missing),
        ("CALL lake.system.rewrite_data_files(", LakeError),
        ("by id", LakeError),
        (5, LakeError),
    ):
        with pytest.raises(kind):
            ll.sample("iceberg").what_if(text, "id = 3")  # type: ignore[arg-type]


def test_the_calls_say_the_layout() -> None:
    layout = ll.Layout(partition_by="bucket(4, id)", sort_by="id desc", target_file_size="1 MiB")
    calls = ll.sample("iceberg").what_if(layout, ["id = 3"], sample=100).calls
    assert any("ADD PARTITION FIELD bucket(4, id)" in call for call in calls)
    assert any("sort_order => 'id DESC NULLS LAST'" in call and "'1048576'" in call for call in calls)


def test_a_z_order_lets_bits_take_turns() -> None:
    values = [(x, y) for x in range(8) for y in range(8)]
    columns = [make_column(pa.array([pair[place] for pair in values], pa.int32())) for place in (0, 1)]
    order = np.lexsort(order_zorder(columns)[::-1])
    interleaved = [
        sum((x >> b & 1) << 2 * b + 1 | (y >> b & 1) << 2 * b for b in range(3)) for x, y in values
    ]
    assert order.tolist() == np.argsort(interleaved).tolist()


@pytest.mark.parametrize("count", [2, 3])
def test_neighbours_on_hilberts_curve_are_neighbours(count: int) -> None:
    places = np.stack(np.meshgrid(*[np.arange(8)] * count, indexing="ij"), -1).reshape(-1, count)
    columns = [make_column(pa.array(places[:, axis])) for axis in range(count)]
    order = np.lexsort(order_hilbert(columns)[::-1])
    steps = np.abs(np.diff(places[order], axis=0)).sum(1)
    assert set(steps.tolist()) == {1}


def test_numbers_of_values_keep_their_order() -> None:
    for values in (
        pa.array([-(2**63), -1, 0, 5, 2**63 - 1]),
        pa.array([-1e300, -1.5, -0.0, 2.5, float("inf")]),
        pa.array([-5, 0, 9], pa.date32()),
        pa.array([-5_000_000, 0, 9_000_000], pa.timestamp("us")),
        pa.array(["", "a", "ab", "b"]),
    ):
        numbers = number_values(values, "s").tolist()
        assert numbers == sorted(numbers) and len(set(numbers)) == len(numbers)
