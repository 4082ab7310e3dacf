"""A check of tables that engines wrote finds no disagreement: every figure that it compares is the engine's own."""

from __future__ import annotations

from pathlib import Path

import pytest

import lakelens as ll
from lakelens.errors import Unsupported
from lakelens.opening import open_table
from tests.support import LAKES

# a clone of Delta has its files in the table that it was made of, which is not here
CLONED = LAKES / "delta/spark/cloned/table"
TABLES = sorted(path for path in LAKES.glob("*/**/table") if path.is_dir() and path != CLONED)
SAMPLES = [one.name for one in ll.sample()]
# what the engines record of their own tables that is not so, with the reason: a note, no difference
KNOWN = {
    # a draft, which is said once
    "spark/iceberg/v4-evolution": {"experimental-version"},
    "spark/iceberg/v4-types": {"experimental-version"},
    # data outside of the table's directory, as the table's own options say
    "paimon-java/1.4.2-external-paths": {"foreign-file"},
    "paimon-java/2.0.0-external-paths": {"foreign-file"},
    # the hint of the branch is copied: it says 2, and snapshot 1 of main is still there
    "paimon-java/2.0.0-fast-forward": {"stale-hint"},
    # deletes whose data files were rewritten stay until they are rewritten themselves
    "spark/iceberg/v2-rewrite-data-files": {"dangling-deletes"},
    "spark/iceberg/v2-position-deletes-untidy": {"dangling-deletes"},
    "spark/iceberg/v2-imported": {
        "total-files-size"
    },  # Spark's add_files appends manifests: no bytes are added up
    **{
        f"spark/hive/{name}": {"default-partition"}
        for name in ("partitioned-by-types", "partitioned", "partitioned-hive-format")
    },
}
# what whoever made the table has written on purpose, through the engine's library
PLANNED = {"spark/iceberg/v2-position-deletes-untidy": {"row-order", "unsorted-deletes", "repeated-deletes"}}
# a checkout of this repository has times of its own, and commits of Delta are dated by those of their files
DATED = {"modification-times"}
# text files say nothing of themselves, and nothing else describes them
SILENT = {"spark/hive/csv", "spark/hive/json", "spark/hive/text"}
# findings that reading such a table has anyway, whether it is checked or not
SEVERITIES = ("error", "warning")


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("path", TABLES, ids=lambda path: str(path.parent.relative_to(LAKES)))
def test_engine_written_tables_are_sound(path: Path) -> None:
    try:
        table = open_table(path)
    except Unsupported:
        return  # the view
    check = table.check(data=True)
    name = str(path.parent.relative_to(LAKES))
    planned = PLANNED.get(name, set())
    wrong = [one for one in check.findings if one.severity in SEVERITIES and one.code not in planned]
    assert not wrong, "\n".join(f"{found!r}: {found.message}" for found in wrong)
    assert bool(check.differ) == bool(planned)
    assert check.ok
    assert bool(check.compared) != (name in SILENT) or not len(table.files)
    assert {found.code for found in check.findings} - DATED == KNOWN.get(name, set()) | planned


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_sound(name: str) -> None:
    check = ll.sample(name).check()
    assert check.verdict == "sound", list(check.findings)
    assert repr(check).startswith(f"<Check of {check.name}: sound, ")
