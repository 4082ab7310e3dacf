"""Whether a place is a Delta table, and which versions its log has: what the names in `_delta_log` say.

See "Delta Log Entries", "Checkpoints", "Log Compaction Files" and "Last Checkpoint File" of the Delta protocol. Versions
follow each other without a gap from the first that is kept; one can be restored if an unbroken chain of commits leads to
it from version 0, or from a complete checkpoint.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import field
from datetime import datetime, timedelta

from lakelens.codecs.numbers import list_ranges
from lakelens.errors import LakeError
from lakelens.formats.base import Candidate
from lakelens.io.store import ObjectInfo
from lakelens.lazy import dataclass
from lakelens.model.finding import Findings
from lakelens.model.storage import Evidence

LOG = "_delta_log"
HINT = "_last_checkpoint"
VACUUMED = "_last_vacuum_info"
_COMMIT = re.compile(r"([0-9]{20})\.json")
_CHECKSUM = re.compile(r"([0-9]{20})\.crc")
_CLASSIC = re.compile(r"([0-9]{20})\.checkpoint\.parquet")
_PART = re.compile(r"([0-9]{20})\.checkpoint\.([0-9]{10})\.([0-9]{10})\.parquet")
_NAMED = re.compile(r"([0-9]{20})\.checkpoint\.([^.]+)\.(?:json|parquet)")
_COMPACTED = re.compile(r"([0-9]{20})\.([0-9]{20})\.compacted\.json")
_MOST = 2**63  # versions are numbers of 64 bits
_MOST_PARTS = 100_000
TICK = timedelta(milliseconds=1)
_SHOWN = ("_change_data", "_delta_index")  # that VACUUM lists although they are hidden to readers


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint that is complete: its version, its files in order, and what it is ("classic", "multi-part", "v2")."""

    version: int
    kind: str
    files: tuple[ObjectInfo, ...]


@dataclass(frozen=True)
class LogListing:
    """What the names in `_delta_log` say: commits, complete checkpoints, compacted commits by their first and last version.

    `versions` are those that can be restored, ascending; `incomplete` the versions of checkpoints with a missing part.
    """

    commits: Mapping[int, ObjectInfo]
    checkpoints: Mapping[int, tuple[Checkpoint, ...]]
    compacted: Mapping[tuple[int, int], ObjectInfo]
    checksums: Mapping[int, ObjectInfo]
    incomplete: Mapping[int, str] = field(default_factory=dict)
    versions: tuple[int, ...] = ()

    @property
    def is_log(self) -> bool:
        """Whether there is any commit or checkpoint."""
        return bool(self.commits or self.checkpoints or self.incomplete)

    def adjust_times(self) -> dict[int, datetime]:
        """Adjust the times at which commits were stored: a later commit is later, by a millisecond at least.

        See "In-Commit Timestamps" of the protocol; this is what time travel goes by without them.
        """
        times: dict[int, datetime] = {}
        newest: datetime | None = None
        for version, info in sorted(self.commits.items()):
            stored = info.modified
            if stored is None:
                continue
            if newest is not None and stored <= newest:
                stored = newest + TICK
            times[version] = newest = stored
        return times

    def report(self, folder: str, findings: Findings) -> None:
        """Keep as findings what is odd about the log: gaps, a head that was cleaned, checkpoints without all parts."""
        for version, seen in self.incomplete.items():
            message = f"the checkpoint of version {version} is not complete ({seen}) and is left out"
            findings.add("warning", "checkpoint-incomplete", folder, message)
        if not self.versions:
            findings.add("error", "log-gap", folder, "no version can be restored: the log has no beginning")
            return
        known = set(self.versions)
        lost = sorted(set(self.commits) - known)
        head = [version for version in lost if version < self.versions[0]]
        if head:
            message = (
                f"commits {head[0]} to {head[-1]} are there without what came before: the first version that can be "
                f"restored is {self.versions[0]}"
            )
            findings.add("note", "log-head", folder, message)
        above = [version for version in lost if version > self.versions[0]]
        if above:
            message = f"commits {list_ranges(above)} follow a gap without a checkpoint: their versions cannot be restored"
            findings.add("error", "log-gap", folder, message)


def read_names(listed: Iterable[ObjectInfo]) -> LogListing:
    """Read the names of a log's files.

    >>> log = read_names([ObjectInfo(f"/t/_delta_log/{0:020}.json", 1), ObjectInfo(f"/t/_delta_log/{2:020}.json", 1)])
    >>> log.versions, sorted(log.commits)
    ((0,), [0, 2])
    """
    commits: dict[int, ObjectInfo] = {}
    checksums: dict[int, ObjectInfo] = {}
    compacted: dict[tuple[int, int], ObjectInfo] = {}
    found: dict[int, list[Checkpoint]] = {}
    parts: dict[tuple[int, int], dict[int, ObjectInfo]] = {}
    for info in listed:
        name = info.name
        if info.is_dir or not name[:20].isdigit() or int(name[:20]) >= _MOST:
            continue
        version = int(name[:20])
        if _COMMIT.fullmatch(name):
            commits[version] = info
        elif _CHECKSUM.fullmatch(name):
            checksums[version] = info
        elif _CLASSIC.fullmatch(name):
            found.setdefault(version, []).append(Checkpoint(version, "classic", (info,)))
        elif matched := _PART.fullmatch(name):
            parts.setdefault((version, int(matched[3])), {})[int(matched[2])] = info
        elif matched := _COMPACTED.fullmatch(name):
            compacted[version, int(matched[2])] = info
        elif _NAMED.fullmatch(name):
            found.setdefault(version, []).append(Checkpoint(version, "v2", (info,)))
    incomplete: dict[int, str] = {}
    for (version, count), held in sorted(parts.items()):
        wanted = range(1, count + 1) if 0 < count <= _MOST_PARTS else ()
        if wanted and all(number in held for number in wanted):
            files = tuple(held[number] for number in wanted)
            found.setdefault(version, []).append(Checkpoint(version, "multi-part", files))
        else:
            incomplete[version] = f"{len(held)} of {count} parts"
    order = {"v2": 0, "classic": 1, "multi-part": 2}
    checkpoints = {
        version: tuple(sorted(held, key=lambda checkpoint: order[checkpoint.kind]))
        for version, held in sorted(found.items())
    }
    versions = _find_versions(commits, checkpoints, compacted)
    return LogListing(commits, checkpoints, compacted, checksums, incomplete, versions)


def _find_versions(
    commits: Mapping[int, ObjectInfo],
    checkpoints: Mapping[int, object],
    compacted: Mapping[tuple[int, int], ObjectInfo],
) -> tuple[int, ...]:
    starts = {last: first for first, last in compacted if first <= last}
    known: set[int] = set()
    for version in sorted({*commits, *checkpoints, *starts}):
        is_first = version == 0 and 0 in commits
        follows = version in commits and version - 1 in known
        is_joined = version in starts and (starts[version] == 0 or starts[version] - 1 in known)
        if is_first or follows or is_joined or version in checkpoints:
            known.add(version)
    return tuple(sorted(known))


def detect_table(place: Candidate) -> Evidence | None:
    """Detect why the place is a Delta table; None when it is not. Reads the names in `_delta_log`, and no file."""
    if not place.info.is_dir:
        return None
    folder = place.children.get(LOG)
    if folder is None or not folder.is_dir:
        return None
    try:
        listed = place.store.list(place.child(LOG))
    except LakeError:
        return None
    log = read_names(listed)
    names = {info.name for info in listed}
    if not log.is_log:
        return None
    reasons, files = [], []
    if log.commits:
        newest = max(log.commits)
        count = len(log.commits)
        many = "1 commit" if count == 1 else f"{count:,} commits"
        reasons.append(f"{LOG}/ holds {many} up to version {newest}")
        files.append(f"{LOG}/{log.commits[newest].name}")
    if log.checkpoints:
        latest = log.checkpoints[max(log.checkpoints)][0]
        reasons.append(f"{LOG}/ holds a {latest.kind} checkpoint of version {latest.version}")
        files.append(f"{LOG}/{latest.files[0].name}")
    if log.incomplete:
        reasons.append(f"{LOG}/ holds parts of a checkpoint of version {max(log.incomplete)}")
    if HINT in names:
        reasons.append(f"{LOG}/{HINT} is there")
        files.append(f"{LOG}/{HINT}")
    if "_staged_commits" in names:
        reasons.append(f"{LOG}/_staged_commits is there: a catalog may know of newer commits")
    others = ("iceberg",) if "metadata" in place.children else ()
    choice = f"the newest version that the log leads to, {log.versions[-1]}" if log.versions else None
    return Evidence(
        "delta",
        tuple(reasons),
        tuple(files),
        confidence=1.0,
        version_choice=choice,
        candidates=tuple(str(version) for version in log.versions[-20:]),
        others=others,
    )


def guess_role(relative_path: str) -> str:
    """Guess what a file below a table's directory is by its name.

    >>> guess_role("_delta_log/00000000000000000001.json"), guess_role("p=1/part-0.parquet")
    ('commit', 'data')
    >>> guess_role("_delta_log/00000000000000000001.crc"), guess_role("_delta_log/.00000000000000000001.json.crc")
    ('version checksum', 'checksum')
    """
    name = posixpath.basename(relative_path)
    if name.startswith(".") and name.endswith(".crc"):  # the local file system's, beside each file
        return "checksum"
    if not relative_path.startswith(f"{LOG}/"):
        if relative_path.startswith("_change_data/"):
            return "change data"
        return "deletion vectors" if re.fullmatch(r"deletion_vector_.*\.bin", name) else "data"
    if "/_sidecars/" in relative_path:
        return "sidecar"
    if "/_staged_commits/" in relative_path:
        return "staged commit"
    for pattern, role in (
        (_COMMIT, "commit"),
        (_CHECKSUM, "version checksum"),
        (_COMPACTED, "compacted commits"),
        (_CLASSIC, "checkpoint"),
        (_PART, "checkpoint"),
        (_NAMED, "checkpoint"),
    ):
        if pattern.fullmatch(name):
            return role
    return {HINT: "checkpoint hint", VACUUMED: "vacuum hint"}.get(name, "unknown")


def is_hidden(relative_path: str, columns: Container[str], is_mirrored: bool) -> bool:
    """Whether VACUUM leaves a file alone for its name: `_` or `.` in front, but for partition columns that are called so.

    `is_mirrored` says that the table has metadata of Iceberg, in `metadata`.

    >>> [is_hidden(name, ("_p",), False) for name in ("_p=1/a", "_a/b", "_change_data/c", "a/.b", "metadata/v1")]
    [False, True, False, True, False]
    """
    return any(
        (is_mirrored and part == "metadata")
        or (
            part.startswith((".", "_"))
            and not part.startswith(_SHOWN)
            and part.partition("=")[0] not in columns
        )
        for part in relative_path.split("/")
    )
