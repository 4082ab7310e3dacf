"""Views of Iceberg: metadata files with a `view-uuid`, read as they are, damage kept beside what can be read.

Follows the Iceberg view specification, version 1: "View Metadata", "Versions", "Representations", "Version log", and the
storage tables of materialized views. What is not of its type is a finding with its JSON path, and is left out.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from lakelens.codecs.iceberg.types import parse_struct
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.formats.access import describe_reads
from lakelens.formats.base import ViewFound, name_table
from lakelens.formats.iceberg.metadata.document import decode_json
from lakelens.formats.iceberg.metadata.schemas import describe_schema
from lakelens.formats.iceberg.metadata.wire import to_time
from lakelens.io.tracing import TracingStore
from lakelens.model.collections import Document
from lakelens.model.finding import Findings
from lakelens.model.schema import Schema, Schemas
from lakelens.model.storage import Evidence
from lakelens.model.view import View, ViewLog, ViewLogEntry, ViewVersion, ViewVersions

if TYPE_CHECKING:
    from lakelens.formats.iceberg.discovery.detect import TableLayout
    from lakelens.formats.iceberg.discovery.versions import VersionChoice
    from lakelens.io.store import Store

T = TypeVar("T")
_NEWEST = 1
_MAX_DEPTH = 100


def find_view(store: Store, layout: TableLayout, choice: VersionChoice, error: Unsupported) -> ViewFound:
    """Find what detection raises for the document of a view."""
    reason = f"{posixpath.basename(choice.path)} is view metadata of Iceberg"
    evidence = Evidence("iceberg", (reason,), (choice.path,), 1.0, choice.how, choice.candidates)
    opener = partial(open_view, store, layout, choice.path, evidence)
    return ViewFound(error.message, layout.root, "iceberg", evidence, opener, path=error.path)


def open_view(
    store: Store, layout: TableLayout, path: str, evidence: Evidence, version: int | str | None = None
) -> View:
    """Open the view of a metadata file; `version` is another one, by its number, name or path. Raises `LakeError`."""
    if version is not None:
        path = layout.folder.pick(version).path
    traced = TracingStore(store)
    raw = decode_json(traced.read(path), path)
    if not isinstance(raw, dict):
        raise Corrupt(
            "not view metadata", path=path, json_path="$", expected="an object", seen=type(raw).__name__
        )
    reader = _Reader(raw, path, Findings())
    reader.prune(raw, "$", 1)
    return reader.read(layout.root, evidence, traced)


@dataclass
class _Reader:
    """Reads one document; what is wrong with it is a finding."""

    raw: dict[str, Any]
    path: str
    findings: Findings

    def read(self, root: str, evidence: Evidence, store: TracingStore) -> View:
        """Read the view as the document has it."""
        number = self.take(self.raw, "format-version", int, "$")
        if number is not None and number > _NEWEST:
            message = f"version {number} of the view format is not known; it is read as version {_NEWEST}"
            self.findings.add("warning", "view-version", self.path, message)
        schemas = dict(self.read_schemas())
        versions = sorted(self.read_versions(schemas), key=lambda one: one.id)
        current = self.take(self.raw, "current-version-id", int, "$")
        if current is not None and all(version.id != current for version in versions):
            self.note("$.current-version-id", f"version {current} is not among the versions")
        properties = self.read_texts(self.raw, "properties", "$", is_required=False)
        location = self.take(self.raw, "location", str, "$")
        return View(
            name_table(root) or posixpath.basename((location or root).rstrip("/")),
            "iceberg",
            number,
            self.take(self.raw, "view-uuid", str, "$"),
            root,
            self.path,
            current,
            ViewVersions(versions),
            Schemas(schemas.values()),
            ViewLog(self.read_log()),
            Document(properties, "properties"),
            Document(self.raw, "metadata"),
            evidence,
            self.findings,
            describe_reads(store.counts),
        )

    def prune(self, held: Any, place: str, depth: int) -> None:
        """Leave out, with a note, what is nested deeper than a view has a use for: nothing could show or copy it."""
        for key, value in list(held.items() if isinstance(held, dict) else enumerate(held)):
            if not isinstance(value, dict | list):
                continue
            here = f"{place}.{key}" if isinstance(held, dict) else f"{place}[{key}]"
            if depth >= _MAX_DEPTH:
                self.note(here, f"nested deeper than {_MAX_DEPTH} levels, and left out")
                held[key] = None
            else:
                self.prune(value, here, depth + 1)

    def note(self, place: str, message: str) -> None:
        """Keep what is wrong at a place of the document."""
        self.findings.add("error", "corrupt", self.path, f"{message} (at {place})")

    def take(
        self, held: dict[str, Any], key: str, kind: type[T], place: str, *, is_required: bool = True
    ) -> T | None:
        """Take a value of its type; what is missing or of another type is noted, and None."""
        value = held.get(key)
        if value is None:
            if is_required:
                self.note(f"{place}.{key}", "a required key is missing")
            return None
        if not isinstance(value, kind) or isinstance(value, bool):
            self.note(
                f"{place}.{key}",
                f"a value of another type: expected {kind.__name__}; seen {type(value).__name__}",
            )
            return None
        return value

    def list_objects(self, key: str) -> Iterator[tuple[dict[str, Any], str]]:
        """Give the objects of a list, each with its place."""
        for index, item in enumerate(self.take(self.raw, key, list, "$") or ()):
            place = f"$.{key}[{index}]"
            if isinstance(item, dict):
                yield item, place
            else:
                self.note(place, f"expected an object; seen {type(item).__name__}")

    def read_texts(
        self, held: dict[str, Any], key: str, place: str, *, is_required: bool = True
    ) -> dict[str, str]:
        """Read a map of texts; other values as JSON would write them."""
        found = self.take(held, key, dict, place, is_required=is_required) or {}
        return {str(name): value if isinstance(value, str) else repr(value) for name, value in found.items()}

    def read_schemas(self) -> Iterator[tuple[int, Schema]]:
        """Give the schemas that can be read, by id."""
        for raw, place in self.list_objects("schemas"):
            number = self.take(raw, "schema-id", int, place, is_required=False) or 0
            try:
                yield number, describe_schema(parse_struct(raw, place, path=self.path), number, raw)
            except LakeError as error:
                self.findings.add_error(error, self.path)

    def read_versions(self, schemas: dict[int, Schema]) -> Iterator[ViewVersion]:
        """Read the versions; one without an id is left out."""
        for raw, place in self.list_objects("versions"):
            number = self.take(raw, "version-id", int, place)
            if number is None:
                continue
            schema_id = self.take(raw, "schema-id", int, place)
            if schema_id is not None and schema_id not in schemas:
                self.note(
                    f"{place}.schema-id", f"schema {schema_id} is not among the schemas that can be read"
                )
            levels = self.take(raw, "default-namespace", list, place) or []
            yield ViewVersion(
                number,
                to_time(self.take(raw, "timestamp-ms", int, place)),
                schema_id,
                dict(self.read_sql(raw, place)),
                tuple(self.list_levels(levels, f"{place}.default-namespace")),
                self.take(raw, "default-catalog", str, place, is_required=False),
                self.read_storage_table(raw, place),
                self.read_texts(raw, "summary", place),
                schemas.get(schema_id) if schema_id is not None else None,
                raw,
            )

    def list_levels(self, levels: list[Any], place: str) -> Iterator[str]:
        """List the levels of a namespace; what is no text is noted and left out."""
        for index, level in enumerate(levels):
            if isinstance(level, str):
                yield level
            else:
                self.note(f"{place}[{index}]", f"expected a text; seen {type(level).__name__}")

    def read_sql(self, version: dict[str, Any], place: str) -> Iterator[tuple[str, str]]:
        """Read the query of a version by dialect; a representation of another type than SQL is noted."""
        seen: set[str] = set()
        for index, shape in enumerate(self.take(version, "representations", list, place) or ()):
            here = f"{place}.representations[{index}]"
            if not isinstance(shape, dict):
                self.note(here, f"expected an object; seen {type(shape).__name__}")
                continue
            kind = shape.get("type")
            if kind != "sql":
                message = f"a representation of type {kind!r} is not known (at {here})"
                self.findings.add("warning", "view-representation", self.path, message)
                continue
            dialect, sql = self.take(shape, "dialect", str, here), self.take(shape, "sql", str, here)
            if dialect is None or sql is None:
                continue
            if dialect in seen:
                self.note(here, f"the dialect {dialect} comes twice in one version")
                continue
            seen.add(dialect)
            yield dialect, sql

    def read_storage_table(self, version: dict[str, Any], place: str) -> str | None:
        """Read the name of the table that holds the rows of a materialized view."""
        found = self.take(version, "storage-table", dict, place, is_required=False)
        if found is None:
            return None
        levels = self.take(found, "namespace", list, f"{place}.storage-table") or []
        name = self.take(found, "name", str, f"{place}.storage-table")
        return ".".join([*self.list_levels(levels, f"{place}.storage-table.namespace"), name or "?"])

    def read_log(self) -> Iterator[ViewLogEntry]:
        """Read the lines of the version log."""
        for raw, place in self.list_objects("version-log"):
            number = self.take(raw, "version-id", int, place)
            at = self.take(raw, "timestamp-ms", int, place)
            if number is not None:
                yield ViewLogEntry(number, to_time(at))
