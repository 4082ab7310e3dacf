"""Which cases there are: each distinct place of a table's documents with each hostile value, and what chance finds.

Two places are the same when file, keys and type are: numbers and ids in names are left out, so the snapshots of a list count
once. A systematic case changes one thing; a random one up to three, and bytes too.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from tests.fuzz.avro_edits import AvroParts, list_values
from tests.fuzz.hostile import AVRO, CONTENTS, JSON
from tests.fuzz.mutate import find_file
from tests.fuzz.recipes import Edit, Recipe, read_lake

_NUMBERS = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+")
_COUNTS = (0, -1, 2, 2**31, 2**62, -(2**63))
_CODECS = ("", "snappy", "deflate", "zstandard", "xz", "bzip2", "lzma", "\x1b[31m")
_KEPT = (
    "avro.schema",
    "avro.codec",
    "schema",
    "partition-spec",
    "format-version",
    "content",
    "iceberg.schema",
)


def find_kind(data: bytes) -> str:
    """What a file is, by its first bytes; `text` for hints and the like."""
    head = data[:4]
    if head == b"Obj\x01":
        return "avro"
    if head in (b"PAR1", b"PFA1"):
        return {b"PAR1": "parquet", b"PFA1": "puffin"}[head]
    if head[:3] == b"ORC":
        return "orc"
    text = data
    if head[:2] == b"\x1f\x8b":
        try:
            text = gzip.decompress(data)
        except (OSError, EOFError):
            return "other"
    if text[:1] not in (b"{", b"["):
        return "other"
    if _parses(text):
        return "json"
    return "lines" if all(_parses(line) for line in text.splitlines()) else "other"


def _parses(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def list_files(lake: str) -> list[tuple[str, int, str]]:
    """One file of each role, the newest: a pattern, its place among those that match, and the kind."""
    roles: dict[str, list[str]] = {}
    for name in read_lake(lake):
        roles.setdefault(_NUMBERS.sub("*", name), []).append(name)
    return [locate(lake, names[-1]) for names in roles.values()]


def locate(lake: str, name: str) -> tuple[str, int, str]:
    pattern = _NUMBERS.sub("*", name.replace("[", "[[]"))
    same = sorted(one for one in read_lake(lake) if fnmatchcase(one, pattern))
    return pattern, same.index(name) - len(same), find_kind(read_lake(lake)[name])


@cache
def list_edits(lake: str) -> list[Edit]:
    """Every systematic edit of a table, in order."""
    found: list[Edit] = []
    for pattern, place, kind in list_files(lake):
        base = {"file": pattern, "place": place}
        data = read_lake(lake)[find_file(list(read_lake(lake)), base)]
        found += [{**base, "how": "content", "value": value} for value in CONTENTS]
        found += [{**base, "how": "place", "do": what} for what in ("unlink", "directory")]
        found += [{**base, "how": "cut", "keep": keep} for keep in (0.03, 0.5, 0.97)]
        found += [{**base, **edit} for edit in _list_of_kind(kind, data)]
    return found


def _list_of_kind(kind: str, data: bytes) -> Iterator[Edit]:
    if kind == "json":
        packed = data[:2] == b"\x1f\x8b"
        document = json.loads(gzip.decompress(data) if packed else data)
        for edit in _list_json(document):
            yield {"how": "json", **edit}
        yield {"how": "gzip", "do": "unpack" if packed else "pack"}
    elif kind == "lines":
        yield from _list_lines(data)
    elif kind == "avro":
        yield from _list_avro(data)
    elif kind == "puffin":
        size = int.from_bytes(data[-12:-8], "little")
        for edit in _list_json(json.loads(data[-12 - size : -12])):
            yield {"how": "puffin", **edit}


def _list_lines(data: bytes) -> Iterator[Edit]:
    """Edits of one line of each kind, which its keys say."""
    seen = set()
    for number, line in enumerate(data.splitlines()):
        document = json.loads(line) if line else None
        if not isinstance(document, dict) or tuple(document) in seen:
            continue
        seen.add(tuple(document))
        for within, text in list_texts(document):
            for edit in _list_json(json.loads(text)):
                yield {"how": "lines", "line": number, "within": within, **edit}
        for edit in _list_json(document):
            yield {"how": "lines", "line": number, **edit}


def list_texts(document: Any) -> Iterator[tuple[list[Any], str]]:
    """List the texts in a document that are JSON themselves."""
    for at, kind in _walk(document):
        held = document
        for step in at:
            held = held[step]
        if kind == "str" and held[:1] in ("{", "[") and _parses(held.encode()):
            yield at, held


def _list_json(document: Any) -> Iterator[Edit]:
    seen = set()
    for at, kind in _walk(document):
        same = (
            tuple("*" if isinstance(step, int) or _NUMBERS.fullmatch(step) else step for step in at),
            kind,
        )
        if same in seen or not at:
            continue
        seen.add(same)
        for value in JSON:
            yield {"at": at, "do": "set", "value": value}
        yield {"at": at, "do": "delete"}
        yield {"at": at, "do": "wrap"}
        yield {"at": at, "do": "duplicate", "value": "null"}
        if isinstance(at[-1], str):
            yield {"at": at, "do": "rename", "value": "text-escape"}


def _walk(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[list[Any], str]]:
    yield list(at), type(value).__name__
    if isinstance(value, dict):
        for key, held in value.items():
            yield from _walk(held, (*at, key))
    elif isinstance(value, list):
        for place, held in enumerate(value):
            yield from _walk(held, (*at, place))


def _list_avro(data: bytes) -> Iterator[Edit]:
    parts = AvroParts(data)
    for key in parts.keys:
        yield {"how": "avro", "do": "drop", "key": key}
        for value in CONTENTS:
            yield {"how": "avro", "do": "header", "key": key, "value": value}
        if _parses(parts.keys[key]) and isinstance(document := json.loads(parts.keys[key]), dict | list):
            for edit in _list_json(document):
                yield {"how": "avro", "key": key, **edit, "do": "document", "node": edit["do"]}
    for name in _CODECS:
        yield {"how": "avro", "do": "codec", "name": name}
    for count in _COUNTS if parts.blocks else ():
        yield {"how": "avro", "do": "count", "count": count}
    yield {"how": "avro", "do": "repeat"}
    records = [record for block in parts.read_records() for record in block]
    seen = set()
    for at, kind in list_values(parts.schema, records):
        same = (tuple("*" if isinstance(step, int) else step for step in at), kind)
        if same in seen:
            continue
        seen.add(same)
        yield {"how": "avro", "do": "value", "at": at, "type": "null", "value": "null"}
        for value in AVRO.get(kind, ()):
            yield {"how": "avro", "do": "value", "at": at, "type": kind, "value": value}


def list_systematic(lake: str, seed: int = 0) -> list[Recipe]:
    """Every systematic case of a table in an order of chance, so that the first thousand are of every sort."""
    edits = list(list_edits(lake))
    random.Random(f"{seed} {lake}").shuffle(edits)
    return [Recipe(lake, [edit], seed=seed + number) for number, edit in enumerate(edits)]


def make_random(lake: str, seed: int) -> Recipe:
    """A case of chance: one to three edits."""
    rng = random.Random(f"{seed} {lake}")
    edits = [_make_edit(lake, rng) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    return Recipe(lake, edits, seed=seed)


def _make_edit(lake: str, rng: random.Random) -> Edit:
    files = sorted(read_lake(lake))
    pattern, place, kind = locate(lake, rng.choice(files))
    base: Edit = {"file": pattern, "place": place}
    data = read_lake(lake)[find_file(files, base)]
    if rng.random() < 0.02:
        return {**base, "how": "place", "do": rng.choice(("unlink", "directory", "fifo", "socket"))}
    if rng.random() < 0.05:
        return {**base, "how": "cut", "keep": round(rng.random(), 3)}
    if kind in ("json", "puffin") and rng.random() < 0.7:
        return {**base, "how": kind, **_make_json(data, kind, rng)}
    if kind == "lines" and rng.random() < 0.7:
        lines = data.splitlines()
        number = rng.randrange(len(lines))
        texts = list(list_texts(json.loads(lines[number])))
        inner: Edit = {}
        if texts and rng.random() < 0.5:
            inner["within"], text = rng.choice(texts)
            lines[number] = text.encode()
        return {**base, "how": kind, "line": number, **inner, **_make_json(lines[number], "json", rng)}
    if kind == "avro" and rng.random() < 0.8:
        return {**base, "how": "avro", **_make_avro(data, rng)}
    if kind in ("parquet", "orc") and rng.random() < 0.3:
        return {**base, "how": kind, "puts": _make_puts(len(data), rng)}
    # tails first: they say where the rest is
    size = len(data) if rng.random() < 0.5 else min(len(data), 400)
    return {**base, "how": "bytes", "puts": _make_puts(size, rng, from_end=size < len(data))}


def _make_json(data: bytes, kind: str, rng: random.Random) -> Edit:
    if kind == "puffin":
        size = int.from_bytes(data[-12:-8], "little")
        document = json.loads(data[-12 - size : -12])
    else:
        document = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    places = [at for at, _ in _walk(document) if at] or [[]]
    at = rng.choice(places)
    if rng.random() < 0.1:
        return {"at": at, "do": "swap", "with": rng.choice(places)}
    return {
        "at": at,
        "do": rng.choice(("set", "set", "set", "delete", "wrap", "duplicate")),
        "value": rng.choice(list(JSON)),
    }


def _make_avro(data: bytes, rng: random.Random) -> Edit:
    parts = AvroParts(data)
    if rng.random() < 0.4 and parts.blocks:
        return {"do": "content", "puts": _make_puts(len(parts.blocks[0][1]), rng)}
    if rng.random() < 0.3:
        key = rng.choice([key for key in parts.keys if key in _KEPT] or list(parts.keys))
        if _parses(parts.keys[key]):
            edit = _make_json(parts.keys[key], "json", rng)
            return {"key": key, **edit, "do": "document", "node": edit["do"]}
        return {"do": "header", "key": key, "value": rng.choice(list(CONTENTS))}
    records = [record for block in parts.read_records() for record in block]
    places = [(at, kind) for at, kind in list_values(parts.schema, records) if kind in AVRO]
    if not places:
        return {"do": "count", "count": rng.choice(_COUNTS)}
    at, kind = rng.choice(places)
    return {"do": "value", "at": at, "type": kind, "value": rng.choice(list(AVRO[kind]))}


def _make_puts(size: int, rng: random.Random, *, from_end: bool = False) -> list[list[Any]]:
    """Some bytes changed: one bit, a byte, a number, some inserted, some cut out."""
    puts = []
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(max(1, size))
        at = at - size if from_end else at
        length = rng.choice((1, 1, 1, 2, 4, 8))
        put = rng.choice(
            (bytes(length), b"\xff" * length, b"\x7f" * length, rng.randbytes(length), b"\x80" * 9 + b"\1")
        )
        puts.append([at, rng.choice((length, length, 0, 16)), put.hex()])
    return puts
