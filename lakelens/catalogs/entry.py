"""What a catalog is asked, and what it answers with: names, and where a table is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from lakelens.errors import Unsupported
from lakelens.io.redaction import redact

#: The parts of a name, from the outermost namespace to the table.
Parts = tuple[str, ...]
_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


@dataclass(frozen=True)
class CatalogEntry:
    """A table as a catalog knows it.

    `name` has the parts that the catalog knows it by, `format` is "hive", "iceberg", "paimon" or empty where the catalog
    does not say, `location` is the table's directory as recorded, `metadata_location` the catalog's current metadata file
    (Iceberg only), `facts` everything else as a nested dict. `storage_options` are the user's own, `answer` what the catalog
    says of the storage, which may hold credentials that it vends (see `combine_options`): a `repr` has none of them.
    """

    name: str
    format: str
    location: str
    metadata_location: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    storage_options: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    is_view: bool = False
    answer: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class CatalogSource:
    """Which catalog said something: its `name`, what `kind` it is, and where (`uri`), never with its credentials."""

    name: str
    kind: str
    uri: str = ""

    def __str__(self) -> str:
        where = f" at {self.uri}" if self.uri else ""
        return f"{self.kind} {self.name}{where}" if self.name else f"{self.kind}{where}"

    def describe(self) -> dict[str, str]:
        """The facts that a table keeps of the catalog that it was opened through."""
        return {"name": self.name, "kind": self.kind, "uri": self.uri}


def name_source(name: str, kind: str, uri: object) -> CatalogSource:
    """A source whose address is harmless.

    >>> print(name_source("prod", "SQL catalog", "postgresql://me:hunter2@host/db"))
    SQL catalog prod at postgresql://…@host/db
    """
    return CatalogSource(name, kind, redact(str(uri or "")))


class TableCatalog(Protocol):
    """Something that knows tables by their names. Whatever it raises is a `LakeError` that names it."""

    @property
    def source(self) -> CatalogSource:
        """Which catalog this is."""
        ...

    @property
    def connections(self) -> int:
        """How many questions may be under way together."""
        ...

    def locate(self, parts: Parts) -> CatalogEntry:
        """Where a table or a view is. Raises `Missing` with the nearest names."""
        ...

    def list_namespaces(self, parent: Parts) -> list[Parts]:
        """The namespaces right in another one, as whole names; `()` is the catalog itself."""
        ...

    def list_names(self, namespace: Parts) -> Iterator[Parts]:
        """The names of the tables and views right in a namespace, as whole names."""
        ...


def split_name(name: str) -> Parts:
    """The parts of a name; a part with a point in it is written in backticks.

    >>> split_name("shop.orders"), split_name("eu.shop.`a.b`")
    (('shop', 'orders'), ('eu', 'shop', 'a.b'))
    """
    parts = tuple(first.replace("``", "`") or second for first, second in _PART.findall(name))
    if not parts or (name != join_name(parts) and "`" not in name):
        raise Unsupported(
            f"{name!r} is not the name of a table",
            hint="database.table; a part with a point in it stands in backticks",
        )
    return parts


def join_name(parts: Parts) -> str:
    """Parts as one name, as it can be given again.

    >>> join_name(("shop", "orders")), join_name(("shop", "a.b"))
    ('shop.orders', 'shop.`a.b`')
    """
    return ".".join(
        "`" + part.replace("`", "``") + "`" if "." in part or "`" in part or not part else part
        for part in parts
    )
