"""The documents of a Paimon skeleton, and what can be cut from them.

Sizes that are recorded are those of the files as they are written here, with the differences that there were.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lakelens.formats.paimon.skeleton.containers import Container
from lakelens.formats.paimon.skeleton.documents import LISTS
from lakelens.formats.paimon.skeleton.places import MARK

KINDS = ("snapshots", "refs", "manifests", "entries", "statistics", "schemas", "options", "index entries")
_HINTS = ("EARLIEST", "LATEST")
_EMPTY_ROW = bytes(4) + bytes(8)


@dataclass(frozen=True)
class PaimonBones:
    """A redacted Paimon table, file by file, by the paths below the table's directory.

    `differences` is what a recorded size differs by from the real one: of manifests and lists by name, of a list as a
    snapshot records it by the snapshot's path and the key.
    """

    documents: Mapping[str, dict[str, Any]]
    texts: Mapping[str, bytes]
    lists: Mapping[str, Container] = field(repr=False)
    manifests: Mapping[str, Container] = field(repr=False)
    indexes: Mapping[str, Container] = field(repr=False)
    files: Mapping[str, bytes] = field(repr=False)
    differences: Mapping[str, int] = field(repr=False)

    @property
    def kinds(self) -> tuple[str, ...]:
        """See `Bones.kinds`."""
        return KINDS

    def encode(self, location: str) -> Iterator[tuple[str, bytes]]:
        """See `Bones.encode`."""
        sizes: dict[str, int] = {}
        for name, container in (*self.manifests.items(), *self.indexes.items()):
            records = [_fill(record, location) for record in container.records]
            data = container.encode(records)
            sizes[name] = len(data) + self.differences.get(name, 0)
            yield f"manifest/{name}", data
        for name, container in self.lists.items():
            lines = [
                line | {"_FILE_SIZE": sizes.get(line.get("_FILE_NAME", ""), line.get("_FILE_SIZE"))}
                for line in container.records
            ]
            data = container.encode(lines)
            sizes[name] = len(data)
            yield f"manifest/{name}", data
        for path, document in self.documents.items():
            changed = dict(document)
            for key in LISTS:
                if document.get(f"{key}Size") is not None and document.get(key) in sizes:
                    changed[f"{key}Size"] = sizes[document[key]] + self.differences.get(f"{path} {key}", 0)
            text = json.dumps(changed, ensure_ascii=False, indent=2)
            yield path, text.replace(MARK, json.dumps(location, ensure_ascii=False)[1:-1]).encode()
        yield from (*self.texts.items(), *self.files.items())

    def list_parts(self, kind: str) -> list[str]:
        """See `Bones.list_parts`."""
        return _CUTS[kind][0](self)

    def leave_out(self, kind: str, keys: Collection[str]) -> PaimonBones:
        """See `Bones.leave_out`."""
        return drop_unused(_CUTS[kind][1](self, frozenset(keys)))


def _fill(value: Any, location: str) -> Any:
    if isinstance(value, str):
        return value.replace(MARK, location)
    if isinstance(value, dict):
        return {key: _fill(inner, location) for key, inner in value.items()}
    return [_fill(inner, location) for inner in value] if isinstance(value, list) else value


def drop_unused(bones: PaimonBones) -> PaimonBones:
    """Without the files that nothing refers to, and without hints to what is gone."""
    found = bones.documents.values()
    lists = {document.get(key) for document in found for key in LISTS}
    indexes = {document.get("indexManifest") for document in found}
    kept = {name: container for name, container in bones.lists.items() if name in lists}
    named = {line.get("_FILE_NAME") for container in kept.values() for line in container.records}
    kept_indexes = {name: one for name, one in bones.indexes.items() if name in indexes}
    used = {record.get("_FILE_NAME") for one in kept_indexes.values() for record in one.records}
    wanted = {f"manifest/{name}" for name in (*lists, *named, *indexes)}
    return replace(
        bones,
        lists=kept,
        manifests={name: one for name, one in bones.manifests.items() if name in named},
        indexes=kept_indexes,
        texts={path: text for path, text in bones.texts.items() if _has_target(path, text, bones.documents)},
        files={
            path: data
            for path, data in bones.files.items()
            if path.rpartition("/")[2] in used
            or path in wanted
            or not path.startswith(("index/", "manifest/"))
        },
    )


def _has_target(path: str, text: bytes, documents: Mapping[str, Any]) -> bool:
    """Whether what a hint leads to is there, or never was."""
    folder, _, name = path.rpartition("/")
    if name not in _HINTS:
        return True
    kind = folder.rpartition("/")[2]
    return any(one.startswith(f"{folder}/{kind}-") for one in documents)


# --- cuts --------------------------------------------------------------------------------------------------------------


def _list_documents(*folders: str) -> Callable[[PaimonBones], list[str]]:
    return lambda bones: [path for path in bones.documents if path.split("/")[0] in folders]


def _cut_documents(bones: PaimonBones, keys: frozenset[str]) -> PaimonBones:
    documents = {path: document for path, document in bones.documents.items() if path not in keys}
    texts = {path: text for path, text in bones.texts.items() if not _is_stale(path, text, documents)}
    return replace(bones, documents=documents, texts=texts)


def _is_stale(path: str, text: bytes, documents: Mapping[str, Any]) -> bool:
    folder, _, name = path.rpartition("/")
    kind = folder.rpartition("/")[2]
    return name in _HINTS and f"{folder}/{kind}-{text.decode('ascii', 'replace').strip()}" not in documents


def _list_lines(bones: PaimonBones) -> list[str]:
    found = (line.get("_FILE_NAME") for one in bones.lists.values() for line in one.records)
    return [str(name) for name in dict.fromkeys(found)]


def _cut_lines(bones: PaimonBones, keys: frozenset[str]) -> PaimonBones:
    lists = {
        name: one.keep([line for line in one.records if line.get("_FILE_NAME") not in keys])
        for name, one in bones.lists.items()
    }
    return replace(bones, lists=lists)


def _list_entries(bones: PaimonBones) -> list[str]:
    return [f"{name}#{at}" for name, one in bones.manifests.items() for at in range(len(one.records))]


def _cut_entries(bones: PaimonBones, keys: frozenset[str]) -> PaimonBones:
    manifests, counted = {}, {}
    for name, one in bones.manifests.items():
        kept = [record for at, record in enumerate(one.records) if f"{name}#{at}" not in keys]
        gone = [record.get("_KIND") for at, record in enumerate(one.records) if f"{name}#{at}" in keys]
        counted[name] = {"_NUM_ADDED_FILES": gone.count(0), "_NUM_DELETED_FILES": gone.count(1)}
        manifests[name] = one.keep(kept)

    def lower(line: dict[str, Any]) -> dict[str, Any]:
        less = counted.get(line.get("_FILE_NAME", ""), {})
        return line | {
            key: line[key] - count for key, count in less.items() if isinstance(line.get(key), int)
        }

    lists = {name: one.keep([lower(line) for line in one.records]) for name, one in bones.lists.items()}
    return replace(bones, manifests=manifests, lists=lists)


def _list_statistics(bones: PaimonBones) -> list[str]:
    return ["_VALUE_STATS"] if bones.manifests else []


def _cut_statistics(bones: PaimonBones, keys: frozenset[str]) -> PaimonBones:
    def shorten(record: dict[str, Any]) -> dict[str, Any]:
        file = record.get("_FILE")
        if not keys or not isinstance(file, dict) or "_VALUE_STATS_COLS" not in file:
            return record
        empty = {"_MIN_VALUES": _EMPTY_ROW, "_MAX_VALUES": _EMPTY_ROW, "_NULL_COUNTS": []}
        return record | {"_FILE": file | {"_VALUE_STATS": empty, "_VALUE_STATS_COLS": []}}

    manifests = {
        name: one.keep([shorten(record) for record in one.records]) for name, one in bones.manifests.items()
    }
    return replace(bones, manifests=manifests)


def _list_options(bones: PaimonBones) -> list[str]:
    found = (key for document in bones.documents.values() for key in document.get("options") or ())
    return list(dict.fromkeys(found))


def _cut_options(bones: PaimonBones, keys: frozenset[str]) -> PaimonBones:
    documents = {}
    for path, document in bones.documents.items():
        options = document.get("options")
        if isinstance(options, dict):
            kept = {key: value for key, value in options.items() if key not in keys}
            document = document | {"options": kept}
        documents[path] = document
    return replace(bones, documents=documents)


def _list_indexes(bones: PaimonBones) -> list[str]:
    return [f"{name}#{at}" for name, one in bones.indexes.items() for at in range(len(one.records))]


def _cut_indexes(bones: PaimonBones, keys: frozenset[str]) -> PaimonBones:
    indexes = {
        name: one.keep([record for at, record in enumerate(one.records) if f"{name}#{at}" not in keys])
        for name, one in bones.indexes.items()
    }
    return replace(bones, indexes=indexes)


_List = Callable[[PaimonBones], list[str]]
_Cut = Callable[[PaimonBones, frozenset[str]], PaimonBones]
_CUTS: Mapping[str, tuple[_List, _Cut]] = {
    "snapshots": (_list_documents("snapshot", "changelog"), _cut_documents),
    "refs": (_list_documents("tag", "branch", "consumer"), _cut_documents),
    "manifests": (_list_lines, _cut_lines),
    "entries": (_list_entries, _cut_entries),
    "statistics": (_list_statistics, _cut_statistics),
    "schemas": (_list_documents("schema"), _cut_documents),
    "options": (_list_options, _cut_options),
    "index entries": (_list_indexes, _cut_indexes),
}
