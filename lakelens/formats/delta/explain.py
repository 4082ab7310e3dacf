"""The bytes behind the objects of a Delta table: commits line by line, checkpoints, data files, and deletion vectors."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from lakelens.codecs.z85 import decode_z85
from lakelens.errors import LakeError, Missing
from lakelens.formats.delta.action_file import DeltaFile
from lakelens.formats.delta.context import LogContext
from lakelens.formats.delta.manifests import LogFile
from lakelens.formats.delta.version import DeltaSnapshot
from lakelens.formats.stored import (
    Caption,
    LabelledBytes,
    describe_vector,
    explain_file,
    explain_parts,
    explain_range,
    kind_of_format,
    read_octets,
)
from lakelens.model.bytes_view import BytesView
from lakelens.model.datafile import IndexFile
from lakelens.model.manifest import Entry


def _name_kind(path: str) -> str:
    return "parquet" if path.endswith(".parquet") else "json_lines"


@singledispatch
def explain_object(thing: Any, context: LogContext, *needs: Any) -> BytesView:
    """The bytes of an object of a table, by its class; `needs` is what finding them takes beside the object."""
    raise LakeError(f"no bytes belong to this {type(thing).__name__}")


@explain_object.register(DeltaSnapshot)
@explain_object.register(LogFile)
def _explain_log_file(thing: Any, context: LogContext, *needs: Any) -> BytesView:
    """A commit, a checkpoint or a sidecar."""
    return explain_file(
        context.store, thing.path, _name_kind(thing.path), Caption(place=thing.path.rpartition("/")[2])
    )


@explain_object.register(Entry)
def _explain_entry(entry: Entry, context: LogContext, *needs: Any) -> BytesView:
    """The line of the log that an action is; of one in Parquet the whole file."""
    path = entry.file.manifest or ""
    return explain_file(context.store, path, _name_kind(path), Caption(place=path.rpartition("/")[2]))


@explain_object.register(DeltaFile)
def _explain_data_file(file: DeltaFile, context: LogContext, *needs: Any) -> BytesView:
    """The stored file."""
    caption = Caption(place=file.recorded_path, details=str(file.partition))
    return explain_file(context.store, file.path, kind_of_format(file.file_format), caption)


@explain_object.register(IndexFile)
def _explain_vectors(file: IndexFile, context: LogContext, *needs: Any) -> BytesView:
    """One vector of a file of deletion vectors, where one is asked for; else the file."""
    if len(needs) < 2:
        return explain_file(context.store, file.path)
    vector = needs[1]
    caption = describe_vector(vector, vector["data_file"], file.path)
    if vector["offset"] is None:
        inline = decode_z85(file.recorded_path.removeprefix("i"), file.path)
        part = LabelledBytes("inline vector", inline, "bare_vector", context=(("size", vector["length"]),))
        return explain_parts([part], caption, path=file.path)
    if vector["length"] is None:
        raise Missing("the vector has no length", path=file.path)
    data = read_octets(context.store, file.path)
    return explain_range(data, "deletion_vector", vector["offset"], vector["length"], caption, path=file.path)
