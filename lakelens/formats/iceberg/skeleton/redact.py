"""An Iceberg table written again without its names and values: all are noted first, then all documents are rewritten."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from lakelens.codecs.avro.records import encode_document
from lakelens.codecs.iceberg.puffin import MAGIC, PuffinFooter, decode_footer
from lakelens.codecs.iceberg.types import IcebergType, parse_struct
from lakelens.errors import LakeError, Missing
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.discovery.versions import parse_metadata_name
from lakelens.formats.iceberg.manifests.containers import Header, ParquetHeader, decode_head, iterate_records
from lakelens.formats.iceberg.skeleton.avro_files import (
    AvroDocument,
    SchemaWriter,
    find_partition,
    name_fields,
    walk_entries,
    walk_lines,
)
from lakelens.formats.iceberg.skeleton.column_book import ColumnBook, PartitionMap
from lakelens.formats.iceberg.skeleton.cuts import IcebergBones, drop_unused, relate
from lakelens.formats.iceberg.skeleton.document import DocumentWriter, read_default
from lakelens.formats.iceberg.skeleton.pens import NotingPen, Pen, PlaceBook, WritingPen
from lakelens.model.skeleton.redaction import Redaction
from lakelens.model.skeleton.walk import MARK
from lakelens.progress import track

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable


# The manifests and manifest lists of a table as stored, each read once; what cannot be read is known by its error.


@dataclass
class StoredFile:
    """One file: its header and records; `size` is None for one that is not there, `error` what stopped the reading."""

    recorded: str
    size: int | None = None
    header: Header | None = None
    records: list[dict[str, Any]] = dataclasses.field(default_factory=list, repr=False)
    error: LakeError | None = None

    @property
    def record(self) -> Mapping[str, Any]:
        """The schema of its records; empty where it has none."""
        return {} if self.header is None else self.header.record

    @cached_property
    def names(self) -> Mapping[str, str]:
        """What the fields of a manifest list stand for."""
        return name_fields(self.record, "manifest")

    def find(self, line: Mapping[str, Any], name: str) -> Any:
        """Find a specified field of a line; None when it has none."""
        return next((line.get(stored) for stored, known in self.names.items() if known == name), None)

    @property
    def is_parquet(self) -> bool:
        """Whether its records are in a Parquet file."""
        return isinstance(self.header, ParquetHeader)

    def read_json(self, key: str) -> Any:
        """Read an entry of the header that is JSON; None where it is not."""
        stored = {} if self.header is None else self.header.metadata
        try:
            return json.loads(stored[key])
        except (KeyError, ValueError, RecursionError):
            return None

    def read_number(self, key: str) -> int | None:
        """Read an entry of the header that is a whole number."""
        found = self.read_json(key)
        return found if isinstance(found, int) and not isinstance(found, bool) else None


def read_file(context: TableContext, recorded: str) -> StoredFile:
    """Read a file, as far as it can be read."""
    made = StoredFile(recorded)
    try:
        path, data = context.access.read_recorded(recorded, here=True)
        made.size = len(data)
        made.header = decode_head(data, path)
        made.records.extend(iterate_records(data, path, made.header))
    except Missing:
        pass
    except LakeError as error:
        made.error = error
    return made


def read_files(context: TableContext, recorded: Iterable[str]) -> dict[str, StoredFile]:
    """Several files, by their recorded paths."""
    return {one: read_file(context, one) for one in dict.fromkeys(recorded)}


# The entries of the headers of manifests and manifest lists.

_PLAIN = (
    *("snapshot-id", "parent-snapshot-id", "format-version", "sequence-number", "first-row-id", "content"),
    *("partition-spec-id", "schema-id"),
)
_VALUE = re.compile(rb"-?\d{1,20}|null|data|deletes")


class HeaderWriter:
    """Writes headers again; of entries that are not specified neither name nor value stays."""

    def __init__(self, writer: DocumentWriter) -> None:
        self._writer = writer

    def write(self, one: StoredFile, partition: Mapping[str, str] | None = None) -> dict[str, bytes]:
        """Write the entries of one file's header, without `avro.schema` and `avro.codec`."""
        assert one.header is not None
        made: dict[str, bytes] = {}
        for key, value in one.header.metadata.items():
            if key in _PLAIN and _VALUE.fullmatch(value):
                made[key] = value
            elif key == "schema":
                made[key] = encode_document(self._writer.write_schema(one.read_json(key)))
            elif key == "partition-spec":
                made[key] = encode_document(self._writer.write_fields(one.read_json(key)))
            elif key == "iceberg.schema":
                made[key] = encode_document(self._writer.write_own(one.read_json(key), partition or {}))
        return made


# Deletion vectors: the Puffin files of a skeleton hold the same positions, under the new names of their data files.
#
# Positions of rows are no values, and a vector's place in its file is recorded in manifests: blobs stay where they are,
# and the footer is filled up with blanks to its old length where it is shorter. A file with anything else in it is left
# out.

_TYPE = "deletion-vector-v1"


def plan_vectors(
    context: TableContext, recorded: Iterable[str], pen: WritingPen, redaction: Redaction
) -> dict[str, Callable[[str], bytes]]:
    """Of each file of vectors its path below the skeleton, and what writes it."""
    made: dict[str, Callable[[str], bytes]] = {}
    for one in recorded:
        try:
            path, data = context.access.read_recorded(one, here=True)
            footer = decode_footer(data, path=path)
        except Missing:
            redaction.note("files that are missing are missing in the skeleton")
        except LakeError as error:
            redaction.note(f"a file of deletion vectors cannot be read and is left out: {error.message}")
        else:
            if all(blob.type == _TYPE and not blob.compression_codec for blob in footer.blobs):
                made[relate(pen.file(one))] = partial(_write, data, footer, pen)
            else:
                redaction.note("Puffin files with anything but deletion vectors are left out")
    return made


def _write(data: bytes, footer: PuffinFooter, pen: WritingPen, location: str) -> bytes:
    """Write the file again, if the table is at a location."""
    end = len(data) - footer.footer_size
    body = bytearray(end)
    body[: len(MAGIC)] = MAGIC
    blobs = []
    for blob in footer.blobs:
        body[blob.offset : blob.offset + blob.length] = data[blob.offset : blob.offset + blob.length]
        properties = {}
        for key, value in blob.properties.items():
            if key == "referenced-data-file":
                properties[key] = pen.file(value).replace(MARK, location)
            elif key == "cardinality" and value.isdecimal():
                properties[key] = value
        entry = {
            "type": blob.type,
            "fields": list(blob.fields),
            "snapshot-id": blob.snapshot_id,
            "sequence-number": blob.sequence_number,
            "offset": blob.offset,
            "length": blob.length,
            "properties": properties,
        }
        blobs.append({key: value for key, value in entry.items() if value is not None})
    payload = json.dumps({"blobs": blobs}, ensure_ascii=False, separators=(",", ":")).encode()
    payload = payload.ljust(footer.footer_size - 16)
    return bytes(body) + MAGIC + payload + len(payload).to_bytes(4, "little") + bytes(4) + MAGIC


def redact_table(table: IcebergTable, redaction: Redaction) -> IcebergBones:
    """Give the documents of a table, redacted. What cannot be read is said in the redaction's notes."""
    return _Redactor(table._context, redaction).run()


class _Redactor:
    def __init__(self, context: TableContext, redaction: Redaction) -> None:
        self._context, self._redaction = context, redaction
        self._raw: dict[str, Any] = context.document.raw
        self._book = ColumnBook(redaction)
        self._places = PlaceBook(redaction.names)
        #: by spec id, the fields as (field id, source id, name, transform)
        self._specs: dict[int, list[tuple[int, int | None, str, str]]] = {}
        self._fields: dict[int, tuple[int, int | None, str, str]] = {}

    def run(self) -> IcebergBones:
        recorded = (snapshot.get("manifest-list") for snapshot in self._list_snapshots())
        lists = read_files(self._context, [path for path in recorded if isinstance(path, str)])
        # the manifests that snapshots of version 1 name themselves
        named = [
            str(path)
            for one in self._list_snapshots()
            if not isinstance(one.get("manifest-list"), str)
            for path in one.get("manifests") or ()
        ]
        named += [
            path
            for one in lists.values()
            for line in one.records
            if isinstance(path := one.find(line, "manifest_path"), str)
        ]
        manifests = read_files(self._context, named)
        structs = self._learn(manifests)
        self._book.publish(structs)
        self._redaction.check_kept(self._redaction.columns)
        pen = NotingPen(self._book)
        for one in lists.values():
            self._walk_list(one, pen)
        for one in track(manifests.values(), "manifests", len(manifests)):
            self._walk_manifest(one, pen)
        for schema in [*(self._raw.get("schemas") or ()), self._raw.get("schema")]:
            for field in _walk_fields(schema):
                for key in ("initial-default", "write-default"):
                    found = read_default(field[key], field) if key in field else None
                    scale = None if found is None else self._book.scale(found[0])
                    if found is not None and scale is not None:
                        scale.add(found[1])  # type: ignore[arg-type]
        self._redaction.names.number_files([*pen.files, *lists, *named])
        self._book.settle()
        return self._write(lists, manifests, WritingPen(self._book, self._places), pen)

    # --- what is there -------------------------------------------------------------------------------------------------

    def _list_snapshots(self) -> list[dict[str, Any]]:
        return [one for one in self._raw.get("snapshots") or () if isinstance(one, dict)]

    def _learn(self, manifests: Mapping[str, StoredFile]) -> list[IcebergType]:
        """Columns, specs and original names, of the document and of the headers of manifests."""
        structs = list(self._context.schemas.newest_first())
        for manifest in manifests.values():
            try:
                structs.append(parse_struct(manifest.read_json("schema")))
            except LakeError:
                continue
        for struct in structs:
            self._book.learn(struct)
        typed = self._context.typed
        for spec in typed.partition_specs or ():
            fields = [(field.field_id, field.source_id, field.name, field.transform) for field in spec.fields]
            self._learn_spec(spec.spec_id, fields)
        plain = [(one.field_id, one.source_id, one.name, one.transform) for one in typed.partition_spec or ()]
        self._learn_spec(typed.default_spec_id or 0, plain)
        for manifest in manifests.values():
            stored = manifest.read_json("partition-spec")
            found = [field for field in stored if isinstance(field, dict)] if isinstance(stored, list) else []
            keys = ("field-id", "source-id", "name", "transform")
            self._learn_spec(
                manifest.read_number("partition-spec-id") or 0,
                [[field.get(key) for key in keys] for field in found],
            )
        self._redaction.names.reserve(typed.refs or ())
        return structs

    def _learn_spec(self, number: int, fields: list[Any]) -> None:
        known = []
        for position, (field_id, source, name, transform) in enumerate(fields):
            field_id = field_id if isinstance(field_id, int) else 1000 + position
            source = source if isinstance(source, int) else None
            known.append((field_id, source, str(name), str(transform)))
            self._book.learn_transform(source, str(transform))
            self._redaction.names.reserve([str(name)])
        if known:
            self._specs.setdefault(number, known)
        for field in known:
            self._fields.setdefault(field[0], field)

    # --- walks ---------------------------------------------------------------------------------------------------------

    def _map_field(self, field: tuple[int, int | None, str, str]) -> PartitionMap:
        return PartitionMap(self._book, field[0], field[1], field[3])

    def _walk_list(self, one: StoredFile, pen: Pen) -> list[dict[str, Any]]:
        @cache
        def list_maps(number: int) -> Sequence[PartitionMap]:
            return [self._map_field(field) for field in self._specs.get(number, ())]

        walk = walk_lines(one.record, lambda line: list_maps(one.find(line, "partition_spec_id") or 0), pen)
        return [walk.write(line, "line") for line in one.records]

    def _walk_manifest(self, one: StoredFile, pen: Pen) -> list[dict[str, Any]]:
        walk = walk_entries(one.record, self._name_partition(one), pen)
        return [walk.write(entry, "entry") for entry in one.records]

    def _name_partition(self, one: StoredFile) -> dict[str, tuple[str, PartitionMap]]:
        """Of each stored partition field its new name, and what replaces its values."""
        record = find_partition(one.record)
        made = {}
        for field in record.get("fields", ()):
            stored, number = str(field.get("name")), field.get("field-id")
            known = self._fields.get(number) if isinstance(number, int) else None
            if known is None:
                same = (field for field in self._fields.values() if field[2] == stored)
                known = next(same, (number if isinstance(number, int) else 0, None, stored, "unknown"))
            new = self._redaction.names.field(known[2], known[0])
            made[stored] = (stored if new == known[2] else new, self._map_field(known))
        return made

    # --- writing -------------------------------------------------------------------------------------------------------

    def _write(
        self,
        lists: Mapping[str, StoredFile],
        manifests: Mapping[str, StoredFile],
        pen: WritingPen,
        noted: NotingPen,
    ) -> IcebergBones:
        writer = DocumentWriter(self._book, self._places)
        metadata = writer.write(self._raw)
        headers = HeaderWriter(writer)
        made_lists: dict[str, AvroDocument] = {}
        made_manifests: dict[str, AvroDocument] = {}
        lengths: dict[str, int] = {}  # what a manifest's recorded length differs by from its real one
        # the length that the first line of each manifest records
        recorded_lengths: dict[str, int] = {}
        for listed in lists.values():
            for line in listed.records:
                path, length = listed.find(line, "manifest_path"), listed.find(line, "manifest_length")
                if isinstance(path, str) and isinstance(length, int):
                    recorded_lengths.setdefault(path, length)
        blanks: dict[str, int] = {}
        for recorded, one in lists.items():
            name = self._places.metadata[recorded]
            records = self._walk_list(one, pen)
            if self._can_write(one, blanks, name) and one.header is not None:
                schema = SchemaWriter({}).write(one.header.schema, "manifest")
                header = headers.write(one)
                made_lists[name] = AvroDocument(schema, header, records, one.header.codec, one.is_parquet)
        for recorded, one in track(manifests.items(), "manifests to write", len(manifests)):
            name = relate(self._places.name_manifest(recorded))
            if self._can_write(one, blanks, name) and one.header is not None:
                partition = {stored: new for stored, (new, _) in self._name_partition(one).items()}
                schema = SchemaWriter(partition).write(one.header.schema, "entry")
                header = headers.write(one, partition)
                records = self._walk_manifest(one, pen)
                made_manifests[name] = AvroDocument(schema, header, records, one.header.codec, one.is_parquet)
                lengths[name] = recorded_lengths.get(recorded, one.size or 0) - (one.size or 0)
        vectors = plan_vectors(self._context, noted.vectors, pen, self._redaction)
        number = parse_metadata_name(self._context.document.path.rpartition("/")[2])
        version = max((number.number if number is not None else None) or 1, 1)
        made = IcebergBones(version, metadata, made_lists, made_manifests, lengths, blanks, vectors)
        return drop_unused(made)

    def _can_write(self, one: StoredFile, blanks: dict[str, int], name: str) -> bool:
        """Whether a file can be written again; zeros stand for one that cannot be read, nothing for one that is missing."""
        if one.size is None:
            self._redaction.note("files that are missing are missing in the skeleton")
            return False
        if one.error is not None:
            place = name.rpartition("/")[2]
            self._redaction.note(
                f"{place} stands for a file that cannot be read and is zeros: {one.error.message}"
            )
            blanks[name] = one.size
            return False
        return True


def _walk_fields(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Walk every field of a schema document, at any depth."""
    if isinstance(schema, dict):
        for field in schema.get("fields") or ():
            if isinstance(field, dict):
                yield field
                yield from _walk_fields(field.get("type"))
        for key in ("element", "key", "value"):
            yield from _walk_fields(schema.get(key))
