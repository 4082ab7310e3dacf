"""Skeletons of every Delta table: nothing in clear, the same counts, the same answers, the same files skipped."""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.codecs.z85 import encode_z85
from lakelens.formats.delta.skeleton.documents import WORDS
from lakelens.model.table import Table
from tests.analysis.skeleton.states import compare_answers, count_parts, values_of
from tests.analysis.skeleton.test_secrets import Secrets, assert_nothing
from tests.formats.delta.test_log import METADATA, PROTOCOL, add, write_checkpoint, write_commit
from tests.support import LAKES
from tests.support.clear_text import Clear, unpack
from tests.support.unpacked import unpack_samples

# how engines call files, modes and themselves
_ENGINES = """
Append Overwrite ErrorIfExists Serializable WriteSerializable SnapshotIsolation snappy parquet liquid delta configuration
metadata _delta_log _last_checkpoint checkpoint _sidecars _change_data json crc bin deletion_vector nullable
elementType keyType valueType containsNull valueContainsNull delta.columnMapping.id delta.columnMapping.physicalName
delta.generationExpression delta.identity.start delta.identity.step delta.identity.highWaterMark delta.typeChanges
delta.identity.allowExplicitInsert CURRENT_DEFAULT EXISTS_DEFAULT __CHAR_VARCHAR_TYPE_STRING delta.invariants expression
delta.rowTracking delta.clustering clusteringColumns rowIdHighWaterMark timestamp inCommitTimestamp operation
operationParameters operationMetrics readVersion isolationLevel isBlindAppend engineInfo clientVersion txnId comment mode
v2Checkpoint sizeInBytes parts numOfAddFiles nonFileActions sidecarFiles delta.constraints
delta.rowTracking.materializedRowIdColumnName delta.rowTracking.materializedRowCommitVersionColumnName other
checksum varchar char tmp toType fromType tableVersion delta.typeChanges
"""
_VERSIONS = (
    "interval 0 seconds",
    "varchar(5)",
    "char(3)",
    "Apache-Spark/3.5.9 Delta-Lake/3.3.2",
    "Apache-Spark/4.0.0 Delta-Lake/4.0.0",
    "Apache-Spark/4.0.1 Delta-Lake/4.0.0",
    "delta-rs:py-1.6.2",
    "00000000-0000-0000-0000-000000000000",
)
_OPERATIONS = (
    *(
        "CREATE TABLE",
        "CREATE TABLE AS SELECT",
        "CREATE OR REPLACE TABLE AS SELECT",
        "ADD COLUMN",
        "ADD COLUMNS",
    ),
    *("ADD CONSTRAINT", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES", "RENAME COLUMN", "DROP COLUMNS"),
    *("CHANGE COLUMN", "CLUSTER BY", "REPLACE COLUMNS", "UPGRADE PROTOCOL"),
)
_PROPERTIES = [f"delta.{name}" for name in WORDS["properties"].split()]
VOCABULARY = (*_OPERATIONS, *_PROPERTIES, *_ENGINES.split(), *" ".join(WORDS.values()).split(), *_VERSIONS)
_TABLES = sorted(str(path) for path in (LAKES / "delta").glob("*/*/table"))
CASES = [*_TABLES, *(one.name for one in ll.sample() if one.name.startswith("delta"))]
counted: dict[str, int] = defaultdict(int)


def name_case(case: str) -> str:
    path = Path(case)
    return str(path.parent.relative_to(LAKES)) if path.is_absolute() else f"sample/{case}"


def list_vectors(table: Table) -> list[Any]:
    """The deleted rows of each file that has any, version by version."""
    return [
        sorted(
            (file.record_count or 0, list(match.positions))
            for file in snapshot.files
            for match in file.deletes
        )
        for snapshot in table.snapshots
    ]


def list_codes(table: Table) -> list[str]:
    """The codes of a check, without those of data files: a skeleton has none, and names all inside of it."""
    return sorted({one.code for one in table.check().findings} - {"missing", "file-missing", "foreign-file"})


@pytest.mark.parametrize("case", CASES, ids=name_case)
def test_nothing_in_clear_and_everything_else(case: str, tmp_path: Path) -> None:
    place = Path(case) if Path(case).is_absolute() else unpack_samples() / case
    table = ll.open(place)
    path = table.skeleton(tmp_path / "made", seed=1)
    copy = ll.open(path)
    clear = Clear(place, values_of(table), VOCABULARY)
    # positions of rows are no values: an inline vector stays what it is
    logs = "".join(path.read_text() for path in place.glob("_delta_log/*.json"))
    inline = "".join(re.findall(r'"storageType":"i","pathOrInlineDv":"([^"]+)"', logs))
    clear.texts = {text for text in clear.texts if text not in inline}
    assert clear.texts
    assert clear.search(unpack(Path(path))) == []
    assert count_parts(copy) == count_parts(table)
    assert [one.code for one in copy.findings] == [one.code for one in table.findings]
    assert list_vectors(copy) == list_vectors(table)
    assert list_codes(copy) == list_codes(table)
    compare_answers(table, copy, path, name_case(case), counted)


def test_as_many_predicates_were_compared_as_it_takes(request: pytest.FixtureRequest) -> None:
    ran = [item for item in request.session.items if item.name.startswith("test_nothing_in_clear")]
    if len(ran) < len(CASES):
        pytest.skip("only some of the tables were asked")
    print(dict(counted))
    assert counted["compared"] > 6 * len(CASES) and counted["refused"] < counted["compared"] // 10
    assert counted["skipped"] > counted["files"] // 5


_INLINE = "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"


def hide_in_schema(hide: Secrets) -> str:
    """A schema with a secret in every place that holds text."""
    inner = {
        "type": "struct",
        "fields": [{"name": hide("inner"), "type": hide("type"), "nullable": True, "metadata": {}}],
    }
    metadata = {
        "comment": hide("comment"),
        "delta.columnMapping.physicalName": hide("physical"),
        "delta.generationExpression": hide("expression"),
        "CURRENT_DEFAULT": hide("default"),
        "__CHAR_VARCHAR_TYPE_STRING": hide("char"),
        "delta.typeChanges": [{"toType": hide("to"), "fromType": "integer", hide("key"): hide("value")}],
        hide("key"): hide("value"),
    }
    kinds: list[Any] = [
        "string",
        "long",
        "timestamp",
        "binary",
        inner,
        {"type": "array", "elementType": inner},
    ]
    kinds.append(
        {"type": "map", "keyType": hide("key type"), "valueType": "string", hide("key"): hide("value")}
    )
    fields = [
        {
            "name": hide("name"),
            "type": kind,
            "nullable": True,
            "metadata": metadata,
            hide("key"): hide("value"),
        }
        for kind in kinds
    ]
    listed = json.loads(METADATA["metaData"]["schemaString"])["fields"]
    return json.dumps({"type": "struct", "fields": [*listed, *fields], hide("key"): hide("value")})


def hide_in_file(hide: Secrets, path: str) -> dict[str, Any]:
    """Fields of a file action with secrets."""
    bounds = {
        "id": hide("number"),
        "p": hide("text"),
        hide("unknown"): hide("value"),
        hide("struct"): {"a": hide("deep")},
    }
    stats = {
        "numRecords": 3,
        "tightBounds": hide("tight"),
        "minValues": bounds,
        "maxValues": bounds,
        "nullCount": bounds,
    }
    return {
        "path": path,
        "partitionValues": {"p": hide("partition"), hide("column"): hide("value")},
        "stats": json.dumps({**stats, hide("key"): hide("value")}),
        "tags": {hide("tag"): hide("value")},
        "clusteringProvider": hide("provider"),
        "size": 7,
        "modificationTime": hide("time"),
        "dataChange": True,
        hide("key"): hide("value"),
    }


def build_table(root: Path, hide: Secrets) -> Path:
    """A table whose log has a secret wherever text may be."""
    metadata = {
        **METADATA["metaData"],
        "id": hide("id"),
        "name": hide("name"),
        "description": hide("description"),
        "schemaString": hide_in_schema(hide),
        "format": {"provider": hide("provider"), "options": {hide("option"): hide("value")}},
        "configuration": {
            hide("property"): hide("value"),
            "delta.columnMapping.mode": "name",
            "delta.checkpointInterval": hide("interval"),
            f"delta.constraints.{hide('constraint')}": hide("expression"),
            "delta.dataSkippingStatsColumns": f"id,{hide('column')}.{hide('inner')}",
            "delta.rowTracking.materializedRowIdColumnName": hide("row id"),
        },
        hide("key"): hide("value"),
    }
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["deletionVectors", hide("feature")],
        "writerFeatures": ["deletionVectors", hide("feature")],
        hide("key"): hide("value"),
    }
    info = {
        "timestamp": 5,
        "operation": hide("operation"),
        "operationParameters": {
            hide("parameter"): hide("value"),
            "mode": hide("mode"),
            "predicate": hide("predicate"),
        },
        "operationMetrics": {hide("metric"): hide("value"), "numFiles": hide("number")},
        "engineInfo": f"Apache-Spark/3.5.9 {hide('engine')}",
        "isolationLevel": hide("level"),
        **{name: hide(name) for name in ("txnId", "userId", "userName", "userMetadata", "clusterId")},
        "notebook": {"notebookId": hide("notebook")},
        "tags": {hide("tag"): hide("value")},
    }
    inline = {"storageType": "i", "pathOrInlineDv": _INLINE, "sizeInBytes": 40, "cardinality": 6}
    outside = {
        "storageType": "p",
        "pathOrInlineDv": f"s3://{hide('bucket')}/{hide('path')}.bin",
        "sizeInBytes": 9,
        "cardinality": 1,
    }
    prefixed = {
        "storageType": "u",
        "pathOrInlineDv": f"{hide('prefix')}{encode_z85(bytes(16))}",
        "sizeInBytes": 9,
        "cardinality": 1,
    }
    broken = {"storageType": hide("type"), "pathOrInlineDv": hide("text"), hide("key"): hide("value")}
    lied = {**inline, "pathOrInlineDv": "hush0hush1" * 5}
    vectors = (inline, outside, prefixed, broken, lied)
    write_commit(
        root,
        0,
        {"protocol": protocol},
        {"metaData": metadata},
        {"commitInfo": info},
        {hide("kind"): {hide("k"): hide("v")}},
    )
    paths = (
        f"a/{hide('file')}.parquet",
        f"{hide('scheme')}://{hide('host')}/{hide('file')}",
        f"/{hide('absolute')}",
        f"x.{hide('ending')}",
        "b",
    )
    files = [
        hide_in_file(hide, path) | {"deletionVector": vector}
        for path, vector in zip(paths, vectors, strict=True)
    ]
    domain = {"domain": hide("domain"), "configuration": json.dumps({hide("k"): hide("v")}), "removed": False}
    clustered = {
        "domain": "delta.clustering",
        "configuration": json.dumps({"clusteringColumns": [[hide("column")]]}),
        "removed": False,
    }
    write_commit(
        root,
        1,
        *({"add": file} for file in files),
        {"remove": hide_in_file(hide, hide("gone"))},
        {"cdc": hide_in_file(hide, f"_change_data/{hide('changed')}")},
        {"txn": {"appId": hide("app"), "version": 3, hide("key"): hide("value")}},
        {"domainMetadata": domain},
        {"domainMetadata": clustered},
    )
    (root / "_delta_log/00000000000000000002.json").write_text(
        f'{hide("damage")}\n{{"add": "{hide("no object")}"}}\n'
    )
    checksum = {
        "metadata": metadata,
        "protocol": protocol,
        "txnId": hide("txn"),
        hide("key"): hide("value"),
        "allFiles": files,
    }
    (root / "_delta_log/00000000000000000001.crc").write_text(json.dumps(checksum))
    stored = [PROTOCOL, METADATA, add(f"{hide('stored')}", stats=hide("no JSON"))]
    write_checkpoint(root, 1, stored, f"{1:020}.checkpoint.{hide('name')}.parquet")
    write_checkpoint(root, 1, stored, f"_sidecars/{hide('sidecar')}.parquet")
    hint = {
        "version": 1,
        "size": 3,
        "checksum": hide("checksum"),
        "checkpointSchema": {hide("key"): hide("value")},
    }
    (root / "_delta_log/_last_checkpoint").write_text(json.dumps(hint))
    staged = root / f"_delta_log/_staged_commits/{3:020}.{hide('staged')}.json"
    staged.parent.mkdir()
    staged.write_text(json.dumps({"commitInfo": info}))
    (root / "_delta_log" / hide("other")).write_text(hide("other"))
    return root


def test_no_secret_of_a_delta_table_is_copied(tmp_path: Path) -> None:
    hide = Secrets()
    table = ll.open(build_table(tmp_path / "table", hide))
    assert hide.count > 180
    path = table.skeleton(tmp_path / "made")
    assert_nothing(path)
    copy = ll.open(path)
    assert [one.id for one in copy.snapshots] == [one.id for one in table.snapshots]
    assert len(copy.files) == len(table.files)
    assert not any("hush" in one.message for one in path.findings)


def test_the_same_seed_is_the_same_skeleton_and_it_can_be_made_again(tmp_path: Path) -> None:
    table = ll.open(LAKES / "delta/spark/v2-checkpoints/table")
    made = [table.skeleton(tmp_path / f"{n}", seed=seed) for n, seed in enumerate((1, 1, 2))]
    first, second, third = (unpack(Path(path)) for path in made)
    assert first == second != third
    again = ll.open(ll.open(made[0]).skeleton(tmp_path / "again", seed=3))
    assert count_parts(again) == count_parts(table) and list_codes(again) == list_codes(table)


def test_a_choice_is_kept(tmp_path: Path) -> None:
    table = ll.sample("delta")
    named = ll.open(table.skeleton(tmp_path / "named", keep=("names",)))
    assert named.schema.names == table.schema.names
    valued = ll.open(table.skeleton(tmp_path / "valued", keep=("values", "names", "properties")))
    kept, changed, whole = (
        [[str(bound) for bound in file.bounds.values()] for file in one.files]
        for one in (valued, named, table)
    )
    assert kept == whole != changed
    assert dict(valued.properties) == dict(table.properties)


def spoil_count(lines: list[dict[str, Any]]) -> None:
    """A vector's descriptor counts one row more than the vector deletes."""
    for line in lines:
        if "deletionVector" in line.get("add", {}):
            line["add"]["deletionVector"]["cardinality"] += 1


def repeat_add(lines: list[dict[str, Any]]) -> None:
    """Each file is added twice."""
    lines += [line for line in lines if "add" in line]


def has_code(path: str, code: str) -> bool:
    table = ll.open(path)
    list_vectors(table)
    return any(one.code == code for one in table.findings)


@pytest.mark.parametrize(
    ("spoil", "code"), [(spoil_count, "vector-cardinality"), (repeat_add, "repeated-add")]
)
def test_a_planted_fault_is_small(spoil: Any, code: str, tmp_path: Path) -> None:
    copied = tmp_path / "table"
    shutil.copytree(LAKES / "delta/spark/vectors/table", copied)
    for path in (copied / "_delta_log").glob("*.json"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        spoil(lines)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert has_code(str(copied), code)
    made = ll.minimize(ll.open(copied), lambda path: has_code(path, code), tmp_path / "smallest", tries=200)
    print(code, made.size_bytes)
    assert has_code(made, code) and made.size_bytes < 6_000
    assert len(ll.open(made).files) <= 1
