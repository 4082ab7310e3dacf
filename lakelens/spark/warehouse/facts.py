"""The rows of one table in an inventory, made on an executor from the table and from what is known already.

Opening reads the metadata document (Iceberg), the newest snapshot and schema (Paimon) or nothing. If nothing has changed
since the last look, nothing more is read. Otherwise the manifest lists of new snapshots are read, and the manifests that
were never read are planned; a Hive table is listed.

Answers that an inventory is asked for are the figures and rows that each question declares.
"""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lakelens.answers.own import QUESTIONS
from lakelens.answers.survey import answer_questions
from lakelens.errors import LakeError, Missing, NotATable
from lakelens.model.facts.facts import FIGURES, FINDING, list_facts
from lakelens.model.fileset import FileColumns
from lakelens.model.finding import Finding, Findings
from lakelens.model.scan.files_to_arrow import batch_entries, make_request
from lakelens.model.scan.plan import FileBatch, FileScan, ScanRequest, ScanTask
from lakelens.model.scan.scan_to_arrow import cut_portions
from lakelens.opening import open_located
from lakelens.options import display
from lakelens.spark.warehouse.columns import MANIFEST_FACTS, REF_FACTS, SNAPSHOT_FACTS
from lakelens.spark.warehouse.tables import TablePlace

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.manifest import Manifest
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table


# The columns read from entries, and the entries of a format that does not read by column: read at once, then shipped.

#: The columns of entries that a scan gives under the same name.
SCANNED = (
    "status",
    "content",
    "path",
    "file_format",
    "partition",
    "bucket",
    "level",
    "record_count",
    "size_bytes",
    "spec_id",
    "schema_id",
    "sequence_number",
    "snapshot_id",
    "manifest",
)
OWN_SIZE = "content_size_in_bytes"  # of a deletion vector, whose Puffin file holds others too


def request_entries(columns: FileColumns) -> ScanRequest:
    """The columns that an inventory reads from the entries of a manifest."""
    names = [*SCANNED, *(name for name, _ in columns.further if name == OWN_SIZE)]
    return make_request(columns, stats=False, wanted=names, entries=True, identity=True)


@dataclass(frozen=True)
class PreparedScan(FileScan):
    """A scan whose tasks carry their entries, or the error of a manifest that cannot be read."""

    columns: FileColumns
    tasks: tuple[ScanTask, ...]

    @property
    def findings(self) -> Findings:
        """None: a manifest that cannot be read raises."""
        return Findings()

    def read(
        self, tasks: Sequence[ScanTask], request: ScanRequest, removals: pa.Table | None = None
    ) -> Iterator[FileBatch]:
        """Read the entries of the tasks. Raises the `LakeError` of one that could not be read."""
        for task in tasks:
            if isinstance(task.line, LakeError):
                raise task.line
            yield task.line

    def with_tasks(self, tasks: Sequence[ScanTask]) -> PreparedScan:
        """The same scan over other tasks."""
        return replace(self, tasks=tuple(tasks))


def prepare_scan(manifests: Iterable[Manifest], columns: FileColumns) -> PreparedScan:
    """Read the entries of manifests one by one."""
    tasks = []
    for position, manifest in enumerate(manifests):
        line: FileBatch | LakeError
        try:
            numbered = list(enumerate(manifest.entries))
        except LakeError as error:
            line = error
        else:
            line = batch_entries(numbered, columns, request_entries(columns), position, _encode_identities)
        tasks.append(ScanTask(position, manifest.path, manifest.size_bytes or 0, line=line))
    return PreparedScan(columns, tuple(tasks))


def _encode_identities(files: Sequence[Any]) -> pa.Array:
    import pyarrow as pa

    return pa.array([repr(file.identity).encode("utf-8", "backslashreplace") for file in files], pa.binary())


#: Manifests of about this many bytes are read at once; those of one table in rounds, each committed by itself.
PORTION_BYTES = 4 * 1024 * 1024
ROUND_BYTES = 2 * 1024 * 1024 * 1024
_MOST_FINDINGS = 1_000
_ANSWERED = "; answered: "  # in a signature, before the answers that were given

Row = dict[str, Any]
Rows = Iterator[tuple[str, Row]]
#: The questions that its tables can be asked: those of other packages have no columns here.
ANSWERABLE = {name: question for name, question in QUESTIONS.items() if question.figures}


@dataclass(frozen=True, slots=True)
class Known:
    """What the inventory knows about a table: its last signature, snapshots by key, manifests by the MD5 of their path."""

    signature: str | None = None
    is_incomplete: bool = False
    snapshots: frozenset[str] = frozenset()
    manifests: frozenset[bytes] = frozenset()


def describe_place(place: TablePlace, known: Known) -> Rows:
    """Describe the rows of one table, each with the name of its data set; the error of a broken one. Never raises."""
    try:
        # all or nothing: an error half way makes the table broken. How far an executor is belongs in no notebook
        with display.using(progress=False):
            rows = list(_Look(place, known).describe())
    except Exception as error:  # one broken table must not hide the others
        rows = list(describe_failure(place, known, error))
    yield from rows


@dataclass
class _Walked:
    """The result of a walk through snapshots: manifests by path with the commit that added them, and tasks to read them."""

    manifests: dict[str, Manifest] = field(default_factory=dict)
    origins: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    tasks: dict[str, ScanTask] = field(default_factory=dict)
    scan: FileScan | None = None
    lists: int = 0


class _Look:
    """One look at one table."""

    def __init__(self, place: TablePlace, known: Known) -> None:
        self._place = place
        self._known = known
        if place.error is not None:
            raise LakeError(place.error, path=place.url)
        self._table: Table = open_located(
            place.url,
            format=place.format,
            name=place.name,
            catalog=place.facts,
            storage_options=place.options or None,
        )
        self._key: Row = {"table": self._table.name, "location": place.url, "format": self._table.format}
        self._walked = _Walked()

    def describe(self) -> Rows:
        current = self._table.current
        facts = self._gather_facts(current)
        listed = list(self._list_files(current)) if self._table.traits.files_are_listed else []
        stamps = [(row["path"], row["size_bytes"], row["modified"]) for row in listed]
        signature = _sign([facts, None if current is None else make_key(current), stamps])
        state_of, _, answered = (self._known.signature or "").partition(_ANSWERED)
        is_answered = set(self._place.answers) <= set(answered.split())
        if signature == state_of and is_answered and not self._known.is_incomplete:
            yield "counts", {"status": "unchanged"}
            return
        yield from (("listings", row) for row in listed)
        found, present = self._find_snapshots(current)
        stems = {row["key"]: row["is_ancestor"] for row in present}
        for snapshot in found:
            yield from self._describe_snapshot(snapshot, bool(stems.get(make_key(snapshot))))
        # the manifests of the current state, in order, without Paimon's changelog
        manifests = (
            [] if current is None else [one for one in current.manifests if one.content != "changelog"]
        )
        for position, path in enumerate(dict.fromkeys(manifest.path for manifest in manifests)):
            yield "members", {"location": self._key["location"], "manifest": path, "position": position}
        yield from self._plan_reading()
        errors = [one for one in self._table.findings if one.severity == "error"]
        # those of this look; those of lists that were read completely are kept already
        for finding in self._table.findings[:_MOST_FINDINGS]:
            yield "findings", describe_finding(finding, self._key, of_state=True)
        status = "new" if self._known.signature is None else "changed"
        yield "counts", {"status": status, "manifest_lists": self._walked.lists}
        state = {"is_gone": False, "is_incomplete": bool(errors), "looked_at": datetime.now(UTC)}
        if self._place.answers:
            yield from describe_answers(self._table, self._key, self._place.answers)
            signature += _ANSWERED + " ".join(self._place.answers)
        yield "tables", {**self._key, **facts, **state, "present": present, "signature": signature}

    def _gather_facts(self, current: Snapshot | None) -> Row:
        table = self._table
        # without a metastore each of the listed files would be opened
        knows_columns = not table.traits.files_are_listed or bool((table.catalog or {}).get("columns"))
        leaves = list(table.schema.leaves()) if knows_columns else None
        return {
            "format_version": table.format_version,
            "uuid": table.uuid,
            "metadata_location": table.metadata_path,
            "current_snapshot_id": None if current is None else current.id,
            "committed_at": None if current is None else current.committed_at,
            "snapshot_count": table.snapshot_count,
            "record_count": None if current is None else current.record_count,
            "schema_id": table.schema.id if knows_columns else None,
            "column_count": None if leaves is None else len(leaves),
            "columns": None if leaves is None else [f"{name} {leaf.type}" for name, leaf in leaves],
            "partitioning": [str(one.name) for one in table.partitioning.fields],
            "properties": {str(k): str(v) for k, v in table.properties.items()},
            "refs": [list_facts(REF_FACTS, ref) for ref in table.refs],
        }

    def _find_snapshots(self, current: Snapshot | None) -> tuple[list[Snapshot], list[Row]]:
        """The snapshots to walk, and the keys of all that exist, with whether they are ancestors of the current one."""
        if self._table.traits.numbers_branches:
            return self._find_numbered(current)
        every = list(self._table.snapshots)
        ancestors = (
            set()
            if current is None
            else {current.id, *(ancestor.id for ancestor in current.walk_ancestors())}
        )
        present = [{"key": make_key(one), "is_ancestor": one.id in ancestors} for one in every]
        if not self._known.is_incomplete:
            every = [snapshot for snapshot in every if make_key(snapshot) not in self._known.snapshots]
        return every, present

    def _find_numbered(self, current: Snapshot | None) -> tuple[list[Snapshot], list[Row]]:
        """Paimon's, from the newest back to the first known one: each is a file, and all before it are known too.

        A rollback removes the later ones; new ones with the same numbers have other manifest lists, and so other keys.
        """
        found: list[Snapshot] = []
        present: set[str] = set()
        number = None if current is None else current.id
        while number is not None and self._table.has_snapshot(number):
            try:
                one = self._table.snapshot(number)
            except LakeError:
                number -= 1
                continue
            if make_key(one) in self._known.snapshots and not self._known.is_incomplete:
                for key in self._known.snapshots:
                    known = int(key.split(":", 1)[0])
                    if known <= number and self._table.has_snapshot(known):
                        present.add(key)
                break
            found.append(one)
            number -= 1
        present |= {make_key(one) for one in found}
        return found[::-1], [{"key": key, "is_ancestor": True} for key in sorted(present)]

    def _describe_snapshot(self, snapshot: Snapshot, is_ancestor: bool) -> Rows:
        """Describe the row of a snapshot, after its lists are walked; `partial` if one of them cannot be read."""
        before = {_identify(finding) for finding in self._table.findings}
        count = self._walk_lists(snapshot)
        fresh = [finding for finding in self._table.findings if _identify(finding) not in before]
        partial = any(one.severity == "error" for one in fresh)
        key = make_key(snapshot)
        if key in self._known.snapshots:
            return  # walked again only because a list could not be read
        if not partial:
            yield from (("findings", describe_finding(one, self._key, of_state=False)) for one in fresh)
        summary = {str(k): str(v) for k, v in snapshot.summary.items()}
        facts = {
            **list_facts(SNAPSHOT_FACTS, snapshot, summary=summary),
            **list_facts(FIGURES, snapshot.figures),
        }
        state = {"manifest_count": count, "is_ancestor": is_ancestor, "key": key, "partial": partial}
        yield "snapshots", {**self._key, "snapshot_id": snapshot.id, **facts, **state}

    def _walk_lists(self, snapshot: Snapshot) -> int:
        """Read the lists of a snapshot, note every manifest in them, and return how many there are."""
        walked = self._walked
        walked.lists += len(snapshot.manifest_lists)
        manifests = snapshot.manifests
        for manifest in manifests:
            walked.manifests.setdefault(manifest.path, manifest)
        for named in snapshot.manifest_lists:
            if named.role != "all":
                self._note_roles(named, snapshot)
        fresh = [one for one in manifests if hash_path(one.path) not in self._known.manifests]
        if fresh:
            scan = snapshot.scan_entries()
            if scan is None:
                unread = [one for one in fresh if one.path not in walked.tasks]
                scan = prepare_scan(unread, snapshot.files.columns)
            walked.scan = scan
            for task in scan.tasks:
                walked.tasks.setdefault(task.path, task)
        return len(manifests)

    def _note_roles(self, named: Any, snapshot: Snapshot) -> None:
        """Note a manifest in Paimon's delta list was added by this commit, one in its base list by an earlier one."""
        try:
            manifests = named.manifests
        except LakeError:
            return  # a finding already
        for manifest in manifests:
            if named.role != "base" or manifest.path not in self._walked.origins:
                origin = None if named.role == "base" else snapshot.id
                self._walked.origins[manifest.path] = named.role, origin

    def _plan_reading(self) -> Rows:
        """Portions of manifests that were never read: pickled plans to read them, with their rows."""
        walked = self._walked
        fresh = [path for path in walked.manifests if hash_path(path) not in self._known.manifests]
        if walked.scan is None or not fresh:
            return
        tasks = [walked.tasks[path] for path in fresh if path in walked.tasks]
        done = 0
        for portion in cut_portions(tasks, PORTION_BYTES):
            lines = []
            for task in portion:
                manifest = walked.manifests[task.path]
                role, origin = walked.origins.get(manifest.path, ("all", manifest.added_snapshot_id))
                facts = list_facts(MANIFEST_FACTS, manifest, role=role)
                lines.append({**self._key, **facts, "manifest": manifest.path, "snapshot_id": origin})
            scan = walked.scan.with_tasks(portion)
            plan = pickle.dumps((self._key, scan, self._table.traits.unquote, lines))
            size = sum(task.size_bytes for task in portion)
            place = {"location": self._key["location"], "round": done // ROUND_BYTES}
            yield "portions", {**place, "size_bytes": size, "plan": plan}
            done += size

    def _list_files(self, current: Snapshot | None) -> Iterator[Row]:
        """Give the files of a listed table, from listing and names; none is opened."""
        for file in current.files if current is not None else ():
            yield {
                **self._key,
                "content": file.content,
                "path": file.path,
                "file_format": file.raw.get("format"),
                "partition": str(file.partition),
                "partition_texts": dict(file.partition.texts),
                "bucket": file.bucket,
                "size_bytes": file.size_bytes,
                "own_size_bytes": file.size_bytes,
                "modified": file.raw.get("modified"),
            }


def make_key(snapshot: Snapshot) -> str:
    """Make the key of a snapshot in its table: its number and its lists, because Paimon reuses numbers after a rollback."""
    lists: Sequence[str | None] = [one.recorded_path for one in snapshot.manifest_lists]
    return f"{snapshot.id}:{_sign(lists)[:16]}"


def _sign(facts: Any) -> str:
    text = json.dumps(facts, default=str, sort_keys=True, ensure_ascii=True)
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _identify(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.path, finding.message


def hash_path(path: str) -> bytes:
    """Hash the key of a path: its MD5, like Spark's `unhex(md5(path))`."""
    return hashlib.md5(path.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()


def describe_finding(finding: Finding, key: Row, *, of_state: bool) -> Row:
    """Describe a finding as a row."""
    return {**key, **list_facts(FINDING, finding), "of_state": of_state}


def describe_failure(place: TablePlace, known: Known, error: Exception) -> Rows:
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


def describe_answers(table: Table, key: Row, asked: Collection[str]) -> Rows:
    """The rows of the answers that are asked for; one that fails leaves its figures empty, and `error` says why."""
    answered = answer_questions(table, asked)
    yield from ((of, {**key, **row}) for of, row in answered.rows)
    yield "answers", {**key, **answered.figures, "error": "; ".join(answered.failed) or None}
