"""Statements as runbooks have them: those that engines ran are read into the options that they were run with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.analysis.statement import read_statement
from lakelens.errors import LakeError
from lakelens.formats.delta.maintenance.procedures import PROCEDURES as OF_DELTA
from lakelens.formats.iceberg.maintenance.procedures import PROCEDURES as OF_ICEBERG
from lakelens.formats.paimon.maintenance.procedures import PROCEDURES as OF_PAIMON
from lakelens.model.maintenance import Procedure
from tests.support import LAKES
from tests.support.delta_runs import load_runs as load_delta_runs
from tests.support.maintenance import list_groups, load_runs

PARAMETERS = json.loads((LAKES / "maintenance" / "parameters.json").read_text("utf-8"))
KNOWN = {"iceberg": OF_ICEBERG, "paimon": OF_PAIMON, "delta": OF_DELTA}


def read(text: str, known: Mapping[str, Procedure] = OF_ICEBERG) -> tuple[Procedure, dict[str, Any]]:
    """Read a statement: the procedure that it runs, and what it gives, the table with it."""
    forms = {name: procedure.form for name, procedure in known.items() if procedure.form}
    statement = read_statement(text, forms)
    procedure = known[statement.procedure]
    return procedure, procedure.name_values(statement.values, statement.options)


def test_each_call_that_iceberg_ran_is_read_into_its_options() -> None:
    runs = [run.record for group in list_groups() for run in load_runs(group)]
    for record in runs:
        arguments = ", ".join(filter(None, ("table => 'lakes.t'", record["arguments"])))
        own, given = read(f"CALL iceberg.system.{record['procedure']}({arguments})")
        assert given.pop("table") == "lakes.t"
        assert own.name == record["procedure"]
        asked = {
            name: record["arguments"].split("'")[1] if name == "location" and "{" in str(value) else value
            for name, value in record["options"].items()
        }
        assert own.read_options(given) == own.read_options(asked), arguments
    assert len(runs) >= 60


def test_each_statement_that_delta_ran_is_read_into_its_options() -> None:
    runs = [run for run in load_delta_runs() if run.record["procedure"] != "checkpoint"]
    for run in runs:
        text = run.record["statement"].replace("{t}", "delta.`/lakes/t`")
        own, given = read(text, OF_DELTA)
        assert given.pop("table") == "delta.`/lakes/t`"
        assert own.name == run.record["procedure"]
        stated, asked = own.read_options(given), own.read_options(run.options)
        assert {name: asked[name] for name in stated} == stated, text
        # what the statement has no words for was a setting of the session
        assert set(asked) - set(stated) <= {"at", "min_file_size", "max_file_size", "max_deleted_rows_ratio"}
    assert len(runs) >= 100


@pytest.mark.parametrize("sample", sorted(KNOWN))
def test_a_plans_own_call_is_the_same_plan(sample: str) -> None:
    table = ll.sample(sample)
    calls = 0
    for name in table.procedures:
        try:
            plan = table.dry_run(name)
        except LakeError:
            continue  # it needs an option
        if plan.call.startswith("DeltaTable("):
            continue  # Python, and no statement
        again = table.dry_run(plan.call)
        assert (again.procedure, again.options) == (plan.procedure, plan.options)
        assert again.to_arrow().equals(plan.to_arrow())
        assert again.notes == plan.notes
        calls += 1
    assert calls >= 3


@pytest.mark.parametrize(
    ("sample", "name"), [(sample, name) for sample in PARAMETERS for name in PARAMETERS[sample]]
)
def test_values_without_names_are_in_the_engines_order(sample: str, name: str) -> None:
    procedure = KNOWN[sample][name]
    own = procedure.parameters or tuple(option.name for option in procedure.options)
    recorded = tuple(PARAMETERS[sample][name][1:])
    assert PARAMETERS[sample][name][0] == "table"
    if procedure.parameters:
        assert own == recorded
    else:  # beyond the engine's own there are options of a plan alone, as the engine whose rules count
        assert own[: len(recorded)] == recorded
        assert set(own[len(recorded) :]) <= {"engine", "at"}


def test_positions_names_lists_maps_and_times() -> None:
    _, given = read("call lake.system.expire_snapshots('db.t', timestamp '2024-03-01 00:00:00', 5);")
    assert given == {"table": "db.t", "older_than": "2024-03-01 00:00:00", "retain_last": 5}
    own, given = read(
        "CALL `my-lake`.system.rewrite_data_files(where => 'p = 1 AND s = \\'x\\'', table => \"t\", "
        "options => map('min-input-files', '2', 'rewrite-all', 'true')) -- every night"
    )
    assert given.pop("table") == "t"
    assert own.read_options(given) == {
        "where": "p = 1 AND s = 'x'",
        "min_input_files": 2,
        "rewrite_all": True,
    }
    _, given = read("CALL c.system.expire_snapshots(table => 't', snapshot_ids => ARRAY(-5L, 6))")
    assert given == {"table": "t", "snapshot_ids": [-5, 6]}
    own, given = read("CALL c.system.rewrite_data_files('t', options => map('delete-ratio-threshold', 0.25))")
    assert own.read_options({"options": given["options"]}) == {"delete_ratio_threshold": 0.25}


def test_a_map_of_options_is_taken_as_engines_take_it() -> None:
    table = ll.sample("iceberg")
    plan = table.dry_run("rewrite_data_files", options={"min-input-files": 2, "rewrite-all": "true"})
    assert plan.options == {"min_input_files": 2, "rewrite_all": True}
    with pytest.raises(LakeError, match="no option min-input-file"):
        table.dry_run("rewrite_data_files", options={"min-input-file": 2})


def test_what_is_given_beside_a_statement_comes_first() -> None:
    call = "CALL c.system.expire_snapshots(table => 'lakes.v3_merge_on_read', retain_last => 1)"
    assert ll.sample("iceberg").dry_run(call, retain_last=3).options == {"retain_last": 3}


def test_a_statement_about_another_table_says_so() -> None:
    table = ll.sample("iceberg")
    (note,) = set(table.dry_run("CALL c.system.rewrite_manifests('shop.orders')").notes) - set(
        table.dry_run("rewrite_manifests").notes
    )
    assert "shop.orders" in note and table.name in note
    own = table.dry_run("CALL c.system.rewrite_manifests('other.`v3_merge_on_read`')")
    assert own.notes == table.dry_run("rewrite_manifests").notes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("CALL c.system.expire_snapshots('t', older_than => now())", "older_than is no literal"),
        ("CALL c.system.expire_snapshots('t', 'a', 1, 1, true, ARRAY(1), true, 3)", "at most 7 values"),
        ("CALL c.system.expire_snapshots('t', retain_last => 1, retain_last => 2)", "retain_last twice"),
        ("CALL c.system.expire_snapshots('t', table => 'u')", "table twice"),
        ("CALL c.system.expire_snapshots('t'", "cannot be read"),
        ("CALL c.system.expire_snapshots", "no procedure with its values in brackets"),
        ("CALL c.system.expire_snapshots(map('a'))", "cannot be read"),
        ("CALL " + "(" * 5_000, "cannot be read"),
        ("CALL c.system.expire_snapshots('" + "x" * 30_000 + "')", "too long"),
        ("CALL c.system.expire_snapshots('t') FROM x", "no procedure with its values in brackets"),
        ("CALL c.system.expire_snapshots('t'); CALL c.system.expire_snapshots('u')", "cannot be read"),
        ("CALL c.system.expire_snapshots(retain_last => -'5')", "retain_last is no literal"),
        ("CALL SELECT 1", "cannot be read"),
        ("DROP TABLE t", "runs no procedure of this table"),
    ],
)
def test_what_is_no_statement_of_maintenance_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(LakeError, match=words):
        read(text)


def test_a_form_that_fits_no_command_lists_those_that_there_are() -> None:
    with pytest.raises(LakeError, match="OPTIMIZE <table>"):
        read("ANALYZE TABLE t", OF_DELTA)


def test_nothing_of_a_statement_is_run(tmp_path: Path) -> None:
    place = tmp_path / "delta"
    ll.samples.unpack_table("delta", tmp_path)
    before = sorted(path.name for path in place.rglob("*"))
    ll.open(str(place)).dry_run("VACUUM t RETAIN 0 HOURS").to_arrow()
    assert sorted(path.name for path in place.rglob("*")) == before
