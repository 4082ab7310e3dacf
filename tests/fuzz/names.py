"""Other names: a file, directory, branch, tag or table is called as no engine would; what refers to it may say so too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.fuzz.documents import list_places, open_document, put_place
from tests.fuzz.mutate import find_file
from tests.fuzz.recipes import Edit, read_lake

#: By what is odd about them. `{}` is the name as it was.
NAMES = {
    "line-feed": "a\nb-{}",
    "up": "..{}",
    "percent": "%2F%2e%2e-{}",
    "percent-of-the-name": "%s%00-{}",
    "at": "@{}",
    "tilde": "~{}",
    "long": "x" * 120 + "-{}",
    "direction": "\u202e{}\u200f",
    "escape": "\x1b[31m{}",
    "markup": "<b>'\"&{}",
    "space": " {} ",
    "query": "?a=b#c-{}",
    "backslash": "..\\{}",
    "colon": "s3:{}",
    "equals": "={}=",
    "glob": "[a]*{}",
    "dash": "-{}",
    "hidden": ".{}",
    "underscore": "_{}",
    "not-utf8": "\udcff\udcfe{}",
    "wide": "\U0001f600{}\u0301",
    "comma": "{},;|",
    "upper": "É{}",
    "number": "99999999999999999999{}",
}
_MOST_FILES = 80


def list_names(lake: str) -> Iterator[Edit]:
    """A file of each sort, each directory above, the table and its refs, with every name; alone or where recorded."""
    from tests.fuzz.choose import list_files

    yield from ({"how": "name", "part": "table", "to": name} for name in NAMES)
    seen = set()
    for pattern, place, _ in list_files(lake):
        for part in range(pattern.count("/") + 1):
            same = "/".join(pattern.split("/")[: part + 1])
            if same in seen:
                continue
            seen.add(same)
            for name in NAMES:
                base = {"file": pattern, "place": place, "how": "name", "part": part, "to": name}
                yield from ({**base, "refers": refers} for refers in (True, False))
    for key in _list_refs(lake):
        yield from ({"how": "name", "ref": key, "to": name} for name in NAMES)


def _list_refs(lake: str) -> list[str]:
    """Names of branches and tags in the newest metadata of Iceberg."""
    documents = [name for name in read_lake(lake) if name.endswith(".metadata.json")]
    tree = open_document(read_lake(lake)[documents[-1]]).tree if documents else {}
    return sorted(tree.get("refs", ()))


def change_names(files: dict[str, bytes], edit: Edit) -> dict[str, bytes | None]:
    """What has another name now, and what says so; None is a file that is gone."""
    if "ref" in edit:
        return _rename_ref(files, edit["ref"], NAMES[edit["to"]].replace("{}", edit["ref"]))
    parts = find_file(list(files), edit).split("/")
    head, old = "/".join(parts[: edit["part"] + 1]), parts[edit["part"]]
    new = NAMES[edit["to"]].replace("{}", old)
    above = "".join(f"{part}/" for part in parts[: edit["part"]])
    changed: dict[str, bytes | None] = {}
    for name in files:
        if name == head or name.startswith(f"{head}/"):
            changed[name] = None
            changed[above + new + name.removeprefix(head)] = files[name]
    if edit["refers"]:
        for name in list(files)[:_MOST_FILES]:
            if (data := _rename_inside(files[name], old, new)) is not None:
                place = next((here for here, held in changed.items() if held is files[name]), name)
                changed[place] = data
    return changed


def _rename_inside(data: bytes, old: str, new: str) -> bytes | None:
    """A document in which a name is another; None when it does not have it, or is no document."""
    try:
        document = open_document(data)
        places = [
            (at, value)
            for at, value in list_places(document.tree)
            if isinstance(value, str) and old in value.split("/")
        ]
        for at, value in places:
            put_place(document, at, "/".join(new if part == old else part for part in value.split("/")))
        return document.build() if places else None
    except Exception:  # whatever a file is: then it refers to nothing
        return None


def _rename_ref(files: dict[str, bytes], old: str, new: str) -> dict[str, bytes | None]:
    changed: dict[str, bytes | None] = {}
    for name, data in files.items():
        if name.endswith(".metadata.json"):
            document = open_document(data)
            refs: dict[str, Any] = document.tree.get("refs", {})
            if old in refs:
                refs[new] = refs.pop(old)
                changed[name] = document.build()
    return changed
