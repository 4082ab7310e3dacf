"""Actions, schemas, properties, checksums and hints with every name and value replaced; counts, sizes and times stay.

Statistics and partition values are replaced column by column as readers have them: what a writer has cut is made as wide as
they take it for, and no new value is one that they would widen.
"""

from __future__ import annotations

import re
import tomllib
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from lakelens.codecs.text.objects import find_object, parse_object
from lakelens.errors import LakeError
from lakelens.formats.delta.action_file import name_format
from lakelens.formats.delta.actions import clean_path
from lakelens.formats.delta.context import MAPPED_ID, MAPPED_NAME
from lakelens.formats.delta.values import BAD, parse_statistics, read_bound
from lakelens.installed import read_text
from lakelens.io.relocation import split_location
from lakelens.model.scan.text_values import format_value, parse_value
from lakelens.model.schema import DataType
from lakelens.model.skeleton.columns import ValueBook
from lakelens.model.skeleton.redaction import Redaction
from lakelens.model.skeleton.rows import encode_value
from lakelens.model.skeleton.walk import LEFT_OUT, MARK, Pen, Table, Walk, keep_number, one_of

#: what the protocol and its engines say themselves
_STAYING = tomllib.loads(read_text(__package__, "words.toml"))
WORDS, NUMBERS = _STAYING["words"], _STAYING["numbers"]
#: what the protocol calls its fields, its features and the metrics of commits
SPECIFIED = frozenset(f"{WORDS['fields']} {WORDS['features']} {WORDS['metrics']}".split())
_KNOWN_OPERATIONS = frozenset(WORDS["operations"].split())
_KNOWN_PROPERTIES = frozenset(f"delta.{name}" for name in WORDS["properties"].split())
_PLAIN = re.compile(
    r"-?\d{1,20}(\.\d{1,9})?(kb?|mb?|gb?|b)?|true|false|none|name|id|classic|v2|serializable|writeserializable|"
    r"snapshotisolation|iceberg|snappy|zstd|append|overwrite|errorifexists|ignore|\[\]|\{\}|"
    r"(interval )?(\d{1,9} (week|day|hour|minute|second|millisecond)s? ?)+",
    re.IGNORECASE,
)
_DECIMAL = re.compile(r"decimal(\(\d{1,2},\s?-?\d{1,2}\))?")
_CHAR = re.compile(r"(var)?char\(\d{1,9}\)")
_ENGINE = re.compile(
    r"(Apache-Spark/[\d.]{1,12} )?(Delta-Lake/|delta-rs:|delta-rs\.|Kernel-)[\d.]{1,12}(-SNAPSHOT)?"
)
_SIDES = {"minValues": False, "maxValues": True, "nullCount": None}
_IDENTITY = ("start", "step", "highWaterMark", "allowExplicitInsert")
Path = tuple[str, ...]
_KINDS = ("metaData", "protocol", "txn", "domainMetadata", "commitInfo", "sidecar")
_LINE = {**dict.fromkeys(("add", "remove", "cdc"), "file"), **dict(zip(_KINDS, _KINDS, strict=True))}
_CHECKSUM = {
    "metadata": "metaData",
    "protocol": "protocol",
    "setTransactions[]": "txn",
    "domainMetadata[]": "domainMetadata",
    "allFiles[]": "file",
}


def misleads(value: Any, kind: DataType) -> bool:
    """Check whether readers take a bound for one that was cut, and widen it.

    >>> misleads("x" * 32, DataType("string", "string")), misleads("x", DataType("string", "string"))
    (True, False)
    """
    return bool(read_bound(value, kind, is_upper=True)[0] != value)


class LogPens:
    """What is done with each name, value and path of a log. `files` are the paths that were seen, as they identify files."""

    def __init__(self, redaction: Redaction, book: ValueBook) -> None:
        self.redaction, self.names, self.book = redaction, redaction.names, book
        self.files: set[str] = set()
        self._schemas = Walk(_make_schema(self))

    # --- paths ----------------------------------------------------------------------------------------------------------

    def number(self, place: str) -> str:
        """Number a place, once all are known; the stem of its name."""
        self.files.add(place)
        return self.names.file(place) if not self.book.is_noting else place

    def name_file(self, recorded: str) -> str:
        """Name a data file: relative paths stay relative, and change data in its folder."""
        key = clean_path(recorded)
        folder = "_change_data/" if key.startswith("_change_data/") else ""
        kind = name_format(key)
        ending = f".{kind}" if kind in ("parquet", "orc", "avro") else ".other"
        scheme, place = split_location(recorded)
        root = ("file:" if scheme else "") + f"{MARK}/outside/" if scheme or place.startswith("/") else ""
        return f"{root}{folder}{self.number(key)}{ending}"

    def name_sidecar(self, recorded: str) -> str:
        """Name a sidecar, or a checkpoint that has a name of its own."""
        base, dot, ending = recorded.rpartition("/")[2].rpartition(".")
        head = f"{base[:20]}.checkpoint." if ".checkpoint." in base else ""
        return f"{head}{self.number(base + dot + ending)}.{'json' if ending == 'json' else 'parquet'}"

    def name_vector(self, place: str) -> uuid.UUID:
        """Name a file of deletion vectors by a UUID: the number of its place."""
        stem = self.number(place)
        return uuid.UUID(int=0 if self.book.is_noting else int(stem[1:]))

    # --- values ---------------------------------------------------------------------------------------------------------

    def write_statistics(self, text: str) -> str:
        """Write statistics that are text; what is no JSON stays damaged."""
        try:
            held = parse_statistics(text, "")
        except LakeError:
            return "{"
        return encode_value(self.write_stats(held))

    def write_stats(self, held: Mapping[str, Any]) -> dict[str, Any]:
        """Write statistics: counts stay, bounds are replaced."""
        made: dict[str, Any] = {
            name: keep_number(held[name]) for name in ("numRecords", "tightBounds") if name in held
        }
        for name, is_upper in _SIDES.items():
            side = held.get(name)
            if isinstance(side, Mapping):
                made[name] = self._write_side(side, (), is_upper)
            elif name in held:
                made[name] = None
        return made

    def _write_side(self, held: Mapping[str, Any], above: Path, is_upper: bool | None) -> dict[str, Any]:
        made = {}
        for name, value in held.items():
            path = (*above, name)
            if isinstance(value, Mapping):
                new: Any = self._write_side(value, path, is_upper)
            elif is_upper is None or value is None:
                new = keep_number(value)
            else:
                new = self._write_bound(path, value, is_upper)
            if new is not LEFT_OUT:
                made[self.names.refer(name)] = new
        return made

    def _write_bound(self, path: Path, stored: Any, is_upper: bool) -> Any:
        kind = self.book.find_type(path)
        if kind is None:
            return LEFT_OUT
        try:
            value, _ = read_bound(stored, kind, is_upper=is_upper)
        except BAD:
            return 0 if kind.logical == "string" else "?"
        if value is None:
            return stored if str(stored) == "NaN" else LEFT_OUT
        new = self.book.give(path, value)
        if new is None:
            return LEFT_OUT
        return format_value(new, "T") if isinstance(stored, str) else new

    def write_partition(self, held: Mapping[str, Any], *, is_typed: bool = False) -> dict[str, Any]:
        """Write partition values; what is none of its type stays none."""
        made = {}
        for name, value in held.items():
            kind, new = self.book.find_type((name,)), value
            try:
                if kind is None or isinstance(value, dict | list):
                    new = None
                elif value not in (None, ""):
                    parsed = value if is_typed else parse_value(str(value), kind)
                    new = self.book.give((name,), parsed)
                    new = new if is_typed or new is None else format_value(new, " ")
            except (*BAD, AttributeError):
                new = self.names.word("none-", str(value))
            made[self.names.refer(name)] = new
        return made

    # --- words ----------------------------------------------------------------------------------------------------------

    def write_value(self, value: Any) -> Any:
        """Keep a value that says nothing of the data; else a numbered word."""
        if self.redaction.keeps_properties or not isinstance(value, str):
            return value if self.redaction.keeps_properties else keep_number(value)
        return value if _PLAIN.fullmatch(value) else self.names.word("value-", value)

    def write_properties(self, held: Mapping[str, Any]) -> dict[str, Any]:
        """Write table properties: those that Delta specifies, and plain values, stay."""
        made = {}
        for name, value in held.items():
            if name in _KNOWN_PROPERTIES or self.redaction.keeps_properties:
                made[name] = self.write_value(value)
            elif name == "delta.dataSkippingStatsColumns":
                made[name] = ",".join(
                    self.rename_path(part.strip().strip("`")) for part in str(value).split(",")
                )
            elif name.startswith("delta.constraints."):
                made[f"delta.constraints.{self.names.word('constraint-', name)}"] = "(expression)"
            elif name.startswith("delta.rowTracking.materialized") and name.endswith(
                ("IdColumnName", "VersionColumnName")
            ):
                kind = "RowId" if name.endswith("IdColumnName") else "RowCommitVersion"
                made[f"delta.rowTracking.materialized{kind}ColumnName"] = self.names.word("row-", str(value))
            else:
                made[self.names.word("property-", name)] = self.names.word("value-", str(value))
        return made

    def rename_path(self, path: str) -> str:
        """Rename a column that a text names, with the structs that it is in."""
        return ".".join(self.names.refer(part) for part in path.split("."))

    def write_domain(self, text: str) -> str:
        """Write the configuration of a domain: clustering columns by their new names, and numbers."""
        made: dict[str, Any] = {}
        for name, value in find_object(text).items():
            if name == "clusteringColumns" and isinstance(value, list):
                made[name] = [
                    [self.names.refer(str(part)) for part in one] for one in value if isinstance(one, list)
                ]
            elif name == "rowIdHighWaterMark":
                made[name] = keep_number(value)
        return encode_value(made)

    def write_schema(self, text: str) -> str:
        """Write a schema, which is JSON in a text; what is none stays damaged."""
        try:
            return encode_value(self._schemas.write(parse_object(text), "type"))
        except LakeError:
            return "{"


def _write_type(value: Any) -> str:
    text = str(value)
    return text if text in WORDS["types"].split() or _DECIMAL.fullmatch(text) else "other"


def _word(write: Callable[[str], Any]) -> Pen:
    """Make a pen for texts: of anything else a number stays."""
    return lambda value: write(value) if isinstance(value, str) else keep_number(value)


def make_walk(pens: LogPens, write_vector: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Walk:
    """Make the walk over a log: a `line` of it, the `hint`, a `checksum`. Numbers stay, as `words.toml` lists them."""
    names = pens.names

    def write_word(prefix: str, *kept: str) -> Pen:
        return _word(lambda text: text if text in kept else names.word(prefix, text))

    engine = _word(lambda text: text if _ENGINE.fullmatch(text) else "other")
    tables: dict[str, Table] = {
        "line": _LINE,
        "file": {
            "path": _word(pens.name_file),
            "partitionValues{}": pens.write_partition,
            "partitionValues_parsed{}": lambda held: pens.write_partition(held, is_typed=True),
            "stats": _word(pens.write_statistics),
            "stats_parsed{}": pens.write_stats,
            "deletionVector{}": write_vector,
            "clusteringProvider": one_of(("liquid",), "other"),
        },
        "metaData": {
            "id": _word(lambda text: str(uuid.UUID(int=0))),
            "name": write_word("table-"),
            "description": pens.redaction.comment,
            "format.provider": one_of(("parquet",), "other"),
            "format.options{}": lambda held: {},
            "schemaString": _word(pens.write_schema),
            "partitionColumns[]": _word(names.refer),
            "configuration{}": pens.write_properties,
        },
        "protocol": dict.fromkeys(
            ("readerFeatures[]", "writerFeatures[]"), write_word("feature-", *SPECIFIED)
        ),
        "txn": {"appId": write_word("app-")},
        "domainMetadata": {
            "domain": write_word("domain-", "delta.clustering", "delta.rowTracking"),
            "configuration": _word(pens.write_domain),
        },
        "commitInfo": {
            "operation": _word(lambda text: text if {*text.split()} <= _KNOWN_OPERATIONS else "OTHER"),
            **dict.fromkeys(("isolationLevel", "operationParameters.mode"), _word(pens.write_value)),
            **{f"operationMetrics.{name}": keep_number for name in WORDS["metrics"].split()},
            **dict.fromkeys(("engineInfo", "clientVersion"), engine),
            "txnId": write_word("txn-"),
        },
        "sidecar": {"path": _word(pens.name_sidecar)},
        "checksum": {"txnId": write_word("txn-"), **_CHECKSUM},
        "hint": {
            "v2Checkpoint.path": _word(pens.name_sidecar),
            "v2Checkpoint.nonFileActions[]": "line",
            "v2Checkpoint.sidecarFiles[]": "sidecar",
            "checksum": lambda text: "",
        },
    }
    return Walk(
        {
            name: {**dict.fromkeys(NUMBERS[name].split(), keep_number), **table}
            for name, table in tables.items()
        }
    )


def _make_schema(pens: LogPens) -> dict[str, Table]:
    names, leave_out = pens.names, pens.redaction.leave_out
    change = {"toType": _write_type, "fromType": _write_type, "tableVersion": keep_number}
    known: dict[str, Pen] = {
        MAPPED_ID: keep_number,
        MAPPED_NAME: _word(names.refer),
        "comment": pens.redaction.comment,
        "__CHAR_VARCHAR_TYPE_STRING": lambda text: text if _CHAR.fullmatch(str(text)) else "string",
        **dict.fromkeys((f"delta.identity.{name}" for name in _IDENTITY), keep_number),
        "delta.typeChanges": lambda held: Walk({"change": change}).write_each(held, "change"),
        "delta.generationExpression": leave_out("expressions of generated columns", "(expression)"),
        "delta.invariants": leave_out("invariants of columns", "(expression)"),
        **dict.fromkeys(
            ("CURRENT_DEFAULT", "EXISTS_DEFAULT"), leave_out("default values of columns", "(value)")
        ),
    }

    def write_metadata(held: Mapping[str, Any]) -> dict[str, Any]:
        return {name: known[name](value) for name, value in held.items() if name in known}

    nested = {f"{name}{{}}": "type" for name in ("elementType", "keyType", "valueType")}
    return {
        "type": {
            **dict.fromkeys(("type", "elementType", "keyType", "valueType"), _write_type),
            **nested,
            **dict.fromkeys(("containsNull", "valueContainsNull"), keep_number),
            "fields[]": "field",
        },
        "field": {
            "name": _word(names.refer),
            "type": _write_type,
            "type{}": "type",
            "nullable": keep_number,
            "metadata{}": write_metadata,
        },
    }
