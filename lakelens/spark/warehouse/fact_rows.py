"""The rows of any table in an inventory: what is known about it, its findings, and why it cannot be opened."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lakelens.errors import LakeError, Missing, NotATable
from lakelens.model.facts import FINDING, list_facts
from lakelens.model.finding import Finding
from lakelens.spark.warehouse.tables import Place

Row = dict[str, Any]
Rows = Iterator[tuple[str, Row]]


@dataclass(frozen=True, slots=True)
class Known:
    """What the inventory knows about a table: its last signature, snapshots by key, manifests by the MD5 of their path."""

    signature: str | None = None
    is_incomplete: bool = False
    snapshots: frozenset[str] = frozenset()
    manifests: frozenset[bytes] = frozenset()


def hash_path(path: str) -> bytes:
    """The key of a path: its MD5, like Spark's `unhex(md5(path))`."""
    return hashlib.md5(path.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()


def describe_finding(finding: Finding, key: Row, *, of_state: bool) -> Row:
    """A finding as a row."""
    return {**key, **list_facts(FINDING, finding), "of_state": of_state}


def describe_failure(place: Place, known: Known, error: Exception) -> Rows:
    """The rows of a table that cannot be opened: its error and a finding, or that it is gone; none if known already."""
    is_gone = place.remembered and isinstance(error, Missing | NotATable)
    code = "gone" if is_gone else place.error_code or type(error).__name__.lower()
    message = place.error or (
        str(error) if isinstance(error, LakeError) else f"{type(error).__name__}: {error}"
    )
    signature = f"{code}: {message}"
    is_same = known.signature == signature
    changed = "gone" if is_gone else "new" if known.signature is None else "changed"
    yield "counts", {"status": "unchanged" if is_same else changed, "broken": int(not is_gone)}
    if is_same:
        return
    key = {"table": place.name or place.url.rsplit("/", 1)[-1], "location": place.url, "format": place.format}
    facts = {"error_code": code, "error": message, "is_gone": is_gone, "is_incomplete": False}
    yield "tables", {**key, **facts, "looked_at": datetime.now(UTC), "signature": signature}
    if not is_gone:
        yield "findings", describe_finding(Finding("error", code, place.url, message), key, of_state=True)
