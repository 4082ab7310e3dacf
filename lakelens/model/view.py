"""A view: a query over tables that is kept in a lake, with its versions. It holds no rows and no files of data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from lakelens.display import Displayable
from lakelens.lazy import dataclass
from lakelens.model.collections import Document, Items
from lakelens.model.facts.facts import Fact
from lakelens.model.finding import Findings
from lakelens.model.schema import Schema, Schemas
from lakelens.model.storage import Evidence, Reads


@dataclass(frozen=True, slots=True, repr=False)
class ViewVersion(Displayable):
    """One version of a view, which never changes: its query in each dialect, its columns, and where it looks for tables.

    `sql` is the text of the query by dialect. A name in it without a catalog is of `default_catalog` (None: the view's own),
    one without a namespace of `default_namespace`. `storage_table` names the table of a materialized view.
    """

    id: int
    created_at: datetime | None
    schema_id: int | None
    sql: Mapping[str, str]
    default_namespace: tuple[str, ...] = ()
    default_catalog: str | None = None
    storage_table: str | None = None
    summary: Mapping[str, str] = field(default_factory=dict)
    schema: Schema | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def dialects(self) -> tuple[str, ...]:
        """Whose SQL the query is written in."""
        return tuple(self.sql)

    @property
    def engine(self) -> str | None:
        """The engine that wrote it, with its version."""
        named = (self.summary.get("engine-name"), self.summary.get("engine-version"))
        return " ".join(filter(None, named)) or None

    def __repr__(self) -> str:
        return f"<ViewVersion {self.id}: SQL for {', '.join(self.dialects) or 'no dialect'}>"


class ViewVersions(Items[ViewVersion]):
    """The versions of a view that are still kept, in the order of their ids."""

    __slots__ = ()
    facts = (
        Fact("id", "int64"),
        Fact("created_at", "time"),
        Fact("schema_id", "int64"),
        Fact("dialects", "strings"),
        Fact("default_catalog"),
        Fact("default_namespace", "strings"),
        Fact("engine"),
    )


@dataclass(frozen=True, slots=True, repr=False)
class ViewLogEntry(Displayable):
    """A version became the view's current one, at a time. A version comes again where the view was rolled back."""

    version_id: int
    at: datetime | None

    def __repr__(self) -> str:
        return f"<ViewLogEntry version {self.version_id}>"


class ViewLog(Items[ViewLogEntry]):
    """Which version was the current one since when, the oldest first."""

    __slots__ = ()
    facts = (Fact("version_id", "int64"), Fact("at", "time"))


@dataclass(frozen=True, repr=False)
class View(Displayable):
    """A view of a lake, as its newest metadata file describes it.

    `version_id` is that of the current version, `log` says which one was it when. `path` is the metadata file, `metadata`
    the document in it with every key, `evidence` why it is a view, `findings` what is wrong with it, `reads` what was read.
    """

    name: str
    format: str
    format_version: int | None
    uuid: str | None
    location: str
    path: str
    version_id: int | None
    versions: ViewVersions
    schemas: Schemas
    log: ViewLog
    properties: Document
    metadata: Document
    evidence: Evidence
    findings: Findings
    reads: Reads

    @property
    def current(self) -> ViewVersion | None:
        """The current version; None where the document does not have it."""
        return next((version for version in self.versions if version.id == self.version_id), None)

    @property
    def schema(self) -> Schema | None:
        """The columns of the current version."""
        return None if self.current is None else self.current.schema

    @property
    def dialects(self) -> tuple[str, ...]:
        """Whose SQL the current version is written in."""
        return () if self.current is None else self.current.dialects

    def __repr__(self) -> str:
        number = len(self.versions)
        return f"<View {self.name}: {number} version{'' if number == 1 else 's'}>"
