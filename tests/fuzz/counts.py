"""Many of anything: ten thousand items of a list or keys of an object, records, rows, or files beside one another."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

from tests.fuzz.documents import list_places, open_document, put_place, read_place
from tests.fuzz.mutate import find_file
from tests.fuzz.recipes import Edit, read_lake

MANY = 10_000
_IDS = re.compile(r"(^|[-_])id$|number$|name$|path$|log$|file$|location$|^_FILE_NAME$")
_LAST_NUMBER = re.compile(r"\d+(?=\D*$)")


def list_counts(lake: str) -> Iterator[Edit]:
    """Each list and object of each sort of document, and each sort of file."""
    from tests.fuzz.choose import list_files

    for pattern, place, kind in list_files(lake):
        base = {"file": pattern, "place": place, "how": "many", "count": MANY}
        data = read_lake(lake)[find_file(list(read_lake(lake)), base)]
        if "*" in pattern or kind in ("parquet", "orc"):
            yield {**base, "do": "files"}
        seen = set()
        try:
            tree = open_document(data).tree
        except Exception:  # whatever a file is: then it is no document
            continue
        for at, value in list_places(tree):
            same = tuple("*" if isinstance(step, int) else step for step in at)
            # a record has the fields of its schema, and no others
            is_record = isinstance(value, dict) and at[:1] in (["records"], ["rows"])
            if at and isinstance(value, dict | list) and value and same not in seen and not is_record:
                seen.add(same)
                yield {**base, "do": "items", "at": at}


def change_counts(files: dict[str, bytes], edit: Edit) -> dict[str, bytes]:
    """The document, or the files, of which there are many now."""
    name = find_file(list(files), edit)
    if edit["do"] == "files":
        return {_count_name(name, number): files[name] for number in range(edit["count"])}
    document = open_document(files[name])
    value = read_place(document.tree, edit["at"])
    put_place(document, edit["at"], _multiply(value, edit["count"]))
    return {name: document.build()}


def _count_name(name: str, number: int) -> str:
    """Another file of the same sort: the next number, or a number of its own before the end."""
    folder, _, last = name.rpartition("/")
    found = _LAST_NUMBER.search(last)
    own = (
        f"{last[: found.start()]}{int(found[0]) + 1 + number}{last[found.end() :]}"
        if found
        else f"{number}-{last}"
    )
    return f"{folder}/{own}" if folder else own


def _multiply(value: Any, count: int) -> Any:
    """As many items or keys, the last one again and again, with ids, names and paths of their own."""
    if isinstance(value, dict):
        key = list(value)[-1]
        return {**value, **{f"{key}-{number}": _count_ids(value[key], number) for number in range(count)}}
    return [*value, *(_count_ids(value[-1], number) for number in range(count))]


def _count_ids(value: Any, number: int) -> Any:
    if isinstance(value, dict):
        held = copy.copy(value)
        for key in held:
            if isinstance(key, str) and _IDS.search(key) and type(held[key]) in (int, str):
                held[key] = (
                    held[key] + 1 + number if isinstance(held[key], int) else _count_name(held[key], number)
                )
        return held
    if type(value) is int:
        return value + 1 + number
    return f"{value}-{number}" if isinstance(value, str) else value
