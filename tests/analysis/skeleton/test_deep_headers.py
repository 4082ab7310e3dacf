"""A skeleton of a table whose manifests keep a document that no reader goes to the end of."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import lakelens as ll
from lakelens.codecs.avro.container import decode_header, encode_header
from lakelens.errors import LakeError


def test_a_deep_schema_in_the_head_of_a_manifest_is_no_recursion(tmp_path: Path) -> None:
    """Spark's `add_files` keeps the schema as `iceberg.schema`; here an id of it is 900 lists."""
    root = tmp_path / "table"
    shutil.copytree(ll.sample("iceberg").location, root)
    manifests = list(root.glob("metadata/*-m0.avro"))
    assert manifests
    for path in manifests:
        data = path.read_bytes()
        header = decode_header(data)
        schema = json.loads(header.metadata["schema"])
        schema["fields"][0]["id"] = json.loads("[" * 900 + "]" * 900)
        metadata = {**header.metadata, "iceberg.schema": json.dumps(schema).encode()}
        path.write_bytes(encode_header(metadata, header.sync_marker) + data[header.header_size :])
    try:
        ll.open(root).skeleton(tmp_path / "skeleton")
    except LakeError as error:
        assert not (tmp_path / "skeleton").exists(), error
    else:
        assert ll.open(tmp_path / "skeleton").current is not None
