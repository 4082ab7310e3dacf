"""What `remove_orphan_files` would do.

    looked at    everything below the table's location (or `location`) that was last written before `older_than` (3 days)
    left out     names that begin with `_` or `.`, and what is below such a directory, but for partition columns called so
    spared       what the current metadata document reaches: its log, hint and statistics; of all snapshots lists, manifests,
                 and the files of live entries

Paths are compared without scheme and authority; where those of a recorded location differ from the listing's, the engine
refuses (or spares, or deletes: `prefix_mismatch_mode`). s3n and s3a count as s3.
Follows `DeleteOrphanFilesSparkAction`, `FileSystemWalker` and `RemoveOrphanFilesProcedure` of Iceberg 1.12.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens.errors import Corrupt, Unsupported
from lakelens.formats.iceberg.maintenance.commits import assume, read_switch
from lakelens.formats.iceberg.maintenance.expiry import GC, GC_REFUSAL
from lakelens.formats.iceberg.maintenance.statement import write_call
from lakelens.model.maintenance.proposal import Assumption, OrphanRule, Proposal

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable

_AGE = timedelta(days=3)
_SHORTEST = timedelta(hours=24)
_MODES = ("error", "ignore", "delete")
_URI = re.compile(r"([A-Za-z][\w+.-]*):(?://([^/]*))?")
_SAME = {"s3n": "s3", "s3a": "s3"}


def plan_orphans(table: IcebergTable, values: Mapping[str, Any]) -> Proposal:
    """See the module."""
    now = datetime.now(UTC)
    before: datetime = values.get("older_than") or now - _AGE
    mode = str(values.get("prefix_mismatch_mode", "error")).lower()
    if mode not in _MODES:
        message = "option prefix_mismatch_mode: the value does not fit"
        raise Corrupt(message, expected=" or ".join(_MODES), seen=mode)
    refusal = _refuse(table, values, now, mode)
    call = write_call(table.name, "remove_orphan_files", dict(values))
    if refusal is not None:
        return Proposal(
            "Nothing changes: the engine refuses.", call, refusal=refusal, assumptions=assume(table)
        )
    below = values.get("location")
    return Proposal(
        changes="No snapshot changes, and no commit is made.",
        call=call,
        orphans=OrphanRule(before, None if below is None else _find_place(table, below)),
        assumptions=(*assume(table, commits=False), *_assume_more(table, before, mode)),
        notes=_list_notes(table, values),
    )


def _find_place(table: IcebergTable, location: str) -> str:
    """Where a location is now. Raises `Unsupported` for one outside of the table, which was not listed."""
    found = table._context.access.locator.locate(location).rstrip("/")
    root = table.location.rstrip("/")
    if found != root and not found.startswith(root + "/"):
        message = (
            f"option location: {location} is not below the table, and only the table's directory is listed"
        )
        raise Unsupported(message, path=table.location, hint=f"location={root}/data")
    return found


def _refuse(table: IcebergTable, values: Mapping[str, Any], now: datetime, mode: str) -> str | None:
    if not read_switch(table, GC, True):
        return GC_REFUSAL
    given = values.get("older_than")
    if given is not None and now - given < _SHORTEST:
        return "older_than is less than 24 hours ago: files of running commits could be deleted"
    odd = list(_list_prefixes(table))
    if odd and mode == "error":
        named = ", ".join(odd[:3])
        return f"recorded locations begin otherwise than the listing does ({named}): which files are orphans is not clear"
    return None


def _list_prefixes(table: IcebergTable) -> Iterator[str]:
    """Where recorded locations below the table have another scheme or authority than the table; none fits any."""
    own, place = _split(table._context.typed.location or "")
    if own is None:
        return
    seen: set[str] = set()
    for recorded in _list_recorded(table):
        prefix, path = _split(recorded)
        if prefix is None or prefix == own or prefix in seen or not path.startswith(place.rstrip("/") + "/"):
            continue
        seen.add(prefix)
        yield f"{prefix} for {own}"


def _list_recorded(table: IcebergTable) -> Iterator[str]:
    typed = table._context.typed
    for log in typed.metadata_log:
        yield log.metadata_file
    for snapshot in table.walk_snapshots():
        for listed in snapshot.manifest_lists:
            if listed.recorded_path is not None:
                yield listed.recorded_path
            yield from (manifest.recorded_path for manifest in listed.walk()[0])
    for (recorded,) in table.files.pick("recorded_path"):
        yield recorded


def _split(location: str) -> tuple[str | None, str]:
    """Scheme and authority of a location as the engine compares them (None where it has none), and its path.

    >>> _split("s3a://Bucket/t/a"), _split("/t/a")
    (('s3://bucket', '/t/a'), (None, '/t/a'))
    """
    matched = _URI.match(location)
    if matched is None:
        return None, location
    scheme = matched[1].lower()
    return f"{_SAME.get(scheme, scheme)}://{(matched[2] or '').lower()}", location[matched.end() :]


def _assume_more(table: IcebergTable, before: datetime, mode: str) -> Iterator[Assumption]:
    yield Assumption(
        f"Files of {before:%Y-%m-%d %H:%M:%S} UTC and later are young, and stay: a running commit may need them."
    )
    yield Assumption(
        "No other table or process keeps files below this location: that cannot be known from here.",
        is_known=False,
    )
    if mode == "delete" and any(True for _ in _list_prefixes(table)):
        yield Assumption(
            "prefix_mismatch_mode is delete: files that are recorded under another scheme or authority are deleted too, "
            "and are not among these.",
            is_known=False,
        )


def _list_notes(table: IcebergTable, values: Mapping[str, Any]) -> list[str]:
    notes = []
    if table.relocation.is_moved:
        notes.append(
            "Recorded locations are not where the table is now. An engine that were called on this copy would take every "
            "file for an orphan: call it where the table is recorded."
        )
    if values.get("dry_run"):
        notes.append("With dry_run => true the engine only lists these files.")
    return notes
