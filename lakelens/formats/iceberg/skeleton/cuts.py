"""What can be cut from an Iceberg skeleton, kind by kind: those first of which much hangs.

Cutting an entry changes the counts of its manifest's line by what the entry counted for, and nothing else: a count that was
wrong before stays wrong by as much.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lakelens.codecs.numbers import clamp_long
from lakelens.errors import LakeError
from lakelens.formats.iceberg.skeleton.avro_files import AvroDocument, name_fields
from lakelens.model.skeleton.walk import MARK

Keys = frozenset[str]
_STATUS = {0: "existing", 1: "added", 2: "deleted"}
_MAPS = (
    *("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "distinct_counts"),
    *("lower_bounds", "upper_bounds"),
)


@dataclass(frozen=True, slots=True)
class Cut:
    """One kind of parts: what there is, and the same without some."""

    list_parts: Callable[[IcebergBones], list[str]]
    leave_out: Callable[[IcebergBones, Keys], IcebergBones]


def _change(bones: IcebergBones, **changes: Any) -> IcebergBones:
    return replace(bones, metadata={**bones.metadata, **changes})


def _items(bones: IcebergBones, key: str) -> list[Any]:
    found = bones.metadata.get(key)
    return found if isinstance(found, list) else []


def _keyed(key: str, item: str, spared: str | None = None) -> Cut:
    """A list of the document whose items have a number; the one that `spared` names stays."""

    def list_parts(bones: IcebergBones) -> list[str]:
        kept = None if spared is None else bones.metadata.get(spared)
        return [str(one.get(item)) for one in _items(bones, key) if one.get(item) != kept or spared is None]

    def leave_out(bones: IcebergBones, keys: Keys) -> IcebergBones:
        return _change(bones, **{key: [one for one in _items(bones, key) if str(one.get(item)) not in keys]})

    return Cut(list_parts, leave_out)


def _cut_snapshots(bones: IcebergBones, keys: Keys) -> IcebergBones:
    def keep(key: str) -> list[Any]:
        return [one for one in _items(bones, key) if str(one.get("snapshot-id")) not in keys]

    changes: dict[str, Any] = {
        key: keep(key) for key in ("snapshots", "snapshot-log") if key in bones.metadata
    }
    refs = bones.metadata.get("refs")
    if isinstance(refs, dict):
        changes["refs"] = {name: ref for name, ref in refs.items() if str(ref.get("snapshot-id")) not in keys}
    if str(bones.metadata.get("current-snapshot-id")) in keys:
        changes["current-snapshot-id"] = -1
    return _change(bones, **changes)


def _cut_schemas(bones: IcebergBones, keys: Keys) -> IcebergBones:
    snapshots = [
        {key: value for key, value in one.items() if key != "schema-id" or str(value) not in keys}
        for one in _items(bones, "snapshots")
    ]
    return _change(_SCHEMAS.leave_out(bones, keys), snapshots=snapshots)


def _list_names(key: str) -> Callable[[IcebergBones], list[str]]:
    return lambda bones: list(bones.metadata.get(key) or ())


def _cut_names(key: str) -> Callable[[IcebergBones, Keys], IcebergBones]:
    def leave_out(bones: IcebergBones, keys: Keys) -> IcebergBones:
        found = bones.metadata.get(key) or {}
        return _change(bones, **{key: {name: value for name, value in found.items() if name not in keys}})

    return leave_out


def _list_summary(bones: IcebergBones) -> list[str]:
    found = (key for one in _items(bones, "snapshots") for key in one.get("summary") or ())
    return [key for key in dict.fromkeys(found) if key != "operation"]


def _cut_summary(bones: IcebergBones, keys: Keys) -> IcebergBones:
    def shorten(one: dict[str, Any]) -> dict[str, Any]:
        summary = one.get("summary")
        if not isinstance(summary, dict):
            return one
        return {**one, "summary": {key: value for key, value in summary.items() if key not in keys}}

    return _change(bones, snapshots=[shorten(one) for one in _items(bones, "snapshots")])


def _cut_log(bones: IcebergBones, keys: Keys) -> IcebergBones:
    lines = enumerate(_items(bones, "snapshot-log"))
    return _change(bones, **{"snapshot-log": [line for at, line in lines if str(at) not in keys]})


# --- manifests, entries ------------------------------------------------------------------------------------------------


def _relate(recorded: Any) -> str:
    return str(recorded).partition(MARK)[2].lstrip("/")


def _cut_manifests(bones: IcebergBones, keys: Keys) -> IcebergBones:
    lists = {
        name: document.keep(
            [line for line in document.records if _relate(line.get("manifest_path")) not in keys]
        )
        for name, document in bones.lists.items()
    }
    snapshots = [
        {**one, "manifests": [path for path in one["manifests"] if _relate(path) not in keys]}
        if isinstance(one.get("manifests"), list)
        else one
        for one in _items(bones, "snapshots")
    ]
    return replace(_change(bones, snapshots=snapshots), lists=lists)


def _list_manifests(bones: IcebergBones) -> list[str]:
    lines = (line for document in bones.lists.values() for line in document.records)
    found = dict.fromkeys(_relate(line.get("manifest_path")) for line in lines)
    return list(found | dict.fromkeys(bones.manifests))


def _list_entries(bones: IcebergBones) -> list[str]:
    return [
        f"{name}#{at}" for name, document in bones.manifests.items() for at in range(len(document.records))
    ]


def _cut_entries(bones: IcebergBones, keys: Keys) -> IcebergBones:
    manifests: dict[str, AvroDocument] = {}
    counted: dict[str, dict[str, int]] = {}
    for name, document in bones.manifests.items():
        kept = []
        for at, entry in enumerate(document.records):
            if f"{name}#{at}" not in keys:
                kept.append(entry)
                continue
            word = _STATUS.get(entry.get("status", -1), "")
            tally = counted.setdefault(name, {})
            rows = (entry.get("data_file") or {}).get("record_count")
            for key, count in ((f"{word}_files_count", 1), (f"{word}_rows_count", rows)):
                tally[key] = tally.get(key, 0) + (count if isinstance(count, int) else 0)
        manifests[name] = document.keep(kept)
    lists = {
        name: document.keep([_lower(line, document, counted) for line in document.records])
        for name, document in bones.lists.items()
    }
    return replace(bones, manifests=manifests, lists=lists)


def _lower(
    line: dict[str, Any], document: AvroDocument, counted: Mapping[str, Mapping[str, int]]
) -> dict[str, Any]:
    tally = counted.get(_relate(line.get("manifest_path")))
    if not tally:
        return line
    names = name_fields(document.schema, "manifest")
    less = {stored: tally.get(name, 0) for stored, name in names.items()}
    return {
        key: value - less.get(key, 0) if less.get(key) and isinstance(value, int) else value
        for key, value in line.items()
    }


# --- columns -----------------------------------------------------------------------------------------------------------


def _list_statistics(bones: IcebergBones) -> list[str]:
    found: dict[str, None] = {}
    for document in bones.manifests.values():
        for entry in document.records:
            file = entry.get("data_file") or {}
            for pairs in map(file.get, _MAPS):
                for pair in pairs if isinstance(pairs, list) else ():
                    found[str(pair.get("key"))] = None
    return list(found)


def _cut_statistics(bones: IcebergBones, keys: Keys) -> IcebergBones:
    def shorten(entry: dict[str, Any]) -> dict[str, Any]:
        file = entry.get("data_file")
        if not isinstance(file, dict):
            return entry
        maps = {
            name: [pair for pair in file[name] if str(pair.get("key")) not in keys]
            for name in _MAPS
            if isinstance(file.get(name), list)
        }
        return {**entry, "data_file": {**file, **maps}}

    manifests = {
        name: document.keep([shorten(entry) for entry in document.records])
        for name, document in bones.manifests.items()
    }
    return replace(bones, manifests=manifests)


def _list_columns(bones: IcebergBones) -> list[str]:
    used: set[Any] = set()
    for spec in (*_items(bones, "partition-specs"), *_items(bones, "sort-orders")):
        used.update(field.get("source-id") for field in spec.get("fields") or ())
    found: dict[str, None] = {}
    for schema in _items(bones, "schemas"):
        used.update(schema.get("identifier-field-ids") or ())
        for field in schema.get("fields") or ():
            if used.isdisjoint(_list_ids(field)):
                found[str(field.get("id"))] = None
    return list(found)


def _list_ids(field: Any) -> set[Any]:
    """List the ids of a field and of all below it."""
    if isinstance(field, list):
        return {number for one in field for number in _list_ids(one)}
    if not isinstance(field, dict):
        return set()
    own = {value for key, value in field.items() if key in ("id", "element-id", "key-id", "value-id")}
    return own | {number for value in field.values() for number in _list_ids(value)}


def _cut_columns(bones: IcebergBones, keys: Keys) -> IcebergBones:
    def shorten(schema: Any) -> Any:
        if not isinstance(schema, dict):
            return schema
        fields = [field for field in schema.get("fields") or () if str(field.get("id")) not in keys]
        return {**schema, "fields": fields}

    inner: set[str] = set(keys)
    for schema in _items(bones, "schemas"):
        for field in schema.get("fields") or ():
            if str(field.get("id")) in keys:
                inner |= {str(number) for number in _list_ids(field)}
    changes: dict[str, Any] = {"schemas": [shorten(one) for one in _items(bones, "schemas")]}
    if "schema" in bones.metadata:
        changes["schema"] = shorten(bones.metadata["schema"])
    manifests = {}
    for name, document in bones.manifests.items():
        header = dict(document.header)
        if "schema" in header:
            header["schema"] = json.dumps(shorten(json.loads(header["schema"]))).encode()
        manifests[name] = replace(document, header=header)
    return _cut_statistics(replace(_change(bones, **changes), manifests=manifests), frozenset(inner))


def _list_headers(bones: IcebergBones) -> list[str]:
    documents = (*bones.lists.values(), *bones.manifests.values())
    return ["iceberg.schema"] if any("iceberg.schema" in document.header for document in documents) else []


def _cut_headers(bones: IcebergBones, keys: Keys) -> IcebergBones:
    def shorten(documents: Mapping[str, AvroDocument]) -> dict[str, AvroDocument]:
        return {
            name: replace(one, header={key: value for key, value in one.header.items() if key not in keys})
            for name, one in documents.items()
        }

    return replace(bones, lists=shorten(bones.lists), manifests=shorten(bones.manifests))


_SCHEMAS = _keyed("schemas", "schema-id", "current-schema-id")
CUTS: Mapping[str, Cut] = {
    "snapshots": Cut(_keyed("snapshots", "snapshot-id").list_parts, _cut_snapshots),
    "refs": Cut(_list_names("refs"), _cut_names("refs")),
    "manifests": Cut(_list_manifests, _cut_manifests),
    "entries": Cut(_list_entries, _cut_entries),
    "columns": Cut(_list_columns, _cut_columns),
    "statistics": Cut(_list_statistics, _cut_statistics),
    "schemas": Cut(_SCHEMAS.list_parts, _cut_schemas),
    "partition specs": _keyed("partition-specs", "spec-id", "default-spec-id"),
    "sort orders": _keyed("sort-orders", "order-id", "default-sort-order-id"),
    "properties": Cut(_list_names("properties"), _cut_names("properties")),
    "summary entries": Cut(_list_summary, _cut_summary),
    "snapshot log": Cut(
        lambda bones: [str(at) for at in range(len(_items(bones, "snapshot-log")))], _cut_log
    ),
    "header entries": Cut(_list_headers, _cut_headers),
}
KINDS = tuple(CUTS)


# The documents of an Iceberg skeleton, and what can be cut from them.
#
# A part that is cut takes along what only it referred to: a snapshot its manifest list and the manifests that no other
# list names; a manifest's entries its counts. Differences that were there stay: a count that was wrong by one is wrong by
# one.

HINT = "metadata/version-hint.text"


@dataclass(frozen=True)
class IcebergBones:
    """A redacted Iceberg table. Files are by their paths below the table's directory.

    `lengths` is what the recorded length of a manifest differs by from its real one, which is the same in the skeleton;
    `blanks` are files that could not be read, by their sizes: zeros stand for them.
    """

    version: int
    metadata: dict[str, Any]
    lists: Mapping[str, AvroDocument]
    manifests: Mapping[str, AvroDocument]
    lengths: Mapping[str, int]
    blanks: Mapping[str, int]
    vectors: Mapping[str, Callable[[str], bytes]]

    @property
    def kinds(self) -> tuple[str, ...]:
        """See `Bones.kinds`."""
        return KINDS

    def encode(self, location: str) -> Iterator[tuple[str, bytes]]:
        """See `Bones.encode`."""
        sizes: dict[str, int] = {}
        for name, document in self.manifests.items():
            data = _encode(name, document, location)
            sizes[name] = clamp_long(len(data) + self.lengths.get(name, 0))
            yield name, data
        for name, document in self.lists.items():
            yield name, _encode(name, _with_lengths(document, sizes), location)
        for name, size in self.blanks.items():
            yield name, bytes(size)
        for name, write in self.vectors.items():
            yield name, write(location)
        text = json.dumps(self.metadata, ensure_ascii=False, indent=2)
        yield (
            f"metadata/v{self.version}.metadata.json",
            text.replace(MARK, json.dumps(location, ensure_ascii=False)[1:-1]).encode(),
        )
        yield HINT, str(self.version).encode()

    def list_parts(self, kind: str) -> list[str]:
        """See `Bones.list_parts`."""
        return CUTS[kind].list_parts(self)

    def leave_out(self, kind: str, keys: Collection[str]) -> IcebergBones:
        """See `Bones.leave_out`."""
        return drop_unused(CUTS[kind].leave_out(self, frozenset(keys)))


def _encode(name: str, document: AvroDocument, location: str) -> bytes:
    """Encode a file of the skeleton. Raises `LakeError` with its name where its schema cannot be written."""
    try:
        return document.encode(location)
    except LakeError as error:
        error.path = error.path or name
        raise


def _with_lengths(document: AvroDocument, sizes: Mapping[str, int]) -> AvroDocument:
    """A manifest list with the lengths of the manifests as they are written."""
    names = {known: stored for stored, known in name_fields(document.schema, "manifest").items()}
    path, length = names.get("manifest_path"), names.get("manifest_length")
    if path is None or length is None:
        return document
    records = []
    for record in document.records:
        size = sizes.get(relate(record.get(path)))
        records.append(record if size is None else {**record, length: size})
    return document.keep(records)


def relate(recorded: Any) -> str:
    """Relate where a file of the skeleton is below its directory, of its path as it is in a document."""
    return str(recorded).partition(MARK)[2].lstrip("/")


def drop_unused(bones: IcebergBones) -> IcebergBones:
    """Without the files that nothing refers to."""
    snapshots = bones.metadata.get("snapshots") or []
    lists = {relate(snapshot.get("manifest-list")) for snapshot in snapshots}
    named = {relate(path) for snapshot in snapshots for path in snapshot.get("manifests") or ()}
    kept = {name: document for name, document in bones.lists.items() if name in lists}
    for document in kept.values():
        named |= {relate(record.get("manifest_path")) for record in document.records}
    manifests = {name: document for name, document in bones.manifests.items() if name in named}
    vectors = bones.vectors
    if vectors:
        records = (record.get("data_file") for document in manifests.values() for record in document.records)
        files = {relate(file.get("file_path") if isinstance(file, dict) else None) for file in records}
        vectors = {name: write for name, write in vectors.items() if name in files}
    blanks = {name: size for name, size in bones.blanks.items() if name in lists or name in named}
    return replace(bones, lists=kept, manifests=manifests, vectors=vectors, blanks=blanks)
