"""Records encoded in plain Python are, to the byte, those that the library encodes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakelens.codecs.avro import records as codec
from lakelens.codecs.avro.encoding import encode_value
from lakelens.codecs.avro.records import decode_header, decode_records, encode_records
from lakelens.codecs.avro.schema import compile_schema
from lakelens.errors import Unsupported
from lakelens.samples import read_samples, unpack_table
from tests.support import LAKES

_UNIONS = {
    "type": "record", "name": "r", "fields": [
        {"name": "u", "type": ["null", "boolean", "int", "long", "double", "string", "bytes",
                               {"type": "fixed", "name": "f", "size": 16}, {"type": "array", "items": "int"},
                               {"type": "map", "values": ["null", "string"]},
                               {"type": "record", "name": "s", "fields": [{"name": "a", "type": "int"}]}]},
        {"name": "e", "type": {"type": "enum", "name": "e", "symbols": ["x", "y"]}},
        {"name": "f", "type": "float"},
    ],
}  # fmt: skip
_VALUES: tuple[object, ...] = (
    None,
    True,
    0,
    -(1 << 31),
    1 << 31,
    -(1 << 63),
    0.5,
    "",
    "é",
    b"",
    [],
    [1, 2],
    {},
    {"k": None, "l": "v"},
    {"a": 7},
)


def encode_without_library(
    monkeypatch: pytest.MonkeyPatch, content: bytes, found: list[dict[str, object]]
) -> bytes:
    """Encode records again under the schema of their file, as where the library is not installed."""
    schema = json.loads(decode_header(content).metadata["avro.schema"])
    with monkeypatch.context() as patch:
        patch.setattr(codec, "find_spec", lambda name: None)
        return encode_records(schema, found, {})


def list_avro(root: Path) -> list[Path]:
    """List the Avro files below a directory, whatever they are called."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return sorted(path for path in files if path.open("rb").read(4) == b"Obj\x01")


def test_metadata_of_engines_is_encoded_as_the_library_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in sorted(read_samples().keys()):
        unpack_table(name, tmp_path)
    seen = list_avro(tmp_path) + list_avro(LAKES)[::40]
    assert len(seen) > 300
    for path in seen:
        content = path.read_bytes()
        found = decode_records(content)
        schema = json.loads(decode_header(content).metadata["avro.schema"])
        assert encode_without_library(monkeypatch, content, found) == encode_records(schema, found, {}), path


@pytest.mark.parametrize("value", _VALUES, ids=repr)
def test_branches_of_unions_are_those_of_the_library(monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    found = [{"u": value, "e": "y", "f": 1.5}]
    written = encode_records(_UNIONS, found, {})
    assert decode_records(written) == found
    assert encode_without_library(monkeypatch, written, found) == written


def test_what_no_type_holds_is_refused() -> None:
    with pytest.raises(Unsupported, match="a number that its type cannot hold"):
        encode_value(compile_schema("long").kind, 1 << 63)
    with pytest.raises(Unsupported, match="no branch of its union holds"):
        encode_value(compile_schema(["null", "int"]).kind, "text")
