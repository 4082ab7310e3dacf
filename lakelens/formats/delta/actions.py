"""Actions: what commits and checkpoints are made of, read from lines of JSON and from rows of Parquet.

    {"add": {"path": …, "partitionValues": {…}, "size": …, …}}        one action a line, one key an object
    row of a checkpoint: a struct column for each action, of which one is set

See "Actions", "Checkpoint Schema" of the Delta protocol. Unknown actions and unknown fields are kept and mean nothing. A
line or a row that is damaged is an error of its own, and what is around it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec

from lakelens.codecs.parquet.opened import OpenedParquet
from lakelens.errors import Corrupt, LakeError
from lakelens.io.relocation import split_location
from lakelens.lazy import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

FILE_ACTIONS = ("add", "remove", "cdc")
_MAPS = frozenset({"partitionValues", "configuration", "tags", "options"})
_BOM = b"\xef\xbb\xbf"
_MOST_ERRORS = 20  # damaged lines of one file that are kept apart
_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class Action:
    """One action: its kind ("add", "metaData", …), its fields as stored, and where it stands.

    `path` is the file of the log, `position` its line or row there, `version` that of the commit or checkpoint.
    """

    kind: str
    fields: Mapping[str, Any]
    path: str
    position: int
    version: int

    @property
    def vector(self) -> Mapping[str, Any] | None:
        """The descriptor of its deletion vector."""
        found = self.fields.get("deletionVector")
        return found if isinstance(found, Mapping) and found.get("storageType") else None

    @property
    def key(self) -> tuple[str, str]:
        """What identifies a logical file: its path after one percent-decoding, and the id of its deletion vector."""
        vector = self.vector
        return clean_path(self.fields["path"]), "" if vector is None else name_vector(vector)


@dataclass(slots=True)
class ActionFile:
    """What was read of one file of the log: its actions in order, and what of it is damaged."""

    actions: list[Action] = field(default_factory=list)
    errors: list[LakeError] = field(default_factory=list)

    def find(self, kind: str) -> Mapping[str, Any] | None:
        """Find the fields of the first action of a kind."""
        return next((action.fields for action in self.actions if action.kind == kind), None)


def clean_path(recorded: str) -> str:
    """A path as it identifies a file: percent-decoded once, without what is written in several ways for one place.

    An absolute path and a `file:` URI of it are one place, as Spark qualifies paths before it compares them.

    >>> clean_path("x=A%252FA/a%20b.parquet"), clean_path("file:///t/a"), clean_path("file:/t/a"), clean_path("s3a://b/a")
    ('x=A%2FA/a b.parquet', '/t/a', '/t/a', 's3:/b/a')
    """
    decoded = unquote(recorded)
    scheme, place = split_location(decoded)
    if scheme == "file" and place.startswith("/"):
        return place
    return f"{scheme}:{place}" if scheme else decoded.removeprefix("./")


def name_vector(vector: Mapping[str, Any]) -> str:
    """Name a deletion vector as the protocol does: `uniqueId`.

    >>> name_vector({"storageType": "u", "pathOrInlineDv": "ab", "offset": 4})
    'uab@4'
    """
    name, offset = f"{vector.get('storageType')}{vector.get('pathOrInlineDv')}", vector.get("offset")
    return name if offset is None else f"{name}@{offset}"


def parse_lines(data: bytes, path: str, version: int) -> ActionFile:
    """Parse a commit, a compacted commit or a checkpoint in JSON.

    >>> found = parse_lines(b'{"txn":{"appId":"a","version":1}}\\r\\n{"add":\\n', "c", 0)
    >>> [action.kind for action in found.actions], len(found.errors)
    (['txn'], 1)
    """
    found, offset, position = ActionFile(), 0, 0
    for line in data.split(b"\n"):
        text = line.strip()
        if not offset:
            text = text.removeprefix(_BOM)
        if text:
            try:
                found.actions += _read_line(text, path, position, version)
            except Corrupt as error:
                error.offset = offset
                _keep_error(found, error)
            position += 1
        offset += len(line) + 1
    return found


def _keep_error(found: ActionFile, error: LakeError) -> None:
    if len(found.errors) < _MOST_ERRORS:
        found.errors.append(error)


def _read_line(text: bytes, path: str, position: int, version: int) -> list[Action]:
    try:
        held = _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError) as error:
        message = f"line {position + 1} is no JSON: {error}"
        raise Corrupt(message, path=path, expected="one action, {…}", seen=text[:60]) from None
    if not isinstance(held, dict):
        message = f"line {position + 1} holds no action"
        raise Corrupt(message, path=path, expected="an object", seen=text[:60])
    return [
        check_action(Action(kind, fields, path, position, version))
        for kind, fields in held.items()
        if fields is not None
    ]


def check_action(action: Action) -> Action:
    """Give an action back whose fields are of the kinds that its readers take for granted. Raises `Corrupt`."""
    fields = action.fields
    if not isinstance(fields, Mapping):
        raise Corrupt(f"{action.kind} is no object", path=action.path, expected="{…}", seen=fields)
    if action.kind in FILE_ACTIONS:
        if not isinstance(fields.get("path"), str):
            message = f"{action.kind} {action.position + 1} names no file"
            raise Corrupt(message, path=action.path, expected="path, a text", seen=fields.get("path"))
        for name in ("partitionValues", "deletionVector", "tags"):
            if not isinstance(fields.get(name), Mapping | None):
                message = f"{name} of {fields['path']} is no object"
                raise Corrupt(message, path=action.path, expected="{…}", seen=fields[name])
    return action


class LogColumns(OpenedParquet):
    """A checkpoint or a sidecar in Parquet: `structs` are the columns of actions."""

    what = "checkpoint"

    def __init__(self, data: bytes, path: str) -> None:
        """Raises `LakeError` as any Parquet file does, and for one without a column of an action."""
        super().__init__(data, path)
        if not self.structs:
            seen = self.names[:8]
            raise Corrupt("no checkpoint: it has no column of an action", path=path, seen=seen)
        adds = [column for column in self.columns if column.name == "add"]
        paths = [child for column in adds for child in column.children if child.name == "path"]
        self.is_pathless = len(adds) == 1 and ("add" not in self.structs or len(paths) != 1)


def read_rows(columns: LogColumns, version: int, *, files: bool = True) -> ActionFile:
    """Read the actions of a checkpoint or a sidecar in Parquet, without those of `files` where these are not wanted.

    Raises `LakeError` for one that does not decode.
    """
    found = ActionFile()
    if files and columns.is_pathless:
        _keep_error(found, Corrupt("the column add has no path: no file is known", path=columns.path))
    kinds = [
        kind
        for kind in columns.structs
        if kind != "checkpointMetadata" and (files or kind not in FILE_ACTIONS)
    ]
    with columns.refuse():
        for row, kind, held in _iterate_held(columns, kinds) if kinds else ():
            if kind not in FILE_ACTIONS or held.get("path") is not None:
                try:
                    found.actions.append(check_action(Action(kind, _strip(held), columns.path, row, version)))
                except LakeError as error:
                    _keep_error(found, error)
    return found


def _iterate_held(columns: LogColumns, kinds: Sequence[str]) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    """Iterate what the columns of actions hold, row by row: the number of the row, the kind, its fields."""
    if columns.is_plain:
        for start, records in columns.iterate_plain(kinds):
            for row, record in enumerate(records, start):
                for kind in kinds:
                    if record[kind] is not None:
                        yield row, kind, record[kind]
        return
    import pyarrow.compute as pc

    for start, batch in columns.iterate(kinds):
        rows: list[tuple[int, int, str, Any]] = []
        for place, kind in enumerate(kinds):
            there = pc.indices_nonzero(batch[kind].is_valid())
            held = zip(there.to_pylist(), _list_values(batch[kind].take(there)), strict=True)
            rows += [(start + row, place, kind, fields) for row, fields in held]
        for row, _, kind, fields in sorted(rows, key=itemgetter(0, 1)):
            yield row, kind, fields


def _list_values(array: pa.StructArray) -> list[dict[str, Any]]:
    """List structs as dicts; typed copies with a value that Python does not have, as a year of five digits, are left out."""
    import pyarrow as pa

    try:
        found: list[dict[str, Any]] = array.to_pylist()
    except (ValueError, OverflowError):
        names = [field.name for field in array.type if not field.name.endswith("_parsed")]
        kept = [array.field(name) for name in names]
        found = pa.StructArray.from_arrays(kept, names=names).to_pylist()
    return found


def read_row(columns: LogColumns, kind: str, number: int, version: int) -> Action:
    """Read one action of a checkpoint or a sidecar in Parquet. Raises `LakeError`."""
    with columns.refuse():
        if columns.is_plain:
            held = columns.read_plain_row(kind, number)
        else:
            import pyarrow as pa

            row = columns.read_row(kind, number)
            [held] = _list_values(pa.array([row], row.type))
    return check_action(Action(kind, _strip(held or {}), columns.path, number, version))


def _strip(held: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is null, and make dicts of what Arrow gives as pairs."""
    fields = {}
    for name, value in held.items():
        if value is None:
            continue
        if isinstance(value, dict):
            value = _strip(value) if name in ("format", "deletionVector") else value
        elif name in _MAPS and isinstance(value, Sequence) and not isinstance(value, str):
            value = dict(value)
        fields[name] = value
    return fields
