"""JSON documents compared place by place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

# what identifies the items of a list, tried in this order
_IDENTIFIERS = (
    "snapshot-id", "schema-id", "spec-id", "order-id", "metadata-file", "field-id", "id", "key-id", "name",
)  # fmt: skip
_PLAIN = re.compile(r"[A-Za-z_][\w-]*\Z")


@dataclass(frozen=True, slots=True)
class JsonChange:
    """One place of a JSON document that changed: `path` (`$.refs.main`), `kind`, the old and the new value.

    >>> print(JsonChange("$.last-updated-ms", "changed", 1, 2))
    $.last-updated-ms: 1 → 2
    """

    path: str
    kind: Literal["added", "removed", "changed"]
    before: Any = None
    after: Any = None

    def __str__(self) -> str:
        before = "absent" if self.kind == "added" else _dump(self.before)
        after = "absent" if self.kind == "removed" else _dump(self.after)
        return f"{self.path}: {before} → {after}"


def diff_json(before: Any, after: Any, path: str = "$") -> tuple[JsonChange, ...]:
    """The places where two JSON documents differ, in the order of the newer one, removed places last.

    Items of a list of objects are matched by their id (`snapshot-id`, `schema-id`, …) where all have one, else by
    position. A subtree that is new or gone is one change.

    Parameters
    ----------
    before, after
        Two documents, as `json.loads` gives them.
    path
        What the paths of the changes begin with.

    Examples
    --------
    >>> for change in diff_json({"a": 1, "refs": {}}, {"a": 2, "refs": {"main": {"snapshot-id": 7}}}):
    ...     print(change)
    $.a: 1 → 2
    $.refs.main: absent → {"snapshot-id": 7}
    """
    return tuple(_compare(before, after, path))


def _compare(before: Any, after: Any, path: str) -> Iterator[JsonChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        steps = {key: _step(key) for key in (*after, *before)}
        yield from _compare_items(before, after, path, steps)
    elif isinstance(before, list) and isinstance(after, list):
        old, new, steps = _match_items(before, after)
        yield from _compare_items(old, new, path, steps)
    elif type(before) is not type(after) or before != after:
        yield JsonChange(path, "changed", before, after)


def _compare_items(
    before: dict[Any, Any], after: dict[Any, Any], path: str, steps: dict[Any, str]
) -> Iterator[JsonChange]:
    for key, value in after.items():
        place = path + steps[key]
        if key in before:
            yield from _compare(before[key], value, place)
        else:
            yield JsonChange(place, "added", None, value)
    for key, value in before.items():
        if key not in after:
            yield JsonChange(path + steps[key], "removed", value, None)


def _match_items(
    before: list[Any], after: list[Any]
) -> tuple[dict[Any, Any], dict[Any, Any], dict[Any, str]]:
    for name in _IDENTIFIERS:
        old, new = _index_by(before, name), _index_by(after, name)
        if old is not None and new is not None:
            return old, new, {key: f"[{name}={key}]" for key in (*new, *old)}
    longest = max(len(before), len(after))
    return dict(enumerate(before)), dict(enumerate(after)), {index: f"[{index}]" for index in range(longest)}


def _index_by(items: list[Any], name: str) -> dict[Any, Any] | None:
    """The items by one of their keys, None unless every item has it, as a plain value of its own."""
    if not all(isinstance(item, dict) and isinstance(item.get(name), int | str) for item in items):
        return None
    indexed = {item[name]: item for item in items}
    return indexed if len(indexed) == len(items) else None


def _step(key: str) -> str:
    return f".{key}" if _PLAIN.match(key) else f"[{_dump(key)}]"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
