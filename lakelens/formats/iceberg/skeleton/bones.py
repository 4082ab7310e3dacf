"""The documents of an Iceberg skeleton, and what can be cut from them.

A part that is cut takes along what only it referred to: a snapshot its manifest list and the manifests that no other list
names; a manifest's entries its counts. Differences that were there stay: a count that was wrong by one is wrong by one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lakelens.formats.iceberg.skeleton.avro_files import AvroDocument
from lakelens.formats.iceberg.skeleton.avro_schemas import name_fields
from lakelens.formats.iceberg.skeleton.cuts import CUTS, KINDS
from lakelens.formats.iceberg.skeleton.places import MARK

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
            data = document.encode(location)
            sizes[name] = len(data) + self.lengths.get(name, 0)
            yield name, data
        for name, document in self.lists.items():
            yield name, _with_lengths(document, sizes).encode(location)
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
    """Where a file of the skeleton is below its directory, of its path as it is in a document."""
    return str(recorded).partition(MARK)[2].lstrip("/")


def drop_unused(bones: IcebergBones) -> IcebergBones:
    """Without the files that nothing refers to."""
    snapshots = bones.metadata.get("snapshots") or []
    lists = {relate(one.get("manifest-list")) for one in snapshots}
    named = {relate(path) for one in snapshots for path in one.get("manifests") or ()}
    kept = {name: document for name, document in bones.lists.items() if name in lists}
    for document in kept.values():
        named |= {relate(record.get("manifest_path")) for record in document.records}
    manifests = {name: document for name, document in bones.manifests.items() if name in named}
    vectors = bones.vectors
    if vectors:
        files = {relate(path) for document in manifests.values() for path in _list_files(document)}
        vectors = {name: write for name, write in vectors.items() if name in files}
    blanks = {name: size for name, size in bones.blanks.items() if name in lists or name in named}
    return replace(bones, lists=kept, manifests=manifests, vectors=vectors, blanks=blanks)


def _list_files(document: AvroDocument) -> Iterator[Any]:
    for record in document.records:
        file = record.get("data_file")
        yield file.get("file_path") if isinstance(file, dict) else None
