"""Two documents of a table that disagree: of each pair of equal values in two of them, one is changed.

Values are equal by chance, too; those count that are long, or whose keys are the same once `current`, `default`, dashes and
the like are taken from them: the `schemaId` of a snapshot and the `id` of a schema, a manifest's path in a list, a count of
rows in an entry and in a footer. What is put there is what the same key has elsewhere in the table: another schema's fields,
the id of an expired snapshot; or the next number, or a shorter text. A whole document may stand in for another of its sort:
an old schema for the new one, main's for a branch's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

from tests.fuzz.documents import decode_value, encode_value, list_places, open_document, put_place, read_place
from tests.fuzz.mutate import Impossible, find_file
from tests.fuzz.recipes import Edit, read_lake

Key = tuple[str, tuple[Any, ...]]
_NUMBERS = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+")
_LONG_NUMBER, _LONG_TEXT = 100_000, 8
_OTHERS = 3
_MOST_FILES = 60
_MOST_BYTES = 400_000
_FILLER = re.compile(r"current|default|last|total|added|recordcount|[-_.]")


def find_role(at: list[Any]) -> str:
    """What a place is about: its last key, and the one before it where that says too little."""
    keys = [step for step in at if isinstance(step, str)]
    if not keys:
        return ""
    role = _FILLER.sub("", keys[-1].lower())
    if role in ("id", "name", "type", "value", "key") and len(keys) > 1:
        return f"{keys[-2].lower().rstrip('s')}{role}".replace("-", "").replace("_", "")
    return role


@cache
def read_places(lake: str) -> list[tuple[str, list[Any], str, Any]]:
    """Every value of a table's documents: file, place, role, value."""
    found, files = [], read_lake(lake)
    for name in [name for name in files if len(files[name]) < _MOST_BYTES][:_MOST_FILES]:
        try:
            document = open_document(files[name])
        except Exception:  # whatever a file is: then it is no document
            continue
        for at, value in list_places(document.tree):
            role = find_role(at) or _NUMBERS.sub("*", name.rpartition("/")[2])
            found.append((name, at, role, value))
    return found


def list_pairs(lake: str) -> Iterator[Edit]:
    """Every place that has what another document of the table has, with each of the values that are put there."""
    from tests.fuzz.choose import locate

    places = read_places(lake)
    equal: dict[Any, set[tuple[str, str]]] = defaultdict(set)
    others: dict[str, list[tuple[str, list[Any], Any]]] = defaultdict(list)
    for name, at, role, value in places:
        if isinstance(value, (int, str, bytes)) and not isinstance(value, bool):
            equal[_find_identity(role, value)].add((name, role))
        if not any(type(value) is type(other) and value == other for _, _, other in others[role]):
            others[role].append((name, at, value))
    seen: set[Key] = set()
    for name, at, role, value in places:
        if isinstance(value, (dict, list)):
            has_pair = role != "" and len(others[role]) > 1
        else:
            has_pair = len({file for file, _ in equal.get(_find_identity(role, value), ())}) > 1
        same = (_NUMBERS.sub("*", name), tuple("*" if isinstance(step, int) else step for step in at))
        if not has_pair or same in seen:
            continue
        seen.add(same)
        pattern, place, _ = locate(lake, name)
        base = {"file": pattern, "place": place, "how": "pair", "at": at}
        if isinstance(value, (dict, list)):
            for file, there, other in others[role][:_OTHERS]:
                if other != value:
                    from_pattern, from_place, _ = locate(lake, file)
                    yield {**base, "from": {"file": from_pattern, "place": from_place, "at": there}}
            continue
        elsewhere = [other for _, _, other in others[role] if type(other) is type(value) and other != value]
        for other in [*elsewhere[:_OTHERS], *elsewhere[-1:], *_list_near(value)]:
            yield {**base, "value": encode_value(other)}


def _find_identity(role: str, value: Any) -> Any:
    is_long = isinstance(value, int) and abs(value) >= _LONG_NUMBER
    is_long |= isinstance(value, str | bytes) and len(value) >= _LONG_TEXT
    # a path is recorded whole in one place and by its name in another
    text = value.rpartition("/")[2] if isinstance(value, str) else value
    return text if is_long else (role, str(value))


def _list_near(value: Any) -> tuple[Any, ...]:
    if isinstance(value, int):
        return (value + 1, value - 1, -value)
    if isinstance(value, str):
        return (value[:-1], value.upper(), str(int(value) + 1) if value.isdigit() and len(value) < 18 else "")
    return (value[:-1],) if isinstance(value, bytes) else ()


def list_copies(lake: str) -> Iterator[Edit]:
    """Whole documents in the place of others of their sort: the oldest for the newest and back, main's for a branch's."""
    from tests.fuzz.choose import locate

    sorts: dict[str, list[str]] = defaultdict(list)
    for name in read_lake(lake):
        sorts[_NUMBERS.sub("*", name.rpartition("/")[2])].append(name)
    for names in sorts.values():
        for name in {names[0], names[-1]} if len(names) > 1 else ():
            for other in sorted({names[0], names[-1], names[len(names) // 2]} - {name}):
                pattern, place, _ = locate(lake, name)
                from_pattern, from_place, _ = locate(lake, other)
                yield {
                    "file": pattern,
                    "place": place,
                    "how": "pair",
                    "from": {"file": from_pattern, "place": from_place},
                }


def change_pair(files: dict[str, bytes], edit: Edit) -> dict[str, bytes]:
    """The file that says something else now."""
    name = find_file(list(files), edit)
    if "from" in edit:
        other = files[find_file(list(files), edit["from"])]
        if "at" not in edit:
            return {name: other}
        value = read_place(open_document(other).tree, edit["from"]["at"])
    else:
        value = decode_value(edit["value"])
    document = open_document(files[name])
    put_place(document, edit["at"], value)
    changed = document.build()
    if changed == files[name]:
        raise Impossible("nothing changed")
    return {name: changed}
