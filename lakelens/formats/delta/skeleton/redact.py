"""A Delta table written again: names, values and paths of its log are noted first, then each file of it is rewritten."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.codecs.z85 import decode_z85, encode_z85
from lakelens.errors import LakeError
from lakelens.formats.delta.actions import Action
from lakelens.formats.delta.check import digest_hint
from lakelens.formats.delta.context import read_schema
from lakelens.formats.delta.discovery import HINT, LOG, guess_role
from lakelens.formats.delta.skeleton.documents import SPECIFIED, LogPens, make_walk, misleads
from lakelens.formats.delta.vectors import place_vector, read_positions
from lakelens.io.store import walk as walk_store
from lakelens.model.skeleton.columns import ValueBook
from lakelens.model.skeleton.redaction import Redaction
from lakelens.model.skeleton.rows import (
    DAMAGE,
    RowDocument,
    keep_ranges,
    make_maps,
    parse_lines,
    rename_fields,
)
from lakelens.model.skeleton.walk import MARK, keep_number
from lakelens.progress import track

if TYPE_CHECKING:
    from lakelens.formats.delta.log_table import DeltaTable

KINDS = ("commits", "documents", "files", "actions", "statistics")
_TABLES = {"checkpoint hint": "hint", "version checksum": "checksum"}
_ROLES = ("commit", "checkpoint", "sidecar", "compacted commits", "staged commit", *_TABLES)
_OWN = ("minValues", "maxValues", "nullCount", "partitionValues_parsed")  # these hold columns of the table
_FILES = ("add", "remove", "cdc")
_EMPTY: list[dict[str, Any]] = [{"commitInfo": {}}]


# The documents of a Delta skeleton, and what can be cut from them.


@dataclass(frozen=True)
class DeltaBones:
    """A redacted Delta table, file by file. `extra` is what the recorded size of a sidecar differs by from its real one."""

    documents: Mapping[str, RowDocument]
    files: Mapping[str, bytes]
    extra: Mapping[str, int]
    is_signed: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        """See `Bones.kinds`."""
        return KINDS

    def encode(self, location: str) -> Iterator[tuple[str, bytes]]:
        """See `Bones.encode`. Sidecars first: their sizes are recorded; the hint last, which sums them up."""
        sizes: dict[str, int] = {}
        order = {"sidecar": 0, "checkpoint hint": 2}
        for path, document in sorted(self.documents.items(), key=lambda pair: order.get(pair[1].role, 1)):
            if document.role == "checkpoint hint":
                document = replace(document, rows=[self._sum_up(row, sizes) for row in document.rows])
            elif document.role == "checkpoint":
                document = replace(document, rows=[self._measure(row, sizes) for row in document.rows])
            data = document.encode(location)
            sizes[path] = len(data)
            yield path, data
        yield from self.files.items()

    def _measure(self, row: dict[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
        sidecar = row.get("sidecar") or {}
        size = sizes.get(f"{LOG}/_sidecars/{sidecar.get('path')}")
        if size is None or sidecar.get("sizeInBytes") is None:
            return row
        return row | {"sidecar": sidecar | {"sizeInBytes": size + self.extra.get(sidecar["path"], 0)}}

    def _sum_up(self, hint: dict[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
        made = dict(hint)
        own = [
            size
            for path, size in sizes.items()
            if path.startswith(f"{LOG}/{hint.get('version')!s:0>20}.check")
        ]
        if made.get("sizeInBytes") is not None and own and not made.get("v2Checkpoint"):
            made["sizeInBytes"] = sum(own) + self.extra.get(HINT, 0)
        if "checksum" in made:
            made["checksum"] = digest_hint(made) if self.is_signed else "0" * 32
        return made

    def list_parts(self, kind: str) -> list[str]:
        """See `Bones.list_parts`."""
        documents = self.documents.items()
        if kind in ("commits", "documents"):
            return [
                path
                for path, one in documents
                if (one.role == "commit") == (kind == "commits") and one.rows != _EMPTY
            ]
        if kind == "files":
            names = (_name_file(row) for _, one in documents for row in one.rows)
            return [*dict.fromkeys(name for name in names if name)]
        rows = ((f"{path}#{at}", row) for path, one in documents for at, row in enumerate(one.rows))
        if kind == "actions":
            return [key for key, row in rows if _name_file(row) is None and row not in _EMPTY]
        return ["statistics"] if any("stats" in (row.get("add") or {}) for _, row in rows) else []

    def leave_out(self, kind: str, keys: Collection[str]) -> DeltaBones:
        """See `Bones.leave_out`. A commit between others stays, empty: versions have no gaps."""
        gone, made = frozenset(keys), dict(self.documents)
        for path, one in self.documents.items():
            if kind == "statistics" and gone:
                for row in (rows := [dict(row) for row in one.rows]):
                    for file in _FILES:
                        if row.get(file):
                            row[file] = {
                                name: row[file][name] for name in row[file] if not name.startswith("stats")
                            }
                made[path] = replace(one, rows=rows)
            elif kind == "documents" and path in gone:
                del made[path]
            elif kind == "commits" and path in gone:
                made[path] = replace(one, rows=_EMPTY)
            elif kind in ("files", "actions"):
                kept = [
                    row
                    for at, row in enumerate(one.rows)
                    if f"{path}#{at}" not in gone and _name_file(row) not in gone
                ]
                made[path] = replace(one, rows=kept or (_EMPTY if one.role == "commit" else kept))
        for path in sorted((path for path in made if made[path].role == "commit"), reverse=True):
            if made[path].rows != _EMPTY:
                break
            del made[path]
        text = repr([one.rows for one in made.values()])
        made = {
            path: one
            for path, one in made.items()
            if one.role != "sidecar" or path.rpartition("/")[2] in text
        }
        vectors = {path: path.rpartition("deletion_vector_")[2].removesuffix(".bin") for path in self.files}
        named = {path: encode_z85(uuid.UUID(name).bytes) for path, name in vectors.items() if name != path}
        files = {
            path: data for path, data in self.files.items() if path in text or named.get(path, path) in text
        }
        return replace(self, documents=made, files=files)


def _name_file(row: Mapping[str, Any]) -> str | None:
    found = next((row[kind] for kind in _FILES if row.get(kind)), None)
    return None if found is None else str(found.get("path"))


# From a table to its bones.


def redact_table(table: DeltaTable, redaction: Redaction) -> DeltaBones:
    """Redact the log of a table and its deletion vectors. What cannot be read is said in the redaction's notes."""
    return _Rewriting(table, redaction).run()


class _Rewriting:
    def __init__(self, table: DeltaTable, redaction: Redaction) -> None:
        self._table, self._context, self._redaction = table, table._context, redaction
        self._book = ValueBook(redaction, misleads)
        self._pens = LogPens(redaction, self._book)
        self._vectors: dict[str, tuple[str, list[tuple[int, int]]]] = {}
        self._blank: dict[str, int] = {}

    def run(self) -> DeltaBones:
        stored = dict(self._read_files())
        self._learn()
        walk = make_walk(self._pens, self._write_vector)
        for one in track(stored.values(), "files of the log", len(stored)):
            walk.write_each(one.rows, _TABLES.get(one.role, "line"))
        names = self._redaction.names
        named = [path.rpartition("/")[2] for path in (*stored, *self._blank) if self._is_named(path)]
        names.number_files([*self._pens.files, *named])
        self._redaction.check_kept([*self._redaction.columns])
        self._book.settle()
        documents, extra = {}, dict[str, int]()
        for path, one in stored.items():
            rows = [
                row if row == DAMAGE else walk.write(row, _TABLES.get(one.role, "line")) for row in one.rows
            ]
            schema = one.schema and rename_fields(one.schema, SPECIFIED, _OWN, names.refer)
            documents[self._place(path)] = replace(one, rows=rows, schema=schema)
            for row in one.rows:
                held = row["sidecar"] if isinstance(row.get("sidecar"), dict) else {}
                name, size = held.get("path"), held.get("sizeInBytes")
                there = stored.get(f"{LOG}/_sidecars/{str(name).rpartition('/')[2]}")
                if there is not None and isinstance(size, int):
                    extra[self._pens.name_sidecar(str(name))] = size - there.size
        hint = stored.get(f"{LOG}/{HINT}")
        is_signed = (
            hint is not None and hint.rows != [] and hint.rows[0].get("checksum") == digest_hint(hint.rows[0])
        )
        files = {self._place(path): bytes(size) for path, size in self._blank.items()}
        return DeltaBones(documents, files | dict(self._copy_vectors()), extra, is_signed)

    # --- reading --------------------------------------------------------------------------------------------------------

    def _read_files(self) -> Iterator[tuple[str, RowDocument]]:
        context = self._context
        for info in walk_store(context.store, context.folder):
            short = info.path.removeprefix(f"{context.root}/")
            role = guess_role(short)
            if info.is_dir or role not in _ROLES:
                continue
            try:
                yield short, self._read(info.path, role)
            except LakeError as error:
                self._redaction.note(f"zeros stand for a file that cannot be read: {error.message}")
                self._blank[short] = info.size

    def _read(self, path: str, role: str) -> RowDocument:
        if path.endswith(".parquet"):
            import pyarrow as pa

            opened, rows = self._context.open_columns(path), list[dict[str, Any]]()
            schema = pa.schema([field for field in opened.schema if field.name in SPECIFIED])
            with opened.refuse():
                for _, batch in opened.iterate(schema.names):
                    rows += [make_maps(row, pa.struct(schema)) for row in batch.to_pylist()]
            return RowDocument(role, rows, opened.size_bytes, schema)
        data = self._context.store.read(path)
        return RowDocument(
            role, parse_lines(data.replace(b"\n", b" ") if role in _TABLES else data), len(data)
        )

    def _learn(self) -> None:
        """Learn the columns of every schema, the newest first, and give them their names."""
        names, context, actions = self._redaction.names, self._context, list[Action]()
        for version in reversed(self._table._versions):
            found = self._table._replay.find_metadata(version)
            if found is not None and found not in actions:
                actions.append(found)
        for action in actions:
            columns = context.access.attempt(partial(read_schema, action), action.path, context.columns)
            for leaf in columns.leaves:
                names.reserve((*leaf.physical, *leaf.name.split(".")))
            for number, leaf in enumerate(columns.leaves):
                parts = leaf.name.split(".")
                for part in (*parts, *leaf.physical):
                    names.column(part, leaf.field.id or number, leaf.name)
                self._book.learn(leaf.physical, leaf.field.type, (leaf.name, *parts))
            for field in columns.schema.fields:
                for name in (field.name, columns.physical.get(field.name, field.name)):
                    names.column(name, field.id or 0)
        for leaf in context.columns.leaves:
            self._book.publish(leaf.name, leaf.physical, leaf.field.type, self._pens.rename_path(leaf.name))

    # --- writing --------------------------------------------------------------------------------------------------------

    @staticmethod
    def _is_named(path: str) -> bool:
        """Check whether a file of the log has a name of its own, beside its version."""
        name = path.rpartition("/")[2]
        return "/_s" in path or (
            ".checkpoint." in name
            and not name[32:].removesuffix(".parquet").replace(".", "").isdigit()
            and name[32:] != "parquet"
        )

    def _place(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        if not self._is_named(path):
            return path
        if folder.endswith("_staged_commits"):
            return f"{folder}/{name[:20]}.{self._redaction.names.file(name)}.json"
        return f"{folder}/{self._pens.name_sidecar(name)}"

    def _write_vector(self, held: Mapping[str, Any]) -> dict[str, Any]:
        """Write the descriptor of a vector: positions are no values, so an inline one that decodes stays what it is."""
        made = {
            name: keep_number(held[name]) for name in ("offset", "sizeInBytes", "cardinality") if name in held
        }
        action = Action("add", {"path": "", "deletionVector": held}, "", 0, 0)
        kind = held.get("storageType")
        made["storageType"] = kind if kind in ("u", "p", "i") else "?"
        made["pathOrInlineDv"] = "?"
        try:
            place = place_vector(action, self._context)
            if place.inline is not None:
                data = decode_z85(place.inline)
                read_positions(action, self._context)
                made["pathOrInlineDv"] = encode_z85(data[: place.size])
                return made
        except LakeError:
            return made
        number = self._pens.name_vector(place.path)
        folder = "x/" if kind == "u" and len(held["pathOrInlineDv"]) > 20 else ""
        path = f"{folder}deletion_vector_{number}.bin"
        ranges = self._vectors.setdefault(place.path, (path, []))[1]
        ranges.append((place.offset or 0, place.size + 8))
        self._vectors[place.path] = (path, ranges)
        made["pathOrInlineDv"] = (
            f"{folder[:-1]}{encode_z85(number.bytes)}" if kind == "u" else f"file:{MARK}/{path}"
        )
        return made

    def _copy_vectors(self) -> Iterator[tuple[str, bytes]]:
        """Copy files of deletion vectors: the vectors where they are, nothing else."""
        for place, (path, ranges) in self._vectors.items():
            try:
                data = self._context.store.read(place)
            except LakeError:
                self._redaction.note("files that are missing are missing in the skeleton")
                continue
            yield path, keep_ranges(data, ranges)
