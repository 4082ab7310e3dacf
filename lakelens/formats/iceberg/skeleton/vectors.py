"""Deletion vectors: the Puffin files of a skeleton hold the same positions, under the new names of their data files.

Positions of rows are no values, and a vector's place in its file is recorded in manifests: blobs stay where they are, and
the footer is filled up with blanks to its old length where it is shorter. A file with anything else in it is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial

from lakelens.codecs.iceberg.puffin import MAGIC, PuffinFooter, decode_footer
from lakelens.errors import LakeError, Missing
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.skeleton.bones import relate
from lakelens.formats.iceberg.skeleton.pens import WritingPen
from lakelens.formats.iceberg.skeleton.places import MARK
from lakelens.model.skeleton.redaction import Redaction

_TYPE = "deletion-vector-v1"


def plan_vectors(
    context: TableContext, recorded: Iterable[str], pen: WritingPen, redaction: Redaction
) -> dict[str, Callable[[str], bytes]]:
    """Of each file of vectors its path below the skeleton, and what writes it."""
    made: dict[str, Callable[[str], bytes]] = {}
    for one in recorded:
        try:
            path, data = context.access.read_recorded(one, here=True)
            footer = decode_footer(data, path=path)
        except Missing:
            redaction.note("files that are missing are missing in the skeleton")
        except LakeError as error:
            redaction.note(f"a file of deletion vectors cannot be read and is left out: {error.message}")
        else:
            if all(blob.type == _TYPE and not blob.compression_codec for blob in footer.blobs):
                made[relate(pen.file(one))] = partial(_write, data, footer, pen)
            else:
                redaction.note("Puffin files with anything but deletion vectors are left out")
    return made


def _write(data: bytes, footer: PuffinFooter, pen: WritingPen, location: str) -> bytes:
    """The file again, if the table is at a location."""
    end = len(data) - footer.footer_size
    body = bytearray(end)
    body[: len(MAGIC)] = MAGIC
    blobs = []
    for blob in footer.blobs:
        body[blob.offset : blob.offset + blob.length] = data[blob.offset : blob.offset + blob.length]
        properties = {}
        for key, value in blob.properties.items():
            if key == "referenced-data-file":
                properties[key] = pen.file(value).replace(MARK, location)
            elif key == "cardinality" and value.isdecimal():
                properties[key] = value
        entry = {
            "type": blob.type,
            "fields": list(blob.fields),
            "snapshot-id": blob.snapshot_id,
            "sequence-number": blob.sequence_number,
            "offset": blob.offset,
            "length": blob.length,
            "properties": properties,
        }
        blobs.append({key: value for key, value in entry.items() if value is not None})
    payload = json.dumps({"blobs": blobs}, ensure_ascii=False, separators=(",", ":")).encode()
    payload = payload.ljust(footer.footer_size - 16)
    return bytes(body) + MAGIC + payload + len(payload).to_bytes(4, "little") + bytes(4) + MAGIC
