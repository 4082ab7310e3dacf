"""The parts of a table metadata document, typed for what lakelens needs.

Follows "Table Metadata and Snapshots" and appendix C of the Iceberg table specification, versions 1 to 3. What is
missing and has a default there gets it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar, overload

import msgspec
from msgspec import Raw

from lakelens.caching import cached_property
from lakelens.errors import Corrupt

# Integers that some JSON tool wrote as text or floats made integers again, and errors of typed JSON put into words.

WRONG = "a wrong value in the table metadata"
# what is below these keys is not the specification's
_OPEN_KEYS = frozenset({"properties", "summary", "blob-metadata", "schema", "schemas", "encryption-keys"})


def repair_numbers(raw: Any, integer_keys: frozenset[str], root: str = "$") -> tuple[Any, list[str]]:
    """A copy in which integers that were written as text or floats are integers again, and the places of those.

    >>> repair_numbers({"a": 7.0, "b": "8", "c": "9"}, frozenset("ab"))
    ({'a': 7, 'b': 8, 'c': '9'}, ['$.a', '$.b'])
    """
    places: list[str] = []

    def repair(value: Any, key: str, place: str) -> Any:
        if isinstance(value, dict):
            return {
                k: v if k in _OPEN_KEYS and place != "$.refs" else repair(v, k, f"{place}.{k}")
                for k, v in value.items()
            }
        if isinstance(value, list):
            return [repair(item, key, f"{place}[{i}]") for i, item in enumerate(value)]
        if key in integer_keys and isinstance(value, float | str):
            number = _to_integer(value)
            if number is not None:
                places.append(place)
                return number
        return value

    return repair(raw, "", root), places


def describe_repairs(places: list[str]) -> list[tuple[str, str]]:
    """Describe the note (code and sentence) about repaired places; none where there are none."""
    if not places:
        return []
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    message = (
        f"integers were written as text or floats by some JSON tool, digits may be lost: "
        f"{', '.join(places[:3])}{more}"
    )
    return [("rounded-number", message)]


def _to_integer(value: float | str) -> int | None:
    try:
        return int(value) if isinstance(value, str) or value.is_integer() else None
    except ValueError:
        try:
            number = float(value)
        except ValueError:
            return None
        return int(number) if number.is_integer() else None


def move_error(error: msgspec.ValidationError, root: str) -> msgspec.ValidationError:
    """The error of a part of a document, with its place counted from the document's root.

    >>> str(move_error(msgspec.ValidationError("Expected `int`, got `str` - at `$.a`"), "$.list[7]"))
    'Expected `int`, got `str` - at `$.list[7].a`'
    """
    text, _, place = str(error).partition(" - at `")
    return msgspec.ValidationError(f"{text} - at `{root}{place.rstrip('`').removeprefix('$')}`")


def describe_number(text: bytes, path: str | None) -> Corrupt:
    """Describe the error that says which number of a document is beyond every double.

    >>> print(describe_number(b'{"a": [1, {"b": 1e999}]}', None))
    a number beyond the range of numbers (at $.a[1].b; expected at most 1.8e308; seen 1e999)
    """
    place, stored = "$", text
    while (inner := _find_unreadable(stored)) is not None:
        step, stored = inner
        place += step
    seen = stored.decode("utf-8", "replace").strip()
    message = "a number beyond the range of numbers"
    return Corrupt(message, path=path, json_path=place, expected="at most 1.8e308", seen=seen)


def _find_unreadable(text: bytes) -> tuple[str, bytes] | None:
    """Find the step to the first member or item that does not decode, and its text; None for what has none."""
    children: dict[str, msgspec.Raw] | list[msgspec.Raw]
    try:
        children = msgspec.json.decode(text, type=dict[str, msgspec.Raw] | list[msgspec.Raw])
    except msgspec.ValidationError:
        return None
    steps = (
        ((f".{key}", value) for key, value in children.items())
        if isinstance(children, dict)
        else ((f"[{number}]", value) for number, value in enumerate(children))
    )
    for step, value in steps:
        try:
            msgspec.json.decode(value)
        except msgspec.ValidationError:
            return step, bytes(value)
    return None


def describe_error(error: msgspec.ValidationError, path: str | None) -> Corrupt:
    """Describe the error that says what is wrong at which place of the document."""
    text, _, place = str(error).partition(" - at `")
    place = place.rstrip("`") or "$"
    matched = re.fullmatch(r"Expected `(.+?)`, got `(.+)`", text)
    if matched:
        expected, seen = matched.groups()
        return Corrupt(WRONG, path=path, json_path=place, expected=expected, seen=seen)
    matched = re.fullmatch(r"Object missing required field `(.+)`", text)
    if matched:
        place = f"{place}.{matched[1]}"
        return Corrupt("a key is missing from the table metadata", path=path, json_path=place)
    return Corrupt(WRONG, path=path, json_path=place, seen=text)


# Lists of a metadata document that grow with the table: kept as their text, one item decoded at a time.

T = TypeVar("T")

# the text of a key that is not there; JSON, so that it decodes to nothing
ABSENT = Raw(b"null")
# skipping over a text does not look at what its escapes are, decoding does
_ESCAPE = re.compile(rb"\\u")


class LongList(Sequence[T], Generic[T]):
    """The items of a JSON list. Nothing but where each begins and ends is kept; what is asked for is decoded.

    Integers that were written as text or floats are read, as in the rest of the document. Raises
    `msgspec.ValidationError` with the place in the document for an item that is not of its kind.

    >>> class Pair(msgspec.Struct):
    ...     a: int
    >>> pairs = LongList(Raw(b'[{"a": 1}, {"a": 2.0}]'), Pair, "$.pairs", frozenset("a"))
    >>> len(pairs), pairs[-1].a, pairs.stored(0)
    (2, 2, b'{"a": 1}')
    """

    def __init__(self, stored: Raw, kind: type[T], place: str, integer_keys: frozenset[str]) -> None:
        self._place = place
        self._integer_keys = integer_keys
        self._kind = kind
        self._decoder = msgspec.json.Decoder(kind)
        try:
            self._stored = msgspec.json.decode(stored, type=list[Raw] | None) or []
        except msgspec.ValidationError as error:
            raise move_error(error, place) from None

    def __len__(self) -> int:
        return len(self._stored)

    @overload
    def __getitem__(self, key: int) -> T: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[T]: ...
    def __getitem__(self, key: int | slice) -> T | Sequence[T]:
        if isinstance(key, slice):
            return [self._decode(index, []) for index in range(*key.indices(len(self)))]
        return self._decode(range(len(self))[key], [])

    def __iter__(self) -> Iterator[T]:
        return (self._decode(index, []) for index in range(len(self)))

    def stored(self, index: int) -> bytes:
        """The JSON text of one item."""
        return bytes(self._stored[index])

    def check(self, repaired: list[str]) -> Iterator[T]:
        """Every item in turn, looked at as a whole; the places of integers that had to be repaired are added to a list."""
        for index, stored in enumerate(self._stored):
            if _ESCAPE.search(stored):
                msgspec.json.decode(stored)
            yield self._decode(index, repaired)

    def _decode(self, index: int, repaired: list[str]) -> T:
        stored = self._stored[index]
        try:
            return self._decoder.decode(stored)
        except msgspec.ValidationError:
            place = f"{self._place}[{index}]"
            value, places = repair_numbers(msgspec.json.decode(stored), self._integer_keys, place)
            repaired += places
            try:
                return msgspec.convert(value, self._kind)
            except msgspec.ValidationError as error:
                raise move_error(error, place) from None


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class WireSnapshot(msgspec.Struct, rename="kebab"):
    """One snapshot as the document has it."""

    snapshot_id: int
    timestamp_ms: int
    parent_snapshot_id: int | None = None
    sequence_number: int | None = None
    manifest_list: str | None = None
    manifests: list[str] | None = None
    summary: dict[str, Any] | None = None
    schema_id: int | None = None
    first_row_id: int | None = None
    added_rows: int | None = None
    key_id: str | None = None


class WireRef(msgspec.Struct, rename="kebab"):
    """One branch or tag."""

    snapshot_id: int
    type: str = "branch"
    min_snapshots_to_keep: int | None = None
    max_snapshot_age_ms: int | None = None
    max_ref_age_ms: int | None = None


class WireSnapshotLog(msgspec.Struct, rename="kebab"):
    """When a snapshot became the current one."""

    timestamp_ms: int
    snapshot_id: int


class WireMetadataLog(msgspec.Struct, rename="kebab"):
    """An earlier metadata file."""

    timestamp_ms: int
    metadata_file: str


class _Transformed(msgspec.Struct, rename="kebab"):
    """A field that is a transform of one column, or of several."""

    transform: str
    source_id: int | None = None
    source_ids: list[int] | None = None

    @property
    def sources(self) -> list[int]:
        """The ids of the columns, however many."""
        return [self.source_id] if self.source_id is not None else list(self.source_ids or [])


class WirePartitionField(_Transformed, rename="kebab", kw_only=True):
    """One field of a partition spec."""

    name: str
    field_id: int | None = None


class WireSpec(msgspec.Struct, rename="kebab"):
    """A partition spec."""

    spec_id: int
    fields: list[WirePartitionField] = []


class WireSortField(_Transformed, rename="kebab"):
    """One field of a sort order."""

    direction: str = "asc"
    null_order: str = "nulls-first"


class WireSortOrder(msgspec.Struct, rename="kebab"):
    """A sort order; order 0 is unsorted."""

    order_id: int
    fields: list[WireSortField] = []


class WireStatistics(msgspec.Struct, rename="kebab"):
    """A statistics file (Puffin), or a partition statistics file (no footer size, no blobs)."""

    snapshot_id: int
    statistics_path: str
    file_size_in_bytes: int | None = None
    file_footer_size_in_bytes: int | None = None
    blob_metadata: list[dict[str, Any]] = []


def _keep_list(key: str, kind: type[T]) -> cached_property[LongList[T]]:
    """Keep a list that grows with the table, made from the text of its key when it is first asked for."""
    name = f"{key.replace('-', '_')}_text"
    return cached_property(lambda made: LongList(getattr(made, name), kind, f"$.{key}", INTEGER_KEYS))


class WireMetadata(msgspec.Struct, rename="kebab", dict=True):
    """The document. `schema` and `partition_spec` are version 1's; the schemas stay JSON and are parsed by `schemas`.

    Lists that grow with the table are kept as their text, and an item is decoded when it is asked for.
    """

    format_version: int = 1
    table_uuid: str | None = None
    location: str | None = None
    last_sequence_number: int = 0
    last_updated_ms: int | None = None
    last_column_id: int | None = None
    schema: dict[str, Any] | None = None
    schemas: list[dict[str, Any]] | None = None
    current_schema_id: int | None = None
    partition_spec: list[WirePartitionField] | None = None
    partition_specs: list[WireSpec] | None = None
    default_spec_id: int | None = None
    last_partition_id: int | None = None
    sort_orders: list[WireSortOrder] | None = None
    default_sort_order_id: int | None = None
    properties: dict[str, Any] | None = None
    current_snapshot_id: int | None = None
    refs: dict[str, WireRef] | None = None
    snapshots_text: Raw = msgspec.field(name="snapshots", default=ABSENT)
    snapshot_log_text: Raw = msgspec.field(name="snapshot-log", default=ABSENT)
    metadata_log_text: Raw = msgspec.field(name="metadata-log", default=ABSENT)
    statistics_text: Raw = msgspec.field(name="statistics", default=ABSENT)
    partition_statistics_text: Raw = msgspec.field(name="partition-statistics", default=ABSENT)
    next_row_id: int | None = None
    encryption_keys: list[dict[str, Any]] | None = None

    snapshots = _keep_list("snapshots", WireSnapshot)
    snapshot_log = _keep_list("snapshot-log", WireSnapshotLog)
    metadata_log = _keep_list("metadata-log", WireMetadataLog)
    statistics = _keep_list("statistics", WireStatistics)
    partition_statistics = _keep_list("partition-statistics", WireStatistics)


LONG_KEYS = ("snapshots", "snapshot-log", "metadata-log", "statistics", "partition-statistics")


INTEGER_KEYS = frozenset(
    field.encode_name
    for struct in (
        *(WireMetadata, WireSnapshot, WireRef, WireSnapshotLog, WireMetadataLog, WirePartitionField),
        *(WireSpec, WireSortField, WireSortOrder, WireStatistics),
    )
    for field in msgspec.structs.fields(struct)
    if field.type in (int, int | None)
)


def to_text(value: Any) -> str:
    """A value of a property or a summary; most are texts, some writers leave numbers."""
    return value if isinstance(value, str) else "" if value is None else str(value)


def to_time(milliseconds: int | None) -> datetime | None:
    """Milliseconds since the epoch as a UTC time; None for none, or for one that no calendar holds.

    >>> to_time(1)
    datetime.datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=datetime.timezone.utc)
    """
    if milliseconds is None:
        return None
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
