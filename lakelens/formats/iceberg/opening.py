"""Opens a table: chooses its metadata document, reads it, and notes what is odd. No manifest is read."""

from __future__ import annotations

import posixpath
import time
from dataclasses import replace
from functools import partial

from lakelens.errors import Corrupt, Missing, NotATable, Unsupported
from lakelens.formats.access import TableAccess, explain_late
from lakelens.formats.base import OpenRequest
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.discovery.detect import TableLayout, choose_version, find_layout
from lakelens.formats.iceberg.discovery.locations import build_locator
from lakelens.formats.iceberg.discovery.versions import VersionChoice
from lakelens.formats.iceberg.metadata.document import Document, decode_document, is_unfinished
from lakelens.formats.iceberg.metadata.schemas import SchemaBook
from lakelens.formats.iceberg.table import IcebergTable
from lakelens.io.relocation import Locator, split_location
from lakelens.io.store import find_info
from lakelens.model.finding import Findings
from lakelens.model.storage import OWN_DIRECTORIES

_MOMENT = 0.05  # seconds; writing a document takes some milliseconds


def open_table(request: OpenRequest) -> IcebergTable:
    """Open the table of a request. Raises `Missing`, `Corrupt` or `Unsupported`."""
    layout = find_layout(request.store, request.path)
    if layout is None:
        raise NotATable("no Iceberg metadata here", path=request.path)
    findings = Findings()
    choice = _choose(request, layout, findings)
    document, choice = _read_document(request, layout, choice)
    for severity, code, path, message in choice.notes:
        findings.add(severity, code, path, message)  # type: ignore[arg-type]
    for severity, code, message in document.notes:
        findings.add(severity, code, document.path, message)
    folder = posixpath.dirname(document.path)
    locator = build_locator(layout.root, folder, document, request.store.scheme)
    access = TableAccess(request.store, locator, findings)
    for place in (choice.hint_path, document.path):
        access.note_read(place)
    explain = partial(explain_late, "lakelens.formats.iceberg.explain.objects")
    context = TableContext(access, document, explain)
    for name, own in OWN_DIRECTORIES.items():
        if own.decides and own.format in request.evidence.others:
            findings.add("note", own.role.lower().replace(" ", "-"), f"{layout.root}/{name}", own.warning)
    evidence = replace(
        request.evidence,
        version_choice=choice.how,
        candidates=choice.candidates,
        files=tuple(path for path in (choice.path, choice.hint_path) if path),
    )
    return IcebergTable(context, layout, evidence, request)


def _choose(request: OpenRequest, layout: TableLayout, findings: Findings) -> VersionChoice:
    """Choose the asked-for version, else the catalog's pointer, else what the directory itself shows."""
    pointer = (request.catalog or {}).get("metadata_location")
    if request.version is not None or not isinstance(pointer, str):
        return choose_version(layout, request.version)
    path = _find_pointer(request, layout, pointer)
    if path is None:
        chosen = choose_version(layout)
        message = f"the catalog points to {pointer}, which is not there; opened is the directory's newest"
        findings.add("error", "catalog-pointer", chosen.path, message)
        return chosen
    newer = layout.folder.find_newer(path)
    if newer is not None:
        message = (
            f"the catalog points to {posixpath.basename(path)}, which is opened; the directory holds a newer metadata "
            "file: of a commit that failed or is still running, or the catalog was set back"
        )
        findings.add("warning", "catalog-pointer", newer, message)
    return layout.folder.take(path, "the catalog points to this metadata file")


def _find_pointer(request: OpenRequest, layout: TableLayout, pointer: str) -> str | None:
    name = posixpath.basename(pointer)
    if name in layout.folder.children:
        return layout.folder.place(name)
    locator = Locator(layout.root, folders=("metadata",))
    for path in (locator.in_store(split_location(pointer)[1]), locator.locate(pointer)):
        if find_info(request.store, path) is not None:
            return path
    return None


def _read_document(
    request: OpenRequest, layout: TableLayout, choice: VersionChoice
) -> tuple[Document, VersionChoice]:
    """Read the chosen document, or the one before; an error of it names the other versions that could be opened.

    Some writers write the newest document in place, on a disk of this machine: for some milliseconds it is empty or cut.
    It is looked at once more, and nobody has committed it before it is complete.
    """
    try:
        document = _read_complete(request, choice.path)
        if document is None:
            was_chosen = request.version is None and layout.opened_file is None and request.catalog is None
            newest = choice
            choice = (layout.folder.step_back(choice) if was_chosen else None) or choice
            try:
                document = decode_document(request.store.read(choice.path), choice.path)
            except Unsupported:  # a view's: what is wrong with the newest one is the answer
                document = decode_document(request.store.read(newest.path), newest.path)
        # a table whose current schema cannot be read is refused when it is opened; older schemas become findings later
        SchemaBook(document.typed, document.path, report=lambda error: None)
    except (Corrupt, Missing) as error:
        names = [posixpath.basename(path) for path in choice.candidates[:5]]
        if names and error.hint is None:
            error.hint = f"version= one of {', '.join(names)}"
        raise
    return document, choice


def _read_complete(request: OpenRequest, path: str) -> Document | None:
    """Read a document; one that is not complete is read once more after a moment, and then is None."""
    for pause in (_MOMENT, 0):
        data = request.store.read(path)
        try:
            return decode_document(data, path)
        except Corrupt as error:
            if not is_unfinished(data, error) or not _is_whole(request, path, data):
                raise
        time.sleep(pause)
    return None


def _is_whole(request: OpenRequest, path: str, data: bytes) -> bool:
    """Whether it is the document that ends too early, and not the answer of a store; a file of this machine may grow."""
    return request.store.scheme == "file" or request.store.info(path).size == len(data)
