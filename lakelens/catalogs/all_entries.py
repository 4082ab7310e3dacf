"""Every table and view that a catalog knows, namespace by namespace; as many questions at once as the catalog takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

from lakelens.catalogs.entry import CatalogEntry, Parts, TableCatalog, join_name
from lakelens.errors import LakeError
from lakelens.io.waves import Waves

T = TypeVar("T")
# a catalog that answers without end is asked no longer
_MOST_NAMESPACES, _MOST_NAMES = 10_000, 1_000_000


def list_entries(
    catalog: TableCatalog, depth: int = 4, within: Parts = ()
) -> Iterator[CatalogEntry | LakeError]:
    """What a catalog says of each of its tables and views, by name; an error is that of one namespace or one name.

    `depth` is how many levels of namespaces are searched, `within` the namespace to begin with.
    Raises `LakeError` where the catalog itself cannot be asked.
    """
    names: list[Parts] = []
    for found in _list_names(catalog, depth, within):
        if isinstance(found, LakeError):
            yield found
        else:
            names.append(found)
        if len(names) >= _MOST_NAMES:
            yield LakeError(
                f"{catalog.source} lists more than {_MOST_NAMES:,} names; the others are left out"
            )
            break
    yield from _ask_each(catalog, (partial(catalog.locate, parts) for parts in sorted(names)))


def _list_names(catalog: TableCatalog, depth: int, within: Parts) -> Iterator[Parts | LakeError]:
    seen: set[Parts] = set()
    level = [within] if within else catalog.list_namespaces(())
    for _ in range(max(depth, 1)):
        level = [namespace for namespace in dict.fromkeys(level) if namespace not in seen]
        if len(seen) + len(level) > _MOST_NAMESPACES:
            yield LakeError(
                f"{catalog.source} has more than {_MOST_NAMESPACES:,} namespaces; the others are left out"
            )
            level = level[: _MOST_NAMESPACES - len(seen)]
        seen.update(level)
        for names in _ask_each(catalog, (partial(_list_all, catalog, namespace) for namespace in level)):
            if isinstance(names, LakeError):
                yield names
            else:
                yield from names
        below = list(_ask_each(catalog, (partial(catalog.list_namespaces, namespace) for namespace in level)))
        yield from (answer for answer in below if isinstance(answer, LakeError))
        level = [namespace for answer in below if not isinstance(answer, LakeError) for namespace in answer]
        if not level:
            return
    message = f"{catalog.source} has namespaces deeper than this, {join_name(level[0])} is one; they were not searched"
    yield LakeError(message, hint=f"depth={depth + 1}")


def _list_all(catalog: TableCatalog, namespace: Parts) -> list[Parts]:
    return list(catalog.list_names(namespace))


def _ask_each(catalog: TableCatalog, jobs: Iterable[Callable[[], T]]) -> Iterator[T | LakeError]:
    """The answers in order; an error is an answer too."""
    for answer in Waves().run_together(jobs, catalog.connections):
        try:
            yield answer()
        except LakeError as error:
            yield error.without_frames()
