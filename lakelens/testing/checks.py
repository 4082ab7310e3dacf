"""The checks: each opens its subject again, asks it what lakelens asks of a table, and says what does not conform.

A card may be made of nothing that acts, loads or sends, and its text of no character that acts on a terminal.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import tempfile
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, NotATable
from lakelens.formats.base import Format, OpenRequest
from lakelens.formats.registry import describe_candidate, get_format, load_formats
from lakelens.io.local import open_source
from lakelens.io.memory import MemoryStore
from lakelens.io.store import ObjectInfo, Store
from lakelens.io.tracing import TracingStore
from lakelens.model.table import Table
from lakelens.options import display

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.scan.plan import FileScan


# A table under test: opened again and again through a store that only reads, with what seems to be damaged or changed.


class NotConforming(AssertionError):
    """What a format does otherwise than it has to."""


@dataclass(frozen=True)
class Subject:
    """A table to check: the format, and the directory, which nothing may change."""

    format: Format
    path: str

    def __str__(self) -> str:
        return f"{self.format.name}:{Path(self.path).name}"

    @property
    def store(self) -> Store:
        """The store that the directory is in."""
        return open_source(self.path)[0]

    def open(self, changed: Mapping[str, bytes] | None = None) -> Table:
        """Give the table, opened again; `changed` are bytes that objects seem to have, by path."""
        store = TracingStore(Changed(self.store, changed or {}))
        place = describe_candidate(store, self.path)
        evidence = self.format.detect(place)
        if evidence is None:
            raise NotATable("not recognised by the format under test", path=self.path)
        return self.format.open(OpenRequest(store, self.path, evidence))


class Changed:
    """A store in which some objects have other bytes."""

    def __init__(self, store: Store, objects: Mapping[str, bytes]) -> None:
        self.store, self.objects = store, objects
        self.scheme = store.scheme

    def info(self, path: str) -> ObjectInfo:
        """See `Store`."""
        if path in self.objects:
            return ObjectInfo(path, len(self.objects[path]))
        return self.store.info(path)

    def list(self, path: str) -> list[ObjectInfo]:
        """See `Store`."""
        return [self.info(one.path) if one.path in self.objects else one for one in self.store.list(path)]

    def read(self, path: str) -> bytes:
        """See `Store`."""
        return self.objects[path] if path in self.objects else self.store.read(path)

    def read_range(self, path: str, start: int, length: int) -> bytes:
        """See `Store`."""
        if path not in self.objects:
            return self.store.read_range(path, start, length)
        return MemoryStore({"/x": self.objects[path]}).read_range("/x", start, length)


def find_subjects(format: Format | str, *directories: str | os.PathLike[str]) -> list[Subject]:
    """Find the tables of a format in directories: each that its `detect` is surest of, below which nothing is looked for.

    Parameters
    ----------
    format
        The format, or the name of one that is installed.
    *directories
        Tables, or directories of tables, at any depth.

    Raises
    ------
    Unsupported
        No format of that name is installed.
    NotConforming
        No table of the format is there: a kit that checks nothing would always be content.

    Examples
    --------
    >>> from lakelens.samples import sample
    >>> [str(subject) for subject in find_subjects("paimon", sample("paimon").location)]
    ['paimon:paimon']
    """
    chosen = get_format(format) if isinstance(format, str) else format
    found = [
        subject for directory in directories for subject in _walk(chosen, str(Path(directory).resolve()))
    ]
    if not found:
        raise NotConforming(f"no table of {chosen.name} is in {', '.join(map(str, directories))}")
    return found


def _walk(format: Format, path: str) -> Iterator[Subject]:
    place = describe_candidate(open_source(path)[0], path)
    evidence = format.detect(place)
    ours = 0.0 if evidence is None else evidence.confidence
    others = 0.0
    for other in load_formats().values():
        if other.name != format.name:
            with suppress(LakeError):
                seen = other.detect(place)
                others = max(others, 0.0 if seen is None else seen.confidence)
    if ours and ours >= others:
        yield Subject(format, path)
    elif others < 0.5:  # what is inside of another format's table is that table's
        for child in place.children.values():
            if child.is_dir:
                yield from _walk(format, child.path)


def require(holds: object, words: str) -> None:
    """Raise `NotConforming` unless something holds."""
    if not holds:
        raise NotConforming(words)


def hash_directory(path: str) -> dict[str, tuple[int, int, str]]:
    """Size, time and content of every file below a directory."""
    return {
        str(file.relative_to(path)): (
            file.stat().st_size,
            file.stat().st_mtime_ns,
            hashlib.sha256(file.read_bytes()).hexdigest(),
        )
        for file in sorted(Path(path).rglob("*"))
        if file.is_file()
    }


# what a card may be made of: whatever acts, loads or sends is not among it
_NAMES = """
    a abbr b br button caption circle code col colgroup dd defs details div dl dt em figcaption figure g h1 h2 h3 h4 h5 h6 i
    kbd li line ol p path pattern polygon polyline pre rect s samp section small span strong style sub summary sup svg
    table tbody td text tfoot th thead title tr tspan u ul use var wbr
"""
_TAGS = frozenset(_NAMES.split())
_PICTURE = "data:image/svg+xml;base64,"
_LINK = re.compile(r"^(#|https?://)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def list_faults(markup: str) -> list[str]:
    """List what stands in a card that acts, loads or sends.

    >>> list_faults("<p>fine</p><img src=x onerror=f()><a href='javascript:f()'>")
    ['<img>', "<img src='x'>", "<img onerror='f()'>", "<a href='javascript:f()'>"]
    """
    parser = _Markup()
    parser.feed(markup)
    parser.close()
    return parser.faults


def find_control(text: str) -> str | None:
    """Find the first character that acts on a terminal; tabs and ends of lines do not.

    >>> find_control("a\\tb\\n"), find_control("a\\x1b[31m")
    (None, '\\x1b')
    """
    found = _CONTROL.search(text)
    return None if found is None else found.group()


class _Markup(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        source = dict(attrs).get("src") or ""
        is_picture = tag == "img" and source.startswith(_PICTURE)
        if is_picture:
            drawn = b64decode(source.removeprefix(_PICTURE)).decode("utf-8", "replace")
            self.faults += list_faults(drawn)
        elif tag not in _TAGS:
            self.faults.append(f"<{tag}>")
        for name, value in attrs:
            is_link = name in ("href", "xlink:href", "src", "action") and not (is_picture and name == "src")
            if name.startswith("on") or (is_link and not _LINK.match(value or "")):
                self.faults.append(f"<{tag} {name}={value!r}>")


CONTENTS = ("data", "position_deletes", "equality_deletes", "deletion_vector", "changelog")
STATUSES = ("EXISTING", "ADDED", "DELETED", "ADD", "DELETE")
STATS = ("lower_bounds", "upper_bounds", "null_counts", "value_counts", "nan_counts", "column_sizes")
#: What a directory may be called: markup, a way out of an attribute, a terminal's escape.
HOSTILE = "<img src=x onerror=alert(1)>\"'&\x1b[31m"
_SNAPSHOTS = 4  # of each table, the last ones
_DAMAGED = 12  # objects of each table


@dataclass(frozen=True)
class Check:
    """One thing that is checked; calling it with a subject raises `NotConforming`."""

    run: Callable[[Subject], None]

    def __str__(self) -> str:
        return self.run.__name__.removeprefix("check_")

    @property
    def words(self) -> str:
        """What it asks for."""
        return (self.run.__doc__ or "").strip()

    def __call__(self, subject: Subject) -> None:
        self.run(subject)


def _pick_snapshots(table: Table) -> list[Any]:
    return [*table.snapshots][-_SNAPSHOTS:] or ([table.current] if table.current is not None else [])


def walk_table(table: Table) -> list[Any]:
    """Walk what a table is made of, read: of its last snapshots manifest lists, manifests, entries and files."""
    things: list[Any] = [table, table.snapshots, table.refs, table.schema, table.partitioning, table.evidence]
    for snapshot in _pick_snapshots(table):
        manifests = [*snapshot.manifests]
        things += [snapshot, *snapshot.manifest_lists, *manifests[:3], snapshot.files, *snapshot.files[:3]]
        for manifest in manifests[:3]:
            things += [*manifest.entries][:3]
    return [*things, table.files, table.history, table.tree(), table.findings]


def compare_tables(ours: pa.Table, other: pa.Table, words: str) -> None:
    """Compare the same columns of the same types with the same values; NaN equals NaN."""
    require(ours.schema.equals(other.schema), f"{words}: the columns are {ours.schema} and {other.schema}")
    require(ours.num_rows == other.num_rows, f"{words}: {ours.num_rows} rows and {other.num_rows}")
    for name in ours.column_names:
        if not ours[name].equals(other[name]):
            for row, pair in enumerate(zip(ours[name].to_pylist(), other[name].to_pylist(), strict=True)):
                one, two = map(repr, pair)  # in words, in which NaN equals NaN
                require(one == two, f"{words}: {name} of row {row} is {one} and {two}")


def check_recognises(subject: Subject) -> None:
    """`detect` says why, with a confidence from 0 to 1, and takes neither an empty directory nor one of other files."""
    evidence = subject.open().evidence
    require(evidence.format == subject.format.name, f"the evidence is of {evidence.format!r}")
    require(evidence.reasons, "the evidence has no reason")
    require(0 < evidence.confidence <= 1, f"the confidence is {evidence.confidence}")
    other = MemoryStore({"/empty/below/x": b"", "/other/readme.txt": b"hello", "/other/a/b.bin": bytes(64)})
    for path in ("/empty/below", "/other"):
        try:
            found = subject.format.detect(describe_candidate(other, path))
        except LakeError:
            continue
        require(
            found is None or found.confidence < 0.5, "a directory of other files is recognised for certain"
        )


def check_opens(subject: Subject) -> None:
    """Opening reads no manifest and no data; one line and one name say what it is; `lakelens.open` finds it as well."""
    from lakelens.opening import open_table

    table = subject.open()
    read = set(table.reads.paths)
    require(table.format == subject.format.name, f"its format is {table.format!r}")
    require("\n" not in repr(table) and table.name, "its repr is no line, or it has no name")
    require(table.traits.title, "its traits have no title")
    heavy = {manifest.path for snapshot in _pick_snapshots(table) for manifest in snapshot.manifests}
    heavy |= {file.path for file in table.files}
    require(not read & heavy, f"opening reads {sorted(read & heavy)[:3]}")
    again = open_table(subject.path)
    require(
        again.format == table.format,
        f"lakelens.open takes it for {again.format!r}: is the entry point there?",
    )


def check_walks(subject: Subject) -> None:
    """Snapshots have one id each and parents that exist or are gone, refs lead to snapshots, entries and files are sound."""
    table = subject.open()
    ids = [snapshot.id for snapshot in table.snapshots]
    require(len(set(ids)) == len(ids), "two snapshots have one id")
    if table.current is not None and table.current.id is not None:
        require(table.current.id in ids, "the current snapshot is none of the snapshots")
    for ref in table.refs:
        if ref.snapshot_id is not None:
            require(table.snapshot(ref.name).id == ref.snapshot_id, f"ref {ref.name} leads elsewhere")
    for snapshot in _pick_snapshots(table):
        moment = snapshot.committed_at
        require(moment is None or moment.tzinfo is not None, f"snapshot {snapshot.id}: a time without a zone")
        for manifest in snapshot.manifests:
            statuses = {entry.status for entry in manifest.entries}
            require(statuses <= set(STATUSES), f"{manifest.path}: statuses {statuses}")
        _check_files(subject, snapshot)
    errors = [finding for finding in table.findings if finding.severity == "error"]
    require(not errors, f"a sound table has error findings: {errors[:2]}")


def _check_files(subject: Subject, snapshot: Any) -> None:
    identities = Counter(file.identity for file in snapshot.files)
    require(all(count == 1 for count in identities.values()), "a file is in a set twice")
    for file in snapshot.files:
        require(file.content in CONTENTS, f"{file.path}: content {file.content!r}")
        require(file.record_count is None or file.record_count >= 0, f"{file.path}: {file.record_count} rows")
        try:
            size = subject.store.info(file.path).size
        except LakeError:
            continue  # an older snapshot's files may be gone
        whole = file.content != "deletion_vector"  # of which a file may hold several
        require(not whole or size == file.size_bytes, f"{file.path}: {file.size_bytes} bytes, stored {size}")


def check_arrow_shapes(subject: Subject) -> None:
    """Files are the documented columns: all, without statistics, some by name, in batches; so are snapshots and refs."""
    from lakelens.model.scan.files_to_arrow import COMMON, list_columns

    table = subject.open()
    files = table.files
    whole, plain = files.to_arrow(), files.to_arrow(stats=False)
    columns = files.columns
    require(whole.column_names == list_columns(columns, stats=True), f"columns: {whole.column_names}")
    require(
        [name for name in COMMON if name in whole.column_names][:4] == list(COMMON)[:4],
        "common columns are missing",
    )
    require(whole.num_rows == plain.num_rows == len(files), "to_arrow has other rows than the set")
    require(not set(STATS) & set(plain.column_names), "stats=False leaves statistics in")
    some = files.to_arrow(columns=["size_bytes", "path"])
    require(some.column_names == ["size_bytes", "path"], f"columns=[…] gives {some.column_names}")
    require(
        some["path"].to_pylist() == [file.path for file in files], "to_arrow is in another order than the set"
    )
    rows = sum(batch.num_rows for batch in files.batches())
    require(rows == len(files), f"batches() has {rows} rows for {len(files)} files")
    require(
        table.snapshots.to_arrow().num_rows == len(table.snapshots), "snapshots.to_arrow() has other rows"
    )
    require(table.refs.to_arrow().num_rows == len(table.refs), "refs.to_arrow() has other rows")
    missing: Exception | None = None
    try:
        files.to_arrow(columns=["no such column"])
    except Exception as error:
        missing = error
    require(isinstance(missing, KeyError), f"an unknown column gives {missing!r}")


def list_scans(subject: Subject) -> Iterator[tuple[Any, FileScan]]:
    """Snapshots with a plan to read their files by column, which reads so whatever the size."""
    for snapshot in _pick_snapshots(subject.open()):
        scan = snapshot.scan_files()
        if scan is not None:
            if hasattr(scan, "fast"):
                scan.fast = True
            yield snapshot, scan


def check_columns_equal_records(subject: Subject) -> None:
    """What is read by column equals what is read file by file, value by value; nothing to do for a format without plans."""
    from lakelens.model.scan.files_to_arrow import build_table
    from lakelens.model.scan.scan_to_arrow import read_table

    for snapshot, scan in list_scans(subject):
        found = read_table(scan)
        if found is not None:  # the same file twice, which only the record path merges
            recorded = build_table([*snapshot.files], snapshot.files.columns)
            compare_tables(found, recorded, f"snapshot {snapshot.id}, by column and by record")


def check_pickles(subject: Subject) -> None:
    """A plan that was sent to another process reads the same; so does a table, where it can be sent."""
    from lakelens.model.scan.scan_to_arrow import read_table

    for snapshot, scan in list_scans(subject):
        here, there = read_table(scan), read_table(pickle.loads(pickle.dumps(scan)))
        require(
            (here is None) == (there is None),
            f"snapshot {snapshot.id}: a plan sent elsewhere reads otherwise",
        )
        if here is not None and there is not None:
            compare_tables(there, here, f"snapshot {snapshot.id}, sent elsewhere")
    from lakelens.opening import open_table

    table = open_table(subject.path)
    if any("__reduce__" in kind.__dict__ for kind in type(table).__mro__[:-1]):
        sent = pickle.loads(pickle.dumps(table))
        require(len(sent.files) == len(table.files), "a table that was sent elsewhere has other files")


def check_damage(subject: Subject) -> None:
    """Damaged objects are findings or one `LakeError`, never another exception; a manifest's loss is said."""
    walked = subject.open()
    manifests = {manifest.path for snapshot in _pick_snapshots(walked) for manifest in snapshot.manifests}
    whole = len([*walked.files])
    walk_table(walked)
    paths = [path for path in dict.fromkeys(walked.reads.paths) if not subject.store.info(path).is_dir]
    for path in [*sorted(paths, key=lambda path: path not in manifests)][:_DAMAGED]:
        data = subject.store.read(path)
        middle = len(data) // 2
        for spoiled in (data[:middle], b"", data[:middle] + bytes(64) + data[middle + 64 :]):
            words = f"{path} damaged ({len(spoiled)} of {len(data)} bytes)"
            try:
                table = subject.open({path: spoiled})
                found = len([*table.files])
                known = [*table.findings]
            except LakeError as error:
                require(path not in manifests, f"{words}: walking raises {error}")
                continue
            except Exception as error:
                require(False, f"{words}: {type(error).__name__}: {error}")
            lost = path in manifests and found < whole
            require(not lost or known, f"{words}: {whole - found} files are missing without a finding")


def check_cards(subject: Subject) -> None:
    """Every object has a line, a text and cards of four levels, within the limit, of markup that only shows."""
    from lakelens.views.render.html import render_card

    with display.using(strict_views=True):
        for thing in walk_table(subject.open()):
            require("\n" not in repr(thing), f"the repr of {type(thing).__name__} has several lines")
            require(str(thing).strip(), f"{type(thing).__name__} has no text")
            for detail in range(4):
                markup = render_card(thing, detail=detail)
                faults = list_faults(markup)
                require(not faults, f"the card of {thing!r} holds {faults[:3]}")
                require(len(markup.encode()) <= display.max_bytes, f"the card of {thing!r} is too large")


def check_moves_and_escapes(subject: Subject) -> None:
    """A copy under a hostile name has the same files and snapshots, and the name stays text in cards and terminals."""
    from lakelens.views.render.html import render_card

    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder, HOSTILE)
        shutil.copytree(subject.path, there)
        table, here = Subject(subject.format, str(there)).open(), subject.open()
        require(
            [snapshot.id for snapshot in table.snapshots] == [snapshot.id for snapshot in here.snapshots],
            "a copy has other snapshots",
        )
        moved = [file.path.removeprefix(f"{there}/") for file in table.files]
        require(
            moved == [file.path.removeprefix(f"{subject.path}/") for file in here.files],
            "a copy has other files",
        )
        for thing in walk_table(table):
            for text in (str(thing), *(render_card(thing, detail=detail) for detail in (1, 3))):
                require(
                    find_control(text) is None, f"{type(thing).__name__} lets {find_control(text)!r} through"
                )
            for detail in (1, 3):
                faults = list_faults(render_card(thing, detail=detail))
                require(not faults, f"the card of a {type(thing).__name__} lets {faults[:2]} through")


def check_diffs(subject: Subject) -> None:
    """Between two of the last snapshots, what was added and removed is what the two sets of files say.

    A file that is in both at one place, of which only the deletes are others, may be in neither.
    """
    table = subject.open()
    states = [snapshot for snapshot in _pick_snapshots(table) if snapshot.id is not None]
    for before, after in pairwise(states):
        diff = table.diff(before, after)
        one, two = ({file.identity: file.path for file in state.files} for state in (before, after))
        added, removed = ({file.identity for file in side} for side in (diff.added, diff.removed))
        new, gone = two.keys() - one.keys(), one.keys() - two.keys()
        # a file that is where it was, with other deletes, is one that stays
        stay = {two[identity] for identity in new} & {one[identity] for identity in gone}
        moved = {key for key in new if two[key] not in stay}, {key for key in gone if one[key] not in stay}
        require(
            (added, removed) in ((new, gone), moved),
            f"the diff of {before.id} and {after.id} is not their files'",
        )
        require(diff.to_text(2), "a diff has no text")


def check_only_reads(subject: Subject) -> None:
    """Walking, checking and showing a table changes no file of it."""
    before = hash_directory(subject.path)
    table = subject.open()
    for thing in walk_table(table):
        str(thing)
    table.check()
    require(hash_directory(subject.path) == before, "a file of the table was changed")


CHECKS = tuple(
    Check(run)
    for run in (
        check_recognises,
        check_opens,
        check_walks,
        check_arrow_shapes,
        check_columns_equal_records,
        check_pickles,
        check_damage,
        check_cards,
        check_moves_and_escapes,
        check_diffs,
        check_only_reads,
    )
)
