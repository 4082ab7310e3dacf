"""A checker of claims that knows only files: JSON, Avro, Parquet and bytes, read by other libraries than lakelens.

A claim is supported where each of its places holds the value that is cited, the cited bytes are at their place, and the
value follows from the cited values in the way that the claim says. A verdict follows from the figure and the limit, and the
limit from the predicate that was asked, the table's property, the other place, or what engines do by default: see `rules`.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import statistics
import struct
import zlib
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from tests.evidence import rules

_STEP = re.compile(r'\.([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|(\|\$)|\[(\d+):(\d+)\]')


class Files:
    """The files below a directory, decoded when they are asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._records: dict[str, list[Any]] = {}
        self._documents: dict[str, Any] = {}

    def path(self, name: str) -> Path:
        return self.root / name

    def document(self, name: str) -> Any:
        if name not in self._documents:
            data = self.path(name).read_bytes()
            self._documents[name] = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        return self._documents[name]

    def records(self, name: str) -> list[Any]:
        if name not in self._records:
            path = self.path(name)
            with path.open("rb") as file:
                head = file.read(4)
                file.seek(0)
                if head == b"Obj\x01":
                    self._records[name] = list(fastavro.reader(file))
                elif head == b"PAR1":
                    self._records[name] = pq.read_table(path, use_threads=False).to_pylist()
                else:
                    self._records[name] = [
                        json.loads(line) for line in file.read().splitlines() if line.strip()
                    ]
        return self._records[name]


def find_steps(path: str) -> list[Any]:
    steps: list[Any] = []
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        assert match is not None, path
        name, number, quoted, opens, first, last = match.groups()
        steps.append(
            name
            if name is not None
            else slice(int(first), int(last))
            if first is not None
            else int(number)
            if number is not None
            else opens or json.loads(f'"{quoted}"')
        )
        position = match.end()
    return steps


def follow(holder: Any, steps: list[Any]) -> Any:
    """Follow a way; pairs of a map, and a map for a list of pairs, are the same."""
    steps = list(steps)
    while steps:
        step = steps.pop(0)
        if isinstance(step, slice):
            assert isinstance(holder, bytes) and 0 <= step.start <= step.stop <= len(holder), step
            holder = holder[step]
        elif step == "|$":
            holder = json.loads(holder)
        elif isinstance(holder, dict) and step not in holder and isinstance(step, int):
            holder = list(holder.items())[step]
        elif isinstance(holder, list) and isinstance(step, str):
            holder = dict(holder)[step]
        else:
            holder = holder[step]
    return holder


def make_comparable(value: Any, stored: Any) -> Any:
    """As JSON has it: bytes in hex, dates and times as text, or as the number that Avro stores."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, date) and not isinstance(value, datetime) and isinstance(stored, int):
        return (value - date(1970, 1, 1)).days
    if isinstance(value, datetime) and isinstance(stored, int):
        return (value.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    if isinstance(value, Decimal):
        if re.fullmatch("([0-9a-f]{2})+", str(stored)):
            number = int.from_bytes(bytes.fromhex(stored), "big", signed=True)
            return stored if number == value.scaleb(-int(value.as_tuple().exponent)) else value
        return stored if Decimal(stored) == value else value
    if isinstance(value, float) and isinstance(stored, str):
        return stored if str(value) == str(float(stored)) else value
    if isinstance(value, datetime | date):
        return value.isoformat().replace("+00:00", "Z")
    return value


def read_place(files: Files, place: dict[str, Any]) -> Any:
    path, name = place["path"], place["file"]
    if path == "length":
        return files.path(name).stat().st_size
    if path == "digest":
        return hashlib.sha256(files.path(name).read_bytes()).hexdigest()
    if path == "absence":
        assert not files.path(name).exists(), f"{name} is there"
        return None
    if path == "footer.num_rows":
        return pq.ParquetFile(files.path(name)).metadata.num_rows
    if path.startswith("$"):
        return follow(files.document(name), find_steps(path[1:]))
    return follow(files.records(name), find_steps(path))


def decode_zigzag(data: bytes) -> int:
    number = 0
    for shift, octet in enumerate(data):
        number |= (octet & 0x7F) << (7 * shift)
    return (number >> 1) ^ -(number & 1)


def unpack_block(data: bytes, codec: str) -> bytes:
    if codec == "deflate":
        return zlib.decompressobj(-15).decompress(data)
    if codec == "zstandard":
        import zstandard

        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    if codec == "snappy":
        return bytes(pa.decompress(data[:-4], decompressed_size=_read_snappy_size(data), codec="snappy"))
    raise AssertionError(f"codec {codec}")


def _read_snappy_size(data: bytes) -> int:
    number = shift = 0
    for octet in data:
        number |= (octet & 0x7F) << shift
        shift += 7
        if octet < 0x80:
            break
    return number


def check_bytes(files: Files, place: dict[str, Any]) -> None:
    """The cited bytes are where they are said to be, and are the cited value."""
    if "at" not in place:
        return
    path = files.path(place["file"])
    data = path.read_bytes()
    start, end = place["at"]
    if "block" in place:
        with path.open("rb") as file:
            codec = fastavro.reader(file).codec
        first, last = place["block"]
        data = unpack_block(data[first:last], codec)
    octets = data[start:end]
    assert 0 <= start <= end <= len(data), place
    assert place.get("bytes", octets.hex()) == octets.hex(), f"other bytes at {place['at']}: {octets.hex()}"
    if len(octets) > 200:
        return
    value, inner = place["value"], "|$" in place["path"]
    if data[:4] == b"Obj\x01" or "block" in place:
        decoded: Any = octets.decode("utf-8", "replace") if isinstance(value, str) else decode_zigzag(octets)
        if isinstance(value, bool) or value is None or isinstance(value, float):
            return
        if value in ("NaN", "Infinity", "-Infinity"):
            (decoded,) = struct.unpack("<f" if len(octets) == 4 else "<d", octets)
            assert str(decoded) == str(float(value)), f"the bytes say {decoded}"
            return
        assert decoded == value or octets.hex() == value, f"the bytes say {decoded}"
    elif not inner:
        said = json.loads(octets)
        assert (len(said) if place.get("means") == "the number of its items" else said) == value, (
            f"the bytes say {said}"
        )


_CODES = {
    "status": {0: "EXISTING", 1: "ADDED", 2: "DELETED"},
    "_KIND": {0: "ADD", 1: "DELETE"},
    "data_file.content": {0: "data", 1: "position_deletes", 2: "equality_deletes"},
    "content": {0: "data", 1: "deletes"},
}


def read_meaning(place: dict[str, Any]) -> Any:
    """What the stored value means, by rules of its own."""
    value, means = place["value"], place.get("means", "")
    if means == "milliseconds since 1970":
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=value)
    if means == "a number as text":
        return int(value)
    if means == "not":
        return not value
    if means == "an integer, little-endian":
        return int.from_bytes(bytes.fromhex(value), "little", signed=True)
    if means == "days since 1970, little-endian":
        return (
            date(1970, 1, 1) + timedelta(int.from_bytes(bytes.fromhex(value), "little", signed=True))
        ).isoformat()
    if means == "days since 1970":
        return (date(1970, 1, 1) + timedelta(value)).isoformat()
    if means == "a date as text":
        return date.fromisoformat(value).isoformat()
    if means == "text in UTF-8":
        return bytes.fromhex(value).decode()
    if " is " in means:
        for path, codes in _CODES.items():
            if place["path"].endswith(f"].{path}"):
                return codes[value]
        assert means == f"{value} is {value}", means
    return value


def derive(how: str, values: list[Any]) -> Any:
    if how == "":
        assert len(values) == 1, "one place says one thing"
        return values[0]
    if how == "greatest share":
        return max(part / whole for part, whole in zip(values[::2], values[1::2], strict=True))
    if how == "seconds between":
        return (values[1] - values[0]).total_seconds()
    if how == "there":
        return len(values) == 1
    if how == "share":
        return values[0] / values[1]
    plain: Any = {
        "sum": sum, "count": len, "median": statistics.median, "least": min, "greatest": max,
    }[how]  # fmt: skip
    return plain(values)


def check_claim(files: Files, claim: dict[str, Any]) -> str:
    """Why a claim is not supported; nothing where it is. It has to list all of its places."""
    try:
        assert claim["evidence"], "no place is cited"
        assert not claim.get("left"), "not all places are listed"
        meanings = []
        keys = [(place["file"], place["path"]) for place in claim["evidence"]]
        assert len(set(keys)) == len(keys), "a place is counted twice"
        for place in claim["evidence"]:
            held = read_place(files, place)
            if place.get("means") == "the number of its items":
                held = len(held)
            where = f"{place['file']} {place['path']}"
            assert make_comparable(held, place["value"]) == place["value"], (
                f"{where} has {held!r}, not {place['value']!r}"
            )
            check_bytes(files, place)
            meanings.append(read_meaning(place))
        value = claim["text"] if "text" in claim else claim["value"]
        if "rule" in claim:
            check_verdict(files, claim, meanings)
            return ""
        derived = derive(claim.get("how", ""), meanings)
        if isinstance(derived, datetime):
            value = datetime.fromisoformat(value)
        assert derived == value, f"its places say {derived!r}"
    except (AssertionError, KeyError, IndexError, TypeError, ValueError, OSError) as error:
        return f"{claim.get('says', claim.get('what'))}: {type(error).__name__} {error}"
    return ""


def check_verdict(files: Files, claim: dict[str, Any], meanings: list[Any]) -> None:
    """The figure follows from the places, the limit is the one that holds, and the verdict follows from both."""
    rule = claim["rule"]
    if rule["of"] in ("recorded", "compared"):
        assert meanings.pop() == rule["limit"], "the other place has another figure"
    if claim["says"].endswith("nulls of all values"):
        assert meanings.pop() == rule["limit"], "the limit is not the number of values"
    figure = derive(claim.get("how", ""), meanings)
    assert figure == claim["figure"], f"its places say {figure!r}"
    set_at = rule.get("set_at")
    stored = None
    if set_at is not None:
        stored = read_place(files, set_at)
        assert stored == set_at["value"], f"the property is {stored!r}"
        check_bytes(files, set_at)
    rules.check_limit(claim, stored)
    expected = rule["kept"] if rules.SENSES[rule["sense"]](figure, rule["limit"]) else rule["broken"]
    assert claim["value"] == expected, f"it should be {expected!r}"


def check_all(root: Path, described: dict[str, Any]) -> list[str]:
    """Why claims and quotations of an answer are not supported."""
    files = Files(root)
    said = [*described["claims"], *described["quoted"]]
    return [reason for claim in said if (reason := check_claim(files, claim))]
