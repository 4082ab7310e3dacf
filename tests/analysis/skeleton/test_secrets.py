"""A secret in every place of a table's documents that holds text or bytes: none of them is in the skeleton."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import fastavro
import pytest

import lakelens as ll
from lakelens.errors import LakeError
from tests.support.clear_text import unpack
from tests.support.iceberg_builder import SCHEMA, Builder, avro_field
from tests.support.rewriting import rewrite_avro, rewrite_document
from tests.support.unpacked import unpack_samples

_WORD = "hush"


class Secrets:
    """Numbers the places: each secret says where it was."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, place: str) -> str:
        self.count += 1
        return f"{_WORD}{self.count}{place.replace(' ', '')}"


def assert_nothing(path: str) -> None:
    found = [
        (name, data[max(0, at - 40) : at + 40])
        for name, data in ((name, name.encode() + data) for name, data in unpack(Path(path)).items())
        if (at := data.find(_WORD.encode())) >= 0
    ]
    assert found == []


def build_schema(hide: Secrets) -> dict[str, Any]:
    kinds = ["string", "binary", "decimal(9, 2)", "timestamp", f"geometry({hide('crs')})", hide("type")]
    fields = [
        {
            "id": 10 + n,
            "name": hide("name"),
            "required": False,
            "type": kind,
            "doc": hide("doc"),
            hide("key"): 1,
        }
        for n, kind in enumerate(kinds)
    ]
    inner = {
        "type": "struct",
        "fields": [{"id": 31, "name": hide("nested"), "required": False, "type": "int"}],
    }
    fields.append({"id": 30, "name": hide("struct"), "required": False, "type": inner})
    fields[0]["initial-default"] = fields[0]["write-default"] = hide("default")
    return {**SCHEMA, "fields": [*SCHEMA["fields"], *fields], hide("schema key"): hide("schema value")}


def build_table(root: Path, hide: Secrets, version: int) -> Path:
    location = f"file:/{hide('location')}/t"
    specs = [
        {
            "spec-id": 0,
            "fields": [
                {"name": hide("part"), "source-id": 10, "field-id": 1000, "transform": "identity"},
                {"name": hide("odd"), "source-id": 11, "field-id": 1001, "transform": hide("transform")},
            ],
        }
    ]
    builder = Builder(root, version, location, specs)
    partition = [avro_field("hush_a", 1000, "string"), avro_field("hush_b", 1001, "bytes")]
    bounds = [
        {"key": 10, "value": hide("bound").encode()},
        {"key": 99, "value": hide("unknown column").encode()},
    ]
    bounds += [
        {"key": 13, "value": hide("wrong width").encode()},
        {"key": 15, "value": hide("odd type").encode()},
    ]
    file = builder.data_file(
        f"data/{hide('file')}.parquet",
        partition={"hush_a": hide("value"), "hush_b": hide("value").encode()},
        lower_bounds=bounds,
        upper_bounds=bounds,
        referenced_data_file=hide("reference"),
    )
    header = {
        "schema": json.dumps(build_schema(hide)),
        "partition-spec": json.dumps(specs[0]["fields"]),
        "partition-spec-id": "0",
        "format-version": hide("version"),
        "content": "data",
        hide("header key"): hide("header value"),
    }
    summary = {
        "contains_null": False,
        "lower_bound": hide("low").encode(),
        "upper_bound": hide("up").encode(),
    }
    line = {"partitions": [summary, summary]}
    builder.snapshot(
        [builder.manifest([file], partition=partition, header=header, line=line)],
        summary={
            "operation": hide("operation"),
            hide("summary"): hide("value"),
            "app-name": hide("app"),
            "total-records": hide("figure"),
            f"partitions.{hide('path')}": hide("figures"),
        },
        key_id=hide("key id"),
    )
    schema = build_schema(hide)
    builder.write_metadata(
        schemas=[schema],
        schema=schema,
        properties={
            hide("property"): hide("value"),
            "write.format.default": hide("format"),
            "write.data.path": f"/{hide('path')}",
            f"write.metadata.metrics.column.{hide('column')}": "full",
            "schema.name-mapping.default": json.dumps([{"field-id": 10, "names": [hide("mapped")]}]),
        },
        refs={
            hide("branch"): {"type": "branch", "snapshot-id": builder.snapshots[-1]["snapshot-id"]},
            hide("tag"): {"type": "tag", "snapshot-id": 7, hide("k"): hide("v")},
        },
        sort_orders=[
            {
                "order-id": 1,
                "fields": [
                    {
                        "transform": hide("transform"),
                        "source-id": 1,
                        "direction": hide("dir"),
                        "null-order": hide("null"),
                    }
                ],
            }
        ],
        encryption_keys=[{"key-id": hide("id"), "encrypted-key-metadata": hide("key"), "properties": {}}],
        statistics=[
            {
                "snapshot-id": 1,
                "statistics-path": hide("stats"),
                "file-size-in-bytes": 1,
                "file-footer-size-in-bytes": 1,
                "blob-metadata": [],
            }
        ],
        metadata_log=[{"timestamp-ms": 1, "metadata-file": f"/{hide('log')}/v0.metadata.json"}],
        **{hide("unknown"): {hide("unknown"): hide("unknown")}},
    )
    return root


@pytest.mark.parametrize("version", [1, 2, 3])
def test_no_secret_of_an_iceberg_table_is_copied(version: int, tmp_path: Path) -> None:
    hide = Secrets()
    table = ll.open(build_table(tmp_path / "table", hide, version))
    assert hide.count > 80
    path = table.skeleton(tmp_path / "made")
    assert_nothing(path)
    copy = ll.open(path)
    assert len(copy.snapshots) == len(table.snapshots) and len(copy.files) == len(table.files) == 1
    assert not any(_WORD in one.message for one in path.findings)


def add_field(path: Path, name: str, value: str) -> None:
    """A field that Iceberg does not have, in every record of an Avro file."""
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        schema, metadata, records = json.loads(reader.metadata["avro.schema"]), reader.metadata, list(reader)
    schema["doc"] = value
    schema["fields"].append({"name": name, "type": "string", "default": value, "doc": value})
    kept = {key: text for key, text in metadata.items() if not key.startswith("avro.")}
    with path.open("wb") as file:
        fastavro.writer(file, schema, [{**record, name: value} for record in records], metadata=kept)  # type: ignore[dict-item]


def test_fields_of_other_writers_are_left_out(tmp_path: Path) -> None:
    hide, copied = Secrets(), tmp_path / "table"
    shutil.copytree(unpack_samples() / "iceberg", copied)
    for path in sorted((copied / "metadata").glob("*.avro")):
        add_field(path, "hush_field", hide("field"))
    table = ll.open(copied)
    path = table.skeleton(tmp_path / "made")
    assert_nothing(path)
    assert len(ll.open(path).files) == len(table.files)


def test_no_secret_of_a_paimon_table_is_copied(tmp_path: Path) -> None:
    hide, copied = Secrets(), tmp_path / "table"
    shutil.copytree(unpack_samples() / "paimon", copied)
    for path in sorted((copied / "schema").glob("schema-*")):
        rewrite_document(path, lambda document: _hide_in_schema(document, hide))
    for path in sorted((copied / "snapshot").glob("snapshot-*")):
        rewrite_document(path, lambda document: _hide_in_snapshot(document, hide))
    shutil.copy(sorted((copied / "snapshot").glob("snapshot-*"))[0], copied / "snapshot" / "kept")
    (copied / "tag").mkdir(exist_ok=True)
    (copied / "snapshot/kept").rename(copied / f"tag/tag-{hide('tag')}")
    (copied / "consumer").mkdir(exist_ok=True)
    (copied / f"consumer/consumer-{hide('consumer')}").write_text('{"nextSnapshot": 1, "hush": "hush"}')
    (copied / "snapshot/LATEST").write_text(hide("hint"))
    (copied / "snapshot/snapshot-77").write_text(hide("damage"))
    for path in sorted((copied / "manifest").glob("manifest-*")):
        if not path.name.startswith("manifest-list"):
            rewrite_avro(path, lambda records: [_hide_in_entry(record, hide) for record in records])
    table = ll.open(copied)
    path = table.skeleton(tmp_path / "made")
    assert_nothing(path)
    assert len(ll.open(path).snapshots) == len(table.snapshots)


def _hide_in_schema(document: Any, hide: Secrets) -> None:
    inner = {
        "type": "ROW",
        "fields": [{"id": 91, "name": hide("inner"), "type": "INT", "description": hide("doc")}],
    }
    document["fields"] += [
        {"id": 90, "name": hide("row"), "type": inner},
        {
            "id": 92,
            "name": hide("column"),
            "type": "STRING",
            "defaultValue": hide("default"),
            hide("k"): hide("v"),
        },
    ]
    document["options"] |= {
        hide("option"): hide("value"),
        "merge-engine": hide("engine"),
        f"fields.{hide('col')}.aggregate-function": hide("function"),
        "sequence.field": hide("sequence"),
        f"file-index.bloom-filter.{hide('indexed')}.items": hide("items"),
        "path": f"/{hide('path')}",
    }
    document |= {"comment": hide("comment"), hide("key"): hide("value")}


def _hide_in_snapshot(document: Any, hide: Secrets) -> None:
    document |= {
        "commitUser": hide("user"),
        "uuid": hide("uuid"),
        "operation": hide("operation"),
        "writerVersion": hide("writer"),
        "statistics": hide("statistics"),
        "properties": {hide("k"): hide("v"), "sequence.generation.max-sequence-number": hide("n")},
        "tagCreateTime": [2024, hide("time")],
        hide("key"): hide("value"),
    }


def _hide_in_entry(record: Any, hide: Secrets) -> None:
    file = record["_FILE"]
    file["_FILE_NAME"] = f"data-{hide('name')}.parquet.{_WORD}"
    file["_EXTRA_FILES"] = [hide("extra")]
    file["_MIN_KEY"] = hide("key").encode() * 3
    if "_EXTERNAL_PATH" in file:
        file["_EXTERNAL_PATH"] = f"s3://{hide('bucket')}/{hide('path')}"


def test_a_table_that_cannot_be_opened_is_refused_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "t/metadata").mkdir(parents=True)
    (tmp_path / "t/metadata/v1.metadata.json").write_text("{")
    with pytest.raises(LakeError):
        ll.open(tmp_path / "t").skeleton(tmp_path / "made")
