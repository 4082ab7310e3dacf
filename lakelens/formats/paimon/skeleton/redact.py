"""A Paimon table written again without its names and values: all are noted first, then all documents are rewritten."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, Missing
from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.manifests.index import DELETION_VECTORS
from lakelens.formats.paimon.metadata.layout import MAIN, TableLayout, list_keys, list_numbers
from lakelens.formats.paimon.metadata.schemas import PaimonSchema, Schemas
from lakelens.formats.paimon.metadata.wire import parse_json
from lakelens.formats.paimon.skeleton.column_book import ColumnBook
from lakelens.formats.paimon.skeleton.documents import LISTS, PaimonBones, drop_unused, make_walk
from lakelens.formats.paimon.skeleton.record_walk import Container, PlaceBook, RecordWalk, read_container
from lakelens.io.store import list_names
from lakelens.model.skeleton.redaction import Redaction
from lakelens.model.skeleton.rows import keep_ranges
from lakelens.progress import track

if TYPE_CHECKING:
    from lakelens.formats.paimon.table import PaimonTable

_SNAPSHOTS = ("snapshot", "tag", "changelog")
_FRAME = 8


def redact_table(table: PaimonTable, redaction: Redaction) -> PaimonBones:
    """The documents of a table and all of its branches, redacted. What cannot be read is said in the redaction's notes."""
    return _Redactor(table.context, redaction).run()


@dataclass
class _Stored:
    """A file of records as it is stored; `container` is None for one that cannot be read."""

    size: int
    container: Container | None


@dataclass
class _Sources:
    """What was read: documents by the paths that they get, and files of records by their names."""

    documents: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    texts: dict[str, bytes] = field(default_factory=dict)
    blanks: dict[str, int] = field(default_factory=dict)
    lists: dict[str, _Stored | None] = field(default_factory=dict)
    manifests: dict[str, _Stored | None] = field(default_factory=dict)
    indexes: dict[str, _Stored | None] = field(default_factory=dict)


class _Redactor:
    def __init__(self, context: TableContext, redaction: Redaction) -> None:
        self._context, self._redaction = context, redaction
        self._book = ColumnBook(redaction)
        self._places = PlaceBook(redaction.names)
        self._sources = _Sources()
        self._schemas: list[PaimonSchema] = []
        self._books: list[Schemas] = []

    def run(self) -> PaimonBones:
        root = self._context.layout.root
        branches = self._context.branch_names
        for branch in branches:
            self._read_branch(TableLayout(root, branch))
        sources = self._sources
        for _, raw in [document for document in sources.documents.values() if document[0] in _SNAPSHOTS]:
            for key in LISTS:
                if isinstance(raw.get(key), str):
                    self._read_file(sources.lists, raw[key])
            if isinstance(raw.get("indexManifest"), str):
                self._read_file(sources.indexes, raw["indexManifest"])
        for stored in [one for one in sources.lists.values() if one is not None and one.container]:
            for line in stored.container.records if stored.container else ():
                if isinstance(line.get("_FILE_NAME"), str):
                    self._read_file(sources.manifests, line["_FILE_NAME"])
        schemas = [schema for book in self._books for schema in reversed(book.all())]
        today = self._context.schema
        self._schemas = [today, *(schema for schema in schemas if schema is not today)]
        for schema in self._schemas:
            self._book.learn(schema)
        for manifest in sources.manifests.values():
            for record in manifest.container.records if manifest is not None and manifest.container else ():
                self._book.learn_buckets(record.get("_TOTAL_BUCKETS"))
        self._book.name_all(self._schemas)
        walk = RecordWalk(self._book, self._places, self._context.schema.partition_columns, self._find_schema)
        walk.is_noting = True
        for listed, kind in (
            (sources.lists, "line"),
            (sources.manifests, "entry"),
            (sources.indexes, "index"),
        ):
            for _, container in track(_list_readable(listed), "manifests", len(listed)):
                for record in container.records:
                    walk.write(record, kind)
        named = (*self._sources.lists, *self._sources.manifests, *self._sources.indexes)
        self._redaction.names.number_files([*walk.files, *named])
        self._book.publish(self._schemas)
        self._redaction.check_kept(self._redaction.columns)
        self._book.settle()
        walk.is_noting = False
        return self._write(walk)

    # --- reading -------------------------------------------------------------------------------------------------------

    def _read_branch(self, layout: TableLayout) -> None:
        names, store = self._redaction.names, self._context.store
        home = "" if layout.branch == MAIN else f"branch/branch-{names.ref(layout.branch, 'b')}/"
        self._books.append(Schemas(self._context.access, layout))
        for kind in ("schema", *_SNAPSHOTS, "consumer"):
            found = list_names(store, layout.folder(kind))
            numbered = kind in ("schema", "snapshot", "changelog")
            keys = list_numbers(found, kind) if numbered else list_keys(found, kind)
            for key in keys:
                made: object = names.ref(str(key), "t") if kind == "tag" else key
                made = names.word("consumer-", str(key)) if kind == "consumer" else made
                self._read_document(kind, layout.document(kind, key), f"{home}{kind}/{kind}-{made}")
            for hint in ("EARLIEST", "LATEST"):
                if hint in found and kind in ("snapshot", "changelog"):
                    text = self._read_hint(f"{layout.folder(kind)}/{hint}")
                    self._sources.texts[f"{home}{kind}/{hint}"] = text

    def _read_hint(self, path: str) -> bytes:
        """Read a hint; anything but a number becomes a question mark."""
        try:
            text = self._context.store.read(path)
        except LakeError:
            return b""
        return text if text.strip().isdigit() and len(text) < 20 else b"?"

    def _read_document(self, kind: str, path: str, made: str) -> None:
        try:
            data = self._context.store.read(path)
        except LakeError as error:
            self._redaction.note(f"{made} cannot be read and is left out: {error.message}")
            return
        try:
            self._sources.documents[made] = kind, parse_json(data, path)
        except LakeError as error:
            self._redaction.note(f"{made} cannot be read and is zeros: {error.message}")
            self._sources.blanks[made] = len(data)

    def _read_file(self, found: dict[str, _Stored | None], name: str) -> None:
        if name in found:
            return
        path = self._context.layout.shared("manifest", name)
        found[name] = None
        try:
            data = self._context.store.read(path)
        except LakeError as error:
            said = "are missing" if isinstance(error, Missing) else "cannot be opened"
            self._redaction.note(f"files that {said} are missing in the skeleton")
            return
        try:
            found[name] = _Stored(len(data), read_container(data, path))
        except LakeError as error:
            self._redaction.note(f"zeros stand for a file that cannot be read: {error.message}")
            found[name] = _Stored(len(data), None)

    def _find_schema(self, number: int) -> PaimonSchema | None:
        for book in self._books:
            if number in book.ids:
                return book.find(number)
        return None

    # --- writing -------------------------------------------------------------------------------------------------------

    def _write(self, walk: RecordWalk) -> PaimonBones:
        sources, places = self._sources, self._places
        documents, differences = make_walk(self._redaction, places), self._find_differences()
        files = {name: bytes(size) for name, size in sources.blanks.items()}
        vectors = self._copy_vectors()
        lists = self._write_files(sources.lists, places.list, "line", walk, files)
        manifests = self._write_files(sources.manifests, places.manifest, "entry", walk, files)
        indexes = self._write_files(sources.indexes, places.index_manifest, "index", walk, files)
        written = {
            path: documents.write(raw, "snapshot" if kind in _SNAPSHOTS else kind)
            for path, (kind, raw) in sources.documents.items()
        }
        made = PaimonBones(written, sources.texts, lists, manifests, indexes, files | vectors, differences)
        return drop_unused(made)

    def _write_files(
        self,
        found: Mapping[str, _Stored | None],
        place: Callable[[str], str],
        kind: str,
        walk: RecordWalk,
        files: dict[str, bytes],
    ) -> dict[str, Container]:
        made = {}
        for name, one in found.items():
            if one is not None and one.container is not None:
                made[place(name)] = one.container.keep(
                    [walk.write(record, kind) for record in one.container.records]
                )
            elif one is not None:
                files[f"manifest/{place(name)}"] = bytes(one.size)
        return made

    def _find_differences(self) -> dict[str, int]:
        """Find what recorded sizes differ by from real ones."""
        made: dict[str, int] = {}
        sources, places = self._sources, self._places
        for _, container in _list_readable(sources.lists):
            for line in container.records:
                stored, size = sources.manifests.get(line.get("_FILE_NAME", "")), line.get("_FILE_SIZE")
                if stored is not None and isinstance(size, int):
                    made[places.manifest(line["_FILE_NAME"])] = size - stored.size
        for path, (_, raw) in sources.documents.items():
            for key in LISTS:
                stored, size = sources.lists.get(str(raw.get(key))), raw.get(f"{key}Size")
                if stored is not None and isinstance(size, int):
                    made[f"{path} {key}"] = size - stored.size
        return made

    def _copy_vectors(self) -> dict[str, bytes]:
        """Files of deletion vectors: the vectors where they are, nothing else."""
        made: dict[str, bytes] = {}
        for _, container in _list_readable(self._sources.indexes):
            for record in container.records:
                name = record.get("_FILE_NAME")
                if not isinstance(name, str):
                    continue
                if record.get("_INDEX_TYPE") != DELETION_VECTORS or record.get("_EXTERNAL_PATH"):
                    self._redaction.note(
                        "index files other than of deletion vectors, which hold hashes or values, are left out"
                    )
                    continue
                path = self._context.layout.shared("index", name)
                if self._context.is_on("index-file-in-data-file-dir"):
                    partition, bucket = record.get("_PARTITION") or b"", record.get("_BUCKET") or 0
                    path = self._context.locate_data(partition, bucket, name, None, name)
                try:
                    data = self._context.store.read(path)
                except LakeError:
                    self._redaction.note("files that are missing are missing in the skeleton")
                    continue
                vectors = record.get("_DELETIONS_VECTORS_RANGES") or ()
                ranges = [(vector.get("f1"), vector.get("f2")) for vector in vectors]
                kept = [
                    (begin, length + _FRAME)
                    for begin, length in ranges
                    if isinstance(begin, int) and isinstance(length, int) and length >= 0
                ]
                made[f"index/{self._places.index(name)}"] = keep_ranges(data, kept)
        return made


def _list_readable(found: Mapping[str, _Stored | None]) -> Iterator[tuple[str, Container]]:
    for name, one in found.items():
        if one is not None and one.container is not None:
            yield name, one.container
