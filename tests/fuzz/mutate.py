"""Changes to a table by what its files are made of: an edit of a recipe applied to the bytes of a file, or to its place.

`json` reaches into documents (inside gzip too), `lines` into one line of them and into a text that is JSON itself, `avro`
into header, schema, records by the writer's schema, and content without compression; `puffin` into the footer; `parquet` and
`orc` into a copy without compression, so that a change of a byte means something; `column` and `row` into these by
structure; `bytes`, `cut` and `content` into anything. `place` replaces a file by what is no file. Edits of more than one
file are in `structure`.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import socket
import struct
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.fuzz import avro_edits, column_edits, row_edits
from tests.fuzz.hostile import CONTENTS, JSON
from tests.fuzz.recipes import Edit

_MARK = "@hostile@"


class Impossible(Exception):
    """The edit does not fit this file: a random one is passed over, one of the corpus is a case to be made again."""


def find_file(names: list[str], edit: Edit) -> str:
    """The file that an edit is about."""
    found = sorted(name for name in names if fnmatchcase(name, edit["file"]))
    try:
        return found[edit.get("place", 0)]
    except IndexError:
        raise Impossible(f"no file {edit['file']} at {edit.get('place', 0)}: {len(found)} match") from None


def change(data: bytes, edit: Edit) -> bytes:
    """The bytes of a file after an edit. Raises `Impossible`."""
    try:
        return HOWS[edit["how"]](data, edit)
    except Impossible:
        raise
    except Exception as error:
        raise Impossible(f"{type(error).__name__}: {error}") from error


def change_json_text(text: str, edit: Edit) -> str:
    """A JSON document with one node changed: `do` is set, delete, rename, duplicate, swap or wrap."""
    document = json.loads(text)
    parent, key = _find_parent(document, edit["at"])
    raw = JSON[edit["value"]] if "value" in edit else ""
    what = edit["do"]
    if what == "set":
        parent[key] = _MARK
    elif what == "delete":
        del parent[key]
    elif what == "rename":
        parent[_MARK] = parent.pop(key)
    elif what == "duplicate":
        if isinstance(parent, list):
            parent.insert(key, parent[key])
        else:
            return json.dumps(document).replace("{", f"{{{json.dumps(key)}: {raw}, ", 1)
    elif what == "swap":
        other_parent, other = _find_parent(document, edit["with"])
        parent[key], other_parent[other] = other_parent[other], parent[key]
    elif what == "wrap":
        parent[key] = [parent[key]]
    else:
        raise Impossible(f"unknown: {what}")
    return json.dumps(document).replace(json.dumps(_MARK), raw)


def _find_parent(document: Any, at: list[Any]) -> tuple[Any, Any]:
    holder: Any = {"": document}
    here: Any = ""
    for step in at:
        holder, here = holder[here], step
    holder[here]  # it is there
    return holder, here


def _json(data: bytes, edit: Edit) -> bytes:
    packed = data[:2] == b"\x1f\x8b"
    text = (gzip.decompress(data) if packed else data).decode()
    changed = change_json_text(text, edit).encode("utf-8", "surrogatepass")
    return gzip.compress(changed, mtime=0) if packed else changed


def _lines(data: bytes, edit: Edit) -> bytes:
    """One line of JSON changed, or the text of JSON that stands `within` it."""
    lines = data.split(b"\n")
    line = lines[edit["line"]].decode()
    if "within" in edit:
        document = json.loads(line)
        parent, key = _find_parent(document, edit["within"])
        parent[key] = change_json_text(parent[key], edit)
        line = json.dumps(document)
    else:
        line = change_json_text(line, edit)
    lines[edit["line"]] = line.encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _bytes(data: bytes, edit: Edit) -> bytes:
    """`put` (hex) at each of the places, which count from the end when they are below zero; `cut` bytes give way."""
    changed = bytearray(data)
    for at, cut, put in edit["puts"]:
        start = at if at >= 0 else max(0, len(changed) + at)
        changed[start : start + cut] = bytes.fromhex(put)
    return bytes(changed)


def _cut(data: bytes, edit: Edit) -> bytes:
    return data[: int(len(data) * edit["keep"])]


def _content(data: bytes, edit: Edit) -> bytes:
    return CONTENTS[edit["value"]]


def _gzip(data: bytes, edit: Edit) -> bytes:
    """A document inside out: packed when it was not, once more when it was, or cut inside."""
    if edit["do"] == "pack":
        return gzip.compress(data, mtime=0)
    inner = gzip.decompress(data)
    if edit["do"] == "unpack":
        return inner
    return gzip.compress(_bytes(inner, edit), mtime=0)


def _puffin(data: bytes, edit: Edit) -> bytes:
    """The JSON of a Puffin footer changed, its length as it is now; or bytes of the blobs before it."""
    (size,) = struct.unpack("<i", data[-12:-8])
    start = len(data) - 12 - size
    payload = data[start : start + size]
    if data[-8:-4] != bytes(4):
        raise Impossible("a compressed footer")
    changed = change_json_text(payload.decode(), edit).encode("utf-8", "surrogatepass")
    return data[:start] + changed + struct.pack("<i", len(changed)) + data[-8:]


def _parquet(data: bytes, edit: Edit) -> bytes:
    import pyarrow.parquet as pq

    target = io.BytesIO()
    table = pq.read_table(io.BytesIO(data))
    pq.write_table(table, target, compression="none", use_dictionary=edit.get("dictionary", True))
    return _bytes(target.getvalue(), edit)


def _orc(data: bytes, edit: Edit) -> bytes:
    from pyarrow import orc

    target = io.BytesIO()
    orc.write_table(orc.read_table(io.BytesIO(data)), target, compression="uncompressed")
    return _bytes(target.getvalue(), edit)


HOWS: dict[str, Callable[[bytes, Edit], bytes]] = {
    "json": _json,
    "lines": _lines,
    "bytes": _bytes,
    "cut": _cut,
    "content": _content,
    "gzip": _gzip,
    "puffin": _puffin,
    "parquet": _parquet,
    "orc": _orc,
    "avro": avro_edits.change_avro,
    "column": column_edits.change_columns,
    "row": row_edits.change_row,
}


def replace_place(path: Path, edit: Edit) -> None:
    """What is no file where a file was, or beside it."""
    what = edit["do"]
    if what != "beside":
        if not os.path.lexists(path):
            raise Impossible(f"{path.name} is gone already")
        path.unlink()
    if what == "unlink":
        return
    if what == "directory":
        path.mkdir()
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "socket":
        _bind(path)
    elif what == "link":
        path.symlink_to(edit["to"])
    elif what == "sparse":
        with path.open("wb") as file:
            file.truncate(edit["size"])
    elif what == "beside":
        _plant(path, edit)
    else:
        raise Impossible(f"unknown: {what}")


def _bind(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name[-100:])
        if path.name[-100:] != path.name:
            Path(path.name[-100:]).rename(path.name)
    finally:
        os.chdir(here)


def _plant(path: Path, edit: Edit) -> None:
    """Things beside a file: links by name, copies under names that are no text, empty files, times out of range."""
    for name, target in edit.get("links", {}).items():
        (path.parent / name).symlink_to(target)
    for name in edit.get("names", ()):
        planted = os.fsencode(path.parent) + b"/" + bytes.fromhex(name)
        os.makedirs(os.path.dirname(planted), exist_ok=True)  # noqa: PTH103, PTH120
        shutil.copyfile(path, planted)
    for number in range(edit.get("empty", 0)):
        (path.parent / f"foreign-{number:05}").touch()
    if "time" in edit:
        os.utime(path, (edit["time"], edit["time"]))
    if "depth" in edit:
        deep = path.parent.joinpath(*("d" * 200 for _ in range(edit["depth"])))
        deep.mkdir(parents=True)
        shutil.copyfile(path, deep / path.name[-40:])
