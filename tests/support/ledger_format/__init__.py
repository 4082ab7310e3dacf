"""A table format of another package, small but whole: what lakelens shows for it, it shows for any format.

    ledger/0001.json    a snapshot: when, what was done, the columns, the rows that are left, and its pages
    ledger/p1.csv       a page: one line per file, added (+) or removed (-), with its day, its rows and its bytes
    *.csv               data

It imports what a package of its own may import: `lakelens.errors`, `lakelens.io`, `lakelens.codecs`, `lakelens.model` and
`lakelens.formats.{base,access,contents}`. What it says to the answers is in `parts.py`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakelens.codecs.kinds import Kind
from lakelens.errors import Corrupt
from lakelens.formats.access import TableAccess
from lakelens.formats.base import Driver, OpenRequest
from lakelens.formats.contents import read_footer
from lakelens.io.relocation import Locator
from lakelens.io.store import walk
from lakelens.model.collections import Document
from lakelens.model.datafile import DataFile, FileAnswers
from lakelens.model.facts.traits import Figures, Traits
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.manifest import Entry, Manifest, ManifestAnswers, ManifestList, ManifestLists
from lakelens.model.schema import DataType, Field, PartitionField, PartitionSpec, Schema
from lakelens.model.snapshot import Ref, Snapshot, SnapshotAnswers
from lakelens.model.stats import Partition
from lakelens.model.storage import Evidence, OwnDirectory, StoredFile
from lakelens.model.table import Table, TableSource

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.bytes_view import BytesView

TEXT = DataType("text", "string")
KINDS = {"number": DataType("number", "int64"), "text": TEXT}
HOME = "ledger"
BY_DAY = PartitionSpec(0, (PartitionField("day", None, "day", "identity", result_type=TEXT),))
COLUMNS = "mark,file,day,rows,bytes,scribe"


class LedgerFile(DataFile):
    """A CSV file that a page names."""

    file_format = "csv"
    answers = f"{__name__}:ANSWERS"

    def __init__(self, ledger: Ledger, line: Mapping[str, str], page: str, number: int) -> None:
        self._ledger = ledger
        self.raw = line
        self.recorded_path = line["file"]
        self.path = f"{ledger.location}/{line['file']}"
        self.partition = Partition({"day": line["day"]}, {"day": line["day"]})
        self.record_count, self.size_bytes = int(line["rows"]), int(line["bytes"])
        self.snapshot_id, self.manifest = number, page
        self.scribe = line["scribe"]


def read_lines(file: LedgerFile, n: int) -> pa.Table:
    """The first lines."""
    import pyarrow.csv

    return pyarrow.csv.read_csv(io.BytesIO(file._ledger.access.store.read(file.path))).slice(0, n)


ANSWERS = FileAnswers(
    footer=lambda file: read_footer(file._ledger.access.store, file.path, "csv"), rows=read_lines
)


def read_page(page: Page) -> Iterator[Entry]:
    """Read an entry of each line."""
    text = page._ledger.access.store.read(page.path).decode("utf-8", "replace")
    head, _, rest = text.partition("\n")
    if head != COLUMNS or not rest.endswith("\n"):
        raise Corrupt("not a whole page", path=page.path, expected=COLUMNS, seen=head[:80])
    for line in csv.DictReader(io.StringIO(text)):
        if line["mark"] not in ("+", "-"):
            raise Corrupt("no mark", path=page.path, expected="+ or -", seen=line["mark"])
        try:
            file = LedgerFile(page._ledger, line, page.path, page.added_snapshot_id or 0)
        except (TypeError, ValueError) as error:
            raise Corrupt("a line is damaged", path=page.path, seen=error) from error
        status = "ADDED" if line["mark"] == "+" else "DELETED"
        yield Entry(status, page.added_snapshot_id, None, file, raw=line)


class Page(Manifest):
    """One page."""

    answers = ManifestAnswers(entries=read_page, columns=lambda page: page._ledger.describe_columns())
    late = {  # noqa: RUF012
        "header": lambda page: Document(
            {"format": "csv", "schema": COLUMNS.split(","), "codec": None, "metadata": {}}, "header"
        )
    }
    spec_id = 0

    def __init__(self, ledger: Ledger, name: str, number: int) -> None:
        self._ledger = ledger
        self.recorded_path = name
        self.path = f"{ledger.location}/{HOME}/{name}"
        self.size_bytes = ledger.access.store.info(self.path).size
        self.added_snapshot_id = number
        self.raw = {"name": name}

    def bytes_view(self) -> BytesView:
        """The page as text."""
        from lakelens import explain_bytes

        return explain_bytes(self._ledger.access.store.read(self.path), "ledger_page")


class PageList(ManifestList):
    """The pages that a snapshot names."""

    role = "all"
    late = {  # noqa: RUF012
        "_read_manifests": lambda listed: (listed._snapshot.pages, None),
        "header": lambda listed: Document(
            {"format": "json", "schema": None, "codec": None, "metadata": {}}, "header"
        ),
    }

    def __init__(self, snapshot: LedgerSnapshot) -> None:
        self._snapshot = snapshot
        self.path = self.recorded_path = snapshot.path
        self.size_bytes = None


class LedgerSnapshot(Snapshot):
    """One numbered document."""

    answers = SnapshotAnswers(
        files=lambda snapshot: FileSet(snapshot._fold, snapshot._ledger.describe_columns),
        manifest_lists=lambda snapshot: ManifestLists((PageList(snapshot),)),
        figures=lambda snapshot: Figures(
            rows=snapshot.raw["rows"], added_files=snapshot.raw["new"], files=snapshot.raw["files"]
        ),
    )

    def __init__(self, ledger: Ledger, path: str, raw: dict[str, Any]) -> None:
        self._ledger, self._table, self.path, self.raw = ledger, ledger.table, path, raw
        self.id: int = raw["number"]
        self.parent_id = self.id - 1 or None
        self.committed_at = datetime.fromisoformat(raw["at"])
        self.operation = raw["what"]
        self.record_count = raw["rows"]
        self.summary = {"scribe": raw["scribe"]}
        self.schema_id = self.id
        fields = enumerate(raw["columns"].items(), 1)
        self.schema = Schema(self.id, tuple(Field(n, name, KINDS[kind]) for n, (name, kind) in fields))

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        """Its pages, each with the number of the snapshot that wrote it."""
        return tuple(Page(self._ledger, name, number) for name, number in self.raw["pages"].items())

    def _fold(self) -> list[DataFile]:
        live: dict[str, DataFile] = {}
        for page in self.pages:
            attempt = self._ledger.access.attempt
            for entry in attempt(lambda page=page: page.entries, page.path, (), (self.id,)):  # type: ignore[misc]
                if entry.is_live:
                    live[entry.file.path] = entry.file
                else:
                    live.pop(entry.file.path, None)
        return list(live.values())

    def bytes_view(self) -> BytesView:
        """The document."""
        from lakelens import explain_bytes

        return explain_bytes(self._ledger.access.store.read(self.path or ""), "json")


class Ledger:
    """A directory with a ledger: what one table of it is made of."""

    def __init__(self, request: OpenRequest) -> None:
        self.location = request.path.rstrip("/")
        self.access = TableAccess(request.store, Locator(self.location, scheme=request.store.scheme))
        self.table = Table(
            TableSource(
                format="ledger",
                driver=LEDGER,
                location=self.location,
                name=request.name or self.location.rpartition("/")[2],
                evidence=request.evidence,
                access=self.access,
                traits=lambda: Traits("Ledger", "ledger of CSV files", has_sequence_numbers=False),
                format_version=lambda: 1,
                schema=lambda: self.newest.schema,
                schemas=lambda: (snapshot.schema for snapshot in self.table.snapshots),
                partitioning=lambda: BY_DAY,
                properties=lambda: self.newest.summary,
                metadata=lambda: Document(self.newest.raw, "metadata"),
                columns=self.describe_columns,
                refs=lambda: [Ref("main", "branch", self.newest.id)],
                snapshots=self.list_snapshots,
                current=lambda: self.newest,
                list_files=self.list_files,
            )
        )

    @property
    def newest(self) -> Snapshot:
        """The newest document: a ledger has one at least."""
        return self.table.snapshots[-1]

    def list_snapshots(self) -> list[LedgerSnapshot]:
        """List every document, by number."""
        found = []
        for info in sorted(self.access.store.list(f"{self.location}/{HOME}"), key=lambda info: info.name):
            if info.name.endswith(".json"):
                try:
                    document = json.loads(self.access.store.read(info.path))
                except ValueError as error:
                    raise Corrupt("not JSON", path=info.path, seen=error) from error
                found.append(LedgerSnapshot(self, info.path, document))
        return found

    def list_files(self) -> Iterator[StoredFile]:
        """List every object with its role."""
        for info in walk(self.access.store, self.location):
            if info.is_dir:
                continue
            below = info.path.removeprefix(f"{self.location}/")
            role = (
                "data file"
                if not below.startswith(HOME)
                else "page"
                if below.endswith(".csv")
                else "snapshot"
            )
            yield StoredFile(info.path, below, info.size, role)

    def describe_columns(self) -> FileColumns:
        """Describe the columns of files: they have a scribe beside what all files have."""
        stats = tuple((name, field.type) for name, field in self.newest.schema.leaves())
        return FileColumns(stats, (), (("day", TEXT),), (("scribe", TEXT),))


class LedgerFormat(Driver):
    """What the entry point names."""

    name = "ledger"
    looked_for = "ledger/0001.json"
    parts = {  # noqa: RUF012
        "defects": f"{__name__}.parts:BOOK",
        "health": f"{__name__}.parts:make_rules",
        "maintenance": f"{__name__}.parts:PROCEDURES",
    }
    kinds = (Kind("ledger_page", "ledger_format.parts", "Ledger page", magics=((0, b"mark,file,"),)),)
    known_formats = {"parchment": "parchment"}  # noqa: RUF012
    own_directories = {HOME: OwnDirectory("ledger", "Ledger", "ledger page")}  # noqa: RUF012
    lifetimes = f"{__name__}:lifetimes.toml"

    def detect(self, place: Any) -> Evidence | None:
        """A directory with a folder `ledger`."""
        if HOME not in place.children:
            return None
        return Evidence("ledger", ("there is a folder ledger",), (place.child(HOME),))

    def open(self, request: OpenRequest) -> Table:
        """The table."""
        return Ledger(request).table


LEDGER = LedgerFormat()
