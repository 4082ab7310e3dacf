"""A test-only writer of Iceberg tables as they are seen in the wild: what no engine will write today, or on demand.

Everything can be left out or made wrong; nothing is checked. Written with fastavro, independent of what reads it.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro

from tests.support import zstd

SCHEMA = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "name", "required": False, "type": "string"},
    ],
}
LOCATION = "file:/was/here/t"
FIRST_ID = 7_000_000_000_000_000_001  # above 2^53: a float cannot hold it


def avro_field(name: str, field_id: int | None, kind: Any, optional: bool = True) -> dict[str, Any]:
    made = {"name": name, "type": ["null", kind] if optional else kind}
    if optional:
        made["default"] = None
    return made if field_id is None else made | {"field-id": field_id}


def avro_map(key_id: int, value_id: int, value: str) -> dict[str, Any]:
    pair = {
        "type": "record",
        "name": f"k{key_id}_v{value_id}",
        "fields": [avro_field("key", key_id, "int", False), avro_field("value", value_id, value, False)],
    }
    return {"type": "array", "items": pair, "logicalType": "map"}


def list_schema(old_names: bool = False, ids: bool = True) -> dict[str, Any]:
    """The Avro schema of a manifest list; with the field names from before Iceberg 1.5, or without field ids."""
    infix = "data_" if old_names else ""
    summary = {
        "type": "record",
        "name": "r508",
        "fields": [
            avro_field("contains_null", 509, "boolean", False),
            avro_field("contains_nan", 518, "boolean"),
            avro_field("lower_bound", 510, "bytes"),
            avro_field("upper_bound", 511, "bytes"),
        ],
    }
    fields = [
        avro_field("manifest_path", 500, "string", False),
        avro_field("manifest_length", 501, "long", False),
        avro_field("partition_spec_id", 502, "int", False),
        avro_field("content", 517, "int"),
        avro_field("sequence_number", 515, "long"),
        avro_field("min_sequence_number", 516, "long"),
        avro_field("added_snapshot_id", 503, "long"),
        avro_field(f"added_{infix}files_count", 504, "int"),
        avro_field(f"existing_{infix}files_count", 505, "int"),
        avro_field(f"deleted_{infix}files_count", 506, "int"),
        avro_field("partitions", 507, {"type": "array", "items": summary, "element-id": 508}),
        avro_field("first_row_id", 520, "long"),
    ]
    if not ids:
        fields = [{k: v for k, v in f.items() if k != "field-id"} for f in fields]
    return {"type": "record", "name": "manifest_file", "fields": fields}


def manifest_schema(partition: list[dict[str, Any]], version: int = 2, ids: bool = True) -> dict[str, Any]:
    """The Avro schema of a manifest with these partition fields (as Avro fields)."""
    file = [
        *([] if version == 1 else [avro_field("content", 134, "int", False)]),
        avro_field("file_path", 100, "string", False),
        avro_field("file_format", 101, "string", False),
        avro_field("partition", 102, {"type": "record", "name": "r102", "fields": partition}, False),
        avro_field("record_count", 103, "long", False),
        avro_field("file_size_in_bytes", 104, "long", False),
        *([avro_field("block_size_in_bytes", 105, "long", False)] if version == 1 else []),
        avro_field("column_sizes", 108, avro_map(117, 118, "long")),
        avro_field("value_counts", 109, avro_map(119, 120, "long")),
        avro_field("null_value_counts", 110, avro_map(121, 122, "long")),
        avro_field("lower_bounds", 125, avro_map(126, 127, "bytes")),
        avro_field("upper_bounds", 128, avro_map(129, 130, "bytes")),
        avro_field("split_offsets", 132, {"type": "array", "items": "long", "element-id": 133}),
        avro_field("equality_ids", 135, {"type": "array", "items": "int", "element-id": 136}),
        *([avro_field("first_row_id", 142, "long")] if version > 2 else []),
        avro_field("referenced_data_file", 143, "string"),
        *([avro_field("content_offset", 144, "long")] if version > 2 else []),
        *([avro_field("content_size_in_bytes", 145, "long")] if version > 2 else []),
    ]
    entry = [
        avro_field("status", 0, "int", False),
        avro_field("snapshot_id", 1, "long"),
        *([] if version == 1 else [avro_field("sequence_number", 3, "long")]),
        *([] if version == 1 else [avro_field("file_sequence_number", 4, "long")]),
        avro_field("data_file", 2, {"type": "record", "name": "r2", "fields": file}, False),
    ]
    schema = {"type": "record", "name": "manifest_entry", "fields": entry}
    return schema if ids else json.loads(json.dumps(schema), object_hook=_without_id)


def _without_id(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key not in ("field-id", "element-id")}


@dataclass
class Builder:
    """One table under `root`, recorded as lying at `location`; snapshots are added one after the other."""

    root: Path
    version: int = 2
    location: str = LOCATION
    specs: list[dict[str, Any]] = field(default_factory=lambda: [{"spec-id": 0, "fields": []}])
    snapshots: list[dict[str, Any]] = field(default_factory=list)
    counter: int = 0

    def __post_init__(self) -> None:
        (self.root / "metadata").mkdir(parents=True, exist_ok=True)
        (self.root / "data").mkdir(exist_ok=True)

    def record(self, relative: str) -> str:
        """A recorded location of something below the table."""
        return f"{self.location}/{relative}"

    def write(self, relative: str, data: bytes) -> int:
        path = self.root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return len(data)

    def data_file(self, name: str = "", records: int = 1, **fields: Any) -> dict[str, Any]:
        """A `data_file` struct for a file that is written, empty of meaning, below data/."""
        self.counter += 1
        relative = name or f"data/f{self.counter}.parquet"
        size = self.write(relative, b"PAR1" + bytes(8) + b"PAR1")
        base = {
            "content": 0,
            "file_path": self.record(relative),
            "file_format": "PARQUET",
            "partition": {},
            "record_count": records,
            "file_size_in_bytes": size,
            "block_size_in_bytes": 64,
        }
        return base | fields

    def manifest(
        self,
        files: list[dict[str, Any]],
        *,
        version: int | None = None,
        partition: list[dict[str, Any]] | None = None,
        header: dict[str, str] | None = None,
        ids: bool = True,
        codec: str = "deflate",
        line: dict[str, Any] | None = None,
        entries: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """Writes a manifest that adds files; gives its line for a manifest list, `line` taking precedence."""
        self.counter += 1
        relative = f"metadata/m{self.counter}-m0.avro"
        version = self.version if version is None else version
        added = {"status": 1, "snapshot_id": self.next_id if version == 1 else None}
        rows = [(entries[i] if entries else added) | {"data_file": file} for i, file in enumerate(files)]
        full = {
            "schema": json.dumps(SCHEMA),
            "partition-spec": "[]",
            "partition-spec-id": "0",
            "format-version": str(version),
            "content": "data",
        }
        schema = manifest_schema(partition or [], version, ids)
        length = self.write(relative, write_avro(schema, rows, full if header is None else header, codec))
        base = {
            "manifest_path": self.record(relative),
            "manifest_length": length,
            "partition_spec_id": 0,
            "content": 0,
            "sequence_number": len(self.snapshots) + 1 if version > 1 else 0,
            "min_sequence_number": 0,
            "added_snapshot_id": self.next_id,
            "added_files_count": len(files),
            "existing_files_count": 0,
            "deleted_files_count": 0,
            "first_row_id": None,
        }
        return base | (line or {})

    @property
    def next_id(self) -> int:
        return FIRST_ID + len(self.snapshots)

    def snapshot(
        self, lines: list[dict[str, Any]], *, schema: dict[str, Any] | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Writes a manifest list and adds a snapshot; further fields go into the snapshot under their JSON names."""
        number = self.next_id
        relative = f"metadata/snap-{number}-1-x.avro"
        schema = schema or list_schema()
        names = {f["name"]: (f["name"].replace("_data_files", "_files")) for f in schema["fields"]}
        rows = [{name: line.get(plain) for name, plain in names.items()} for line in lines]
        self.write(relative, write_avro(schema, rows, {"snapshot-id": str(number)}, "deflate"))
        made = {
            "snapshot-id": number,
            "timestamp-ms": 1_700_000_000_000 + len(self.snapshots) * 1000,
            "summary": {"operation": "append"},
            "manifest-list": self.record(relative),
            "schema-id": 0,
        }
        if self.version > 1:
            made["sequence-number"] = len(self.snapshots) + 1
        if self.snapshots:
            made["parent-snapshot-id"] = self.snapshots[-1]["snapshot-id"]
        made |= {name.replace("_", "-"): value for name, value in fields.items()}
        self.snapshots.append({key: value for key, value in made.items() if value is not None})
        return self.snapshots[-1]

    def metadata(self, **changes: Any) -> dict[str, Any]:
        """The metadata document; `changes` under Python's spelling, None takes a key out."""
        current = self.snapshots[-1]["snapshot-id"] if self.snapshots else None
        document: dict[str, Any] = {
            "format-version": self.version,
            "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
            "location": self.location,
            "last-sequence-number": len(self.snapshots),
            "last-updated-ms": 1_700_000_000_000,
            "last-column-id": 2,
            "schemas": [SCHEMA],
            "current-schema-id": 0,
            "partition-specs": self.specs,
            "default-spec-id": 0,
            "properties": {},
            "current-snapshot-id": current,
            "snapshots": self.snapshots,
        }
        document |= {name.replace("_", "-"): value for name, value in changes.items()}
        return {key: value for key, value in document.items() if value is not None}

    def write_metadata(self, name: str = "v1.metadata.json", hint: str | None = None, **changes: Any) -> Path:
        """Writes the document, compressed as its name says, and a hint."""
        self.write(f"metadata/{name}", compress(json.dumps(self.metadata(**changes)).encode(), name))
        if hint is not None:
            self.write("metadata/version-hint.text", hint.encode())
        return self.root

    def one_snapshot(self, **options: Any) -> Path:
        """The usual table: one snapshot, one manifest, one file."""
        self.snapshot([self.manifest([self.data_file()])])
        return self.write_metadata(**options)


def write_avro(
    schema: dict[str, Any], rows: list[dict[str, Any]], header: dict[str, str], codec: str
) -> bytes:
    sink = BytesIO()
    fastavro.writer(sink, schema, rows, codec=codec, metadata=header)
    return sink.getvalue()


def compress(data: bytes, name: str) -> bytes:
    if ".gz" in name:
        return gzip.compress(data)
    return zstd.compress(data) if ".zst" in name else data
