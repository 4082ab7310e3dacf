"""Rewrites metadata of copied engine-written tables to what a defective writer leaves: nothing is checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pytest

from lakelens.errors import Missing
from lakelens.io.local import LocalStore

Record = dict[str, Any]


def rewrite_avro(
    path: Path, change: Callable[[list[Record]], Any], header: dict[str, str] | None = None
) -> int:
    """Changes the records of an Avro file, and some keys of its header; gives its new length."""
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        schema, metadata, records = json.loads(reader.metadata["avro.schema"]), reader.metadata, list(reader)
    change(records)  # type: ignore[arg-type]
    kept = {key: value for key, value in metadata.items() if not key.startswith("avro.")}
    sink = BytesIO()
    fastavro.writer(sink, schema, records, codec="null", metadata={**kept, **(header or {})})
    path.write_bytes(sink.getvalue())
    return path.stat().st_size


def rewrite_manifest(
    place: Path, path: Path, change: Callable[[list[Record]], Any], header: dict[str, str] | None = None
) -> None:
    """Changes the entries of an Iceberg manifest, and its length in every list that names it."""
    size = rewrite_avro(path, change, header)

    def note(lines: list[Record]) -> None:
        for line in lines:
            if line["manifest_path"].endswith(path.name):
                line["manifest_length"] = size

    for listed in sorted((place / "metadata").glob("snap-*.avro")):
        rewrite_avro(listed, note)


def rewrite_lists(place: Path, change: Callable[[Record], Any]) -> None:
    """Changes every line of every manifest list."""
    for listed in sorted((place / "metadata").glob("snap-*.avro")):
        rewrite_avro(listed, lambda lines: [change(line) for line in lines])


def rewrite_document(path: Path, change: Callable[[Any], Any]) -> None:
    """Changes a JSON document."""
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def find_document(place: Path) -> Path:
    """The newest metadata document of an Iceberg table."""
    return sorted((place / "metadata").glob("*.metadata.json"))[-1]


def hide_origin(monkeypatch: pytest.MonkeyPatch, origin: str = "/tmp/lakes") -> None:
    """Nothing is at the place where the tables of tests/lakes were written."""

    def wrap(name: str) -> None:
        real = getattr(LocalStore, name)

        def call(self: LocalStore, path: str, *rest: Any) -> Any:
            if path.startswith(origin + "/"):
                raise Missing("no such file or directory", path=path)
            return real(self, path, *rest)

        monkeypatch.setattr(LocalStore, name, call)

    for name in ("info", "list", "read", "read_range"):
        wrap(name)
