"""Ways to damage a copy of an engine-written table: one figure or one byte, everything else as the engine left it.

Lengths that metadata records of a rewritten file are put right again, so that what is found is the planted damage alone.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro

from lakelens.codecs.avro.container import decode_header, encode_header

Records = list[dict[str, Any]]
Edit = Callable[[Any], Any]


def edit_avro(path: Path, edit: Callable[[Records], Records | None]) -> None:
    """Rewrite the records of an Avro file, its schema and its key/values kept."""
    reader = fastavro.reader(BytesIO(path.read_bytes()))
    schema = reader.writer_schema
    records: Records = list(reader)  # type: ignore[arg-type]
    known = {k: v for k, v in reader.metadata.items() if not k.startswith("avro.")}
    edited = edit(records)
    target = BytesIO()
    fastavro.writer(target, schema, records if edited is None else edited, codec="deflate", metadata=known)  # type: ignore[arg-type]
    path.write_bytes(target.getvalue())


def edit_head(path: Path, key: str, edit: Edit) -> bool:
    """Change one JSON value in the head of an Avro file, its records kept as they are; false where there is none.

    What `edit` returns is the new value; where it returns nothing, it has changed the one that it was given.
    """
    data = path.read_bytes()
    header = decode_header(data)
    value = json.loads(header.metadata.get(key, "null"))
    if not value:
        return False
    made = edit(value)
    held = {**header.metadata, key: json.dumps(value if made is None else made).encode()}
    path.write_bytes(encode_header(held, header.sync_marker) + data[header.header_size :])
    return True


def edit_json(path: Path, edit: Edit) -> None:
    """Rewrite a JSON document, gzipped or not."""
    data = path.read_bytes()
    packed = data[:2] == b"\x1f\x8b"
    document = json.loads(gzip.decompress(data) if packed else data)
    edit(document)
    text = json.dumps(document, indent=2).encode()
    path.write_bytes(gzip.compress(text) if packed else text)


class Lake:
    """A copy of a table that is about to be damaged."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find(self, pattern: str, place: int = 0) -> Path:
        """A file by a pattern below the table, in the order of names."""
        return sorted(path for path in self.root.glob(pattern) if path.is_file())[place]

    def cut(self, path: Path, share: float = 0.5) -> None:
        """Leave the first part of a file."""
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * share)])


class Iceberg(Lake):
    """A copy of an Iceberg table."""

    @property
    def document_path(self) -> Path:
        """The current metadata document."""
        paths = [path for path in (self.root / "metadata").iterdir() if ".metadata.json" in path.name]

        def number(path: Path) -> int:
            return int(path.name.lstrip("v").split("-")[0].split(".")[0])

        return max((path for path in paths if not path.name.endswith(".crc")), key=number)

    @property
    def document(self) -> dict[str, Any]:
        """The current metadata document, read."""
        data = self.document_path.read_bytes()
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        found: dict[str, Any] = json.loads(text)
        return found

    def edit_document(self, edit: Edit) -> None:
        """Rewrite the current document."""
        edit_json(self.document_path, edit)

    def edit_summary(self, place: int = -1, **figures: str | None) -> None:
        """Put figures into the summary of a snapshot, `_` standing for `-`; None takes one out."""

        def edit(document: Any) -> None:
            summary = document["snapshots"][place]["summary"]
            for name, value in figures.items():
                summary.pop(name.replace("_", "-"), None)
                if value is not None:
                    summary[name.replace("_", "-")] = value

        self.edit_document(edit)

    def list_path(self, place: int = -1) -> Path:
        """The manifest list of a snapshot, by its place in the document."""
        recorded: str = self.document["snapshots"][place]["manifest-list"]
        return self.root / "metadata" / recorded.rpartition("/")[2]

    def lines(self, place: int = -1) -> Records:
        """The lines of a snapshot's manifest list."""
        return list(fastavro.reader(BytesIO(self.list_path(place).read_bytes())))  # type: ignore[arg-type]

    def edit_list(self, edit: Callable[[Records], Records | None], place: int = -1) -> None:
        """Rewrite a manifest list."""
        edit_avro(self.list_path(place), edit)

    def manifest_path(self, number: int = 0, place: int = -1, content: int | None = None) -> Path:
        """A manifest of a snapshot, by its place among those of one content."""
        lines = [line for line in self.lines(place) if content is None or line.get("content", 0) == content]
        return self.root / "metadata" / lines[number]["manifest_path"].rpartition("/")[2]

    def edit_manifest(self, path: Path, edit: Callable[[Records], Records | None]) -> None:
        """Rewrite a manifest, and its length in every list that names it."""
        edit_avro(path, edit)
        self.fix_length(path)

    def fix_length(self, path: Path) -> None:
        """Record the length of a manifest as it is now."""

        def edit(lines: Records) -> None:
            for line in lines:
                if line["manifest_path"].endswith("/" + path.name):
                    line["manifest_length"] = path.stat().st_size

        for place in range(len(self.document["snapshots"])):
            if self.list_path(place).exists():
                self.edit_list(edit, place)


class Paimon(Lake):
    """A copy of a Paimon table."""

    def edit_snapshot(self, number: int, edit: Edit) -> None:
        """Rewrite a snapshot's document."""
        edit_json(self.root / "snapshot" / f"snapshot-{number}", edit)

    def snapshot(self, number: int) -> dict[str, Any]:
        """A snapshot's document."""
        found: dict[str, Any] = json.loads((self.root / "snapshot" / f"snapshot-{number}").read_text())
        return found

    @property
    def last(self) -> int:
        """The number of the newest snapshot."""
        return max(int(path.name.split("-")[1]) for path in (self.root / "snapshot").glob("snapshot-*"))

    def list_path(self, number: int, role: str = "delta") -> Path:
        """A manifest list of a snapshot."""
        return self.root / "manifest" / self.snapshot(number)[f"{role}ManifestList"]

    def lines(self, number: int, role: str = "delta") -> Records:
        """The lines of a manifest list."""
        return list(fastavro.reader(BytesIO(self.list_path(number, role).read_bytes())))  # type: ignore[arg-type]

    def edit_list(self, number: int, edit: Callable[[Records], Records | None], role: str = "delta") -> None:
        """Rewrite a manifest list, and its size where snapshots record it."""
        path = self.list_path(number, role)
        edit_avro(path, edit)
        self._fix_lists(path)

    def _fix_lists(self, path: Path) -> None:
        for found in self.root.glob("**/snapshot-*"):
            if found.is_file():
                edit_json(found, lambda document: _fix_sizes(document, path))

    def manifest_path(self, number: int, role: str = "delta", place: int = 0) -> Path:
        """A manifest of a snapshot."""
        return self.root / "manifest" / str(self.lines(number, role)[place]["_FILE_NAME"])

    def edit_manifest(self, path: Path, edit: Callable[[Records], Records | None]) -> None:
        """Rewrite a manifest, and its size in every list that names it."""
        edit_avro(path, edit)

        def fix(lines: Records) -> None:
            for line in lines:
                if line["_FILE_NAME"] == path.name:
                    line["_FILE_SIZE"] = path.stat().st_size

        for listed in (self.root / "manifest").glob("manifest-list-*"):
            edit_avro(listed, fix)
            self._fix_lists(listed)


def _fix_sizes(document: dict[str, Any], path: Path) -> None:
    for role in ("base", "delta", "changelog"):
        if document.get(f"{role}ManifestList") == path.name and document.get(f"{role}ManifestListSize"):
            document[f"{role}ManifestListSize"] = path.stat().st_size


class Hive(Lake):
    """A copy of a Hive table."""
