"""`expire_partitions`: the partitions that are old enough are dropped from the current state.

    values-time   older than `expiration_time` by the time that the partition's values stand for; see `partition_time`
    update-time   no file was made since: the newest creation time of any entry of the partition

One OVERWRITE commit takes all their files from the current state; older snapshots keep them, until they expire. Follows
`PartitionExpire`, `PartitionValuesTimeExpireStrategy` and `PartitionUpdateTimeExpireStrategy` of Paimon.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens.errors import Corrupt, LakeError
from lakelens.formats.paimon.maintenance.deletion import (
    AT,
    ENGINE,
    describe_engine,
    describe_fate,
    is_new_engine,
    list_beside,
    list_others,
    name_table,
    read_now,
    require_paimon,
    write_call,
)
from lakelens.formats.paimon.maintenance.estimates import list_metadata
from lakelens.formats.paimon.maintenance.settings import parse_span
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.metadata.partitions import format_value
from lakelens.formats.paimon.roles import name_index
from lakelens.model.maintenance import Assumption, Option, Piece, Procedure, Proposal

if TYPE_CHECKING:
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.table import Table


# The time that a partition stands for, read from its values as the engine does.
#
#     pattern     `$dt $hour:00:00`: values in place of names; without one the first value alone
#     formatter   a pattern of Java's `DateTimeFormatter`; without one `2024-1-2`, or `2024-1-2 3:4:5.6`, months and
#                 days beyond their ends carried over
#
# A value is as the engine has it inside: a DATE is a number of days, which reads as no time. Of Java's pattern letters y,
# u, M, d, H, m, s, S and texts in quotes are known; others raise `LakeError`. Follows `PartitionTimeExtractor` of Paimon.

_PLAIN = re.compile(r"(\d{1,10})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?)?")
_LETTERS = {"y": "year", "u": "year", "M": "month", "d": "day", "H": "hour", "m": "minute", "s": "second"}


def extract_time(values: Mapping[str, str], pattern: str | None, formatter: str | None) -> datetime | None:
    """The time of a partition by its values as text, in order; None where they are no time.

    >>> extract_time({"dt": "20240102", "h": "7"}, "$dt $h", "yyyyMMdd H")
    datetime.datetime(2024, 1, 2, 7, 0)
    >>> extract_time({"dt": "2024-01-32"}, None, None), extract_time({"dt": "19723"}, None, None)
    (datetime.datetime(2024, 2, 1, 0, 0), None)
    """
    if not values:
        return None
    text = next(iter(values.values())) if pattern is None else pattern
    if pattern is not None:
        for name, value in values.items():
            text = text.replace(f"${name}", value)
    try:
        return _parse_plain(text) if formatter is None else _parse_by(text, formatter)
    except (ValueError, OverflowError):
        return None
    except re.error as error:
        message = "partition.timestamp-formatter: it names a part of the time twice, or is too long"
        raise Corrupt(message, seen=str(formatter)[:80]) from error


def _parse_plain(text: str) -> datetime | None:
    found = _PLAIN.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    micros = int((found[7] or "0").ljust(9, "0")) // 1000
    rest = timedelta(days=day - 1, hours=hour, minutes=minute, seconds=second, microseconds=micros)
    return datetime(year, month, 1) + rest


def _parse_by(text: str, formatter: str) -> datetime | None:
    found = re.fullmatch(_compile(formatter), text)
    if found is None:
        return None
    parts = {name: value for name, value in found.groupdict().items() if value is not None}
    if "short" in parts:
        parts["year"] = f"20{parts.pop('short')}"
    if not {"year", "month", "day"} <= parts.keys():
        return None
    micros = int(parts.pop("fraction", "0").ljust(9, "0")) // 1000
    numbers = {name: int(value) for name, value in parts.items()}
    return datetime(**numbers, microsecond=micros)  # type: ignore[arg-type]


def _compile(formatter: str) -> str:
    """Make a regular expression of a formatter. Raises `LakeError` for letters that are not known."""
    made = []
    for found in re.finditer(r"'((?:[^']|'')*)'|([A-Za-z])\2*|.", formatter, re.DOTALL):
        whole, letter = found[0], found[2]
        if letter is None:
            made.append(re.escape("'" if whole == "''" else (found[1] or whole).replace("''", "'")))
        elif letter == "S":
            made.append(rf"(?P<fraction>\d{{{len(whole)}}})")
        elif letter in _LETTERS and not (letter == "M" and len(whole) > 2):
            name, length = _LETTERS[letter], len(whole)
            if name == "year" and length == 2:
                made.append(r"(?P<short>\d{2})")
            elif name == "year":
                made.append(rf"(?P<year>\d{{{max(length, 4) if length > 1 else '1,9'}}})")
            else:
                made.append(rf"(?P<{name}>\d{{{length if length > 1 else '1,2'}}})")
        else:
            message = f"partition.timestamp-formatter: {whole} of {formatter!r} is not known here"
            raise Corrupt(message, expected="y, u, M, d, H, m, s, S and quoted text", seen=whole)
    return "".join(made)


_STRATEGIES = ("values-time", "update-time")
_SHOWN = 5
_ZONE = "The engine runs in UTC: partitions and files have wall-clock times."


def plan_expiry(table: Table, values: Mapping[str, Any]) -> Proposal:
    """Plan what `expire_partitions` would do."""
    branch = require_paimon(table)
    is_new = is_new_engine(branch, values)
    options = branch.context.options
    span = values.get("expiration_time")
    if span is None:
        recorded = options.get("partition.expiration-time")
        try:
            span = None if recorded is None else parse_span(recorded)
        except ValueError:
            span = None
        if span is None:
            raise LakeError(
                "expire_partitions needs the option expiration_time: the table has no partition.expiration-time",
                hint="expiration_time='7 d'",
            )
    strategy = values.get("expire_strategy") or options.get("partition.expiration-strategy", _STRATEGIES[0])
    if strategy not in _STRATEGIES:
        raise LakeError(f"option expire_strategy: {strategy} is not known", hint=", ".join(_STRATEGIES))
    seconds = int(span.total_seconds())
    text = f"{seconds // 86_400} d" if seconds and not seconds % 86_400 else f"{seconds} s"
    own = {name: values.get(name) for name in ("timestamp_formatter", "timestamp_pattern", "expire_strategy")}
    call = write_call("expire_partitions", {"table": name_table(branch), "expiration_time": text, **own})
    assumptions = [
        Assumption(
            f"No commit happens in between; this was planned on snapshot {branch.context.pointer.latest}."
        ),
        describe_engine(is_new),
        Assumption(_ZONE, False),
    ]
    changes = "The rows of expired partitions are gone from the current state; older snapshots keep them."
    snapshot = branch.current
    if snapshot is None or not branch.partition_keys:
        why = "There is no snapshot." if snapshot is None else "The table has no partitions."
        return Proposal(changes, call, notes=[why], assumptions=assumptions)
    files = [file for file in snapshot.files if isinstance(file, PaimonDataFile)]
    if snapshot.is_incomplete or snapshot.id != branch.context.pointer.latest:
        refusal = f"snapshot {branch.context.pointer.latest} cannot be read: the engine fails"
        return Proposal(changes, call, refusal=refusal, assumptions=assumptions)
    try:
        before = read_now(values).replace(tzinfo=None) - span
    except OverflowError:
        before = datetime.min
    finder = _Finder(branch, snapshot, before, values)
    expired = finder.find(files, strategy == "update-time")
    return _propose(branch, snapshot, files, expired, changes, call, assumptions, finder.notes)


class _Finder:
    """Finds the expired partitions of a snapshot."""

    def __init__(
        self, branch: PaimonTable, snapshot: PaimonSnapshot, before: datetime, values: Mapping[str, Any]
    ) -> None:
        self._branch, self._snapshot, self._before = branch, snapshot, before
        options = branch.context.options
        # the call's own options take the place of the table's, which it does not read
        self._pattern = values.get("timestamp_pattern") or options.get("partition.timestamp-pattern")
        self._formatter = values.get("timestamp_formatter") or options.get("partition.timestamp-formatter")
        self.notes: list[str] = []

    def find(self, files: Sequence[PaimonDataFile], by_update: bool) -> dict[bytes, str]:
        """Find why each expired partition is, by its stored row."""
        partitions = {file.partition_bytes: file.partition for file in files}
        if by_update:
            newest = self._find_updates()
            return {
                stored: f"last written {found:%Y-%m-%d %H:%M:%S}"
                for stored in partitions
                if (found := newest.get(stored)) is not None and found < self._before
            }
        expired = {}
        unread = []
        for stored, partition in partitions.items():
            columns = self._branch.context.partitions.columns
            texts = {c.name: format_value(partition.get(c.name), c.type, legacy=True) for c in columns}
            moment = extract_time(
                {name: "null" if text is None else text for name, text in texts.items()},
                self._pattern,
                self._formatter,
            )
            if moment is None:
                unread.append(str(partition))
            elif moment < self._before:
                expired[stored] = f"it stands for {moment:%Y-%m-%d %H:%M:%S}"
        if unread:
            which = (
                f"{unread[0]} is" if len(unread) == 1 else f"{len(unread):,} partitions, as {unread[0]}, are"
            )
            self.notes.append(f"{which} no time by the values: the engine leaves what it cannot read.")
        return expired

    def _find_updates(self) -> dict[bytes, datetime]:
        """Find the newest creation time of each partition, of all entries: those that delete a file have it too."""
        newest: dict[bytes, datetime] = {}
        for manifest in self._snapshot.manifests:
            if manifest.content != "data":
                continue
            for entry in manifest.iterate_entries():
                file = entry.file
                if isinstance(file, PaimonDataFile) and file.creation_time is not None:
                    known = newest.get(file.partition_bytes, file.creation_time)
                    newest[file.partition_bytes] = max(known, file.creation_time)
        return newest


def _propose(
    branch: PaimonTable,
    snapshot: PaimonSnapshot,
    files: Sequence[PaimonDataFile],
    expired: Mapping[bytes, str],
    changes: str,
    call: str,
    assumptions: Sequence[Assumption],
    notes: list[str],
) -> Proposal:
    taken = [file for file in files if file.partition_bytes in expired]
    names = sorted({f"{file.partition} ({expired[file.partition_bytes]})" for file in taken})
    beside = list_beside(snapshot) if taken else {}
    replaces = [Piece(file.path, "data", file.size_bytes, expired[file.partition_bytes]) for file in taken]
    replaces += [
        Piece(path, "sidecar", None, "beside a file of an expired partition")
        for file in taken
        for path in beside.get(file.path, ())
    ]
    index = [
        Piece(file.path, name_index(file.index_type), file.size_bytes, "of an expired partition")
        for file in snapshot.index_files
        if getattr(file.partition, "stored", None) in expired
    ]
    writes = tuple(list_metadata(branch, len(taken), "OVERWRITE", index=bool(index))) if taken else ()
    if not taken:
        notes = [*notes, "No partition is old enough: no commit is made."]
    else:
        shown = ", ".join(names[:_SHOWN]) + (
            f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        )
        notes = [
            f"{len(names):,} {'partition expires' if len(names) == 1 else 'partitions expire'}: {shown}.",
            *notes,
        ]
    kept = [
        describe_fate(
            branch, branch.find_numbered(number), number, "it keeps the files of expired partitions"
        )
        for number in branch.context.pointer.ids
    ]
    return Proposal(
        changes if taken else "The current data does not change.",
        call,
        replaces=(*replaces, *index),
        writes=writes,
        kept=(*kept, *list_others(branch, frozenset())),
        assumptions=assumptions,
        notes=notes,
        becomes=f"snapshot {snapshot.id + 1}" if taken else None,
    )


PROCEDURE = Procedure(
    "expire_partitions",
    "Expire partitions",
    "partitions that are old enough are dropped",
    (
        Option("expiration_time", "duration", "how old a partition may be", "partition.expiration-time"),
        Option(
            "timestamp_formatter",
            "text",
            "how Java reads a partition's time",
            "partition.timestamp-formatter",
        ),
        Option(
            "timestamp_pattern",
            "text",
            "the time of a partition by its columns",
            "partition.timestamp-pattern",
        ),
        Option("expire_strategy", "text", "values-time or update-time", "partition.expiration-strategy"),
        ENGINE,
        AT,
    ),
    plan_expiry,
)
