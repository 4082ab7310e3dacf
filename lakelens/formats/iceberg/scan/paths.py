"""Where many recorded locations are now: one answer of the `Locator` for each directory, joined with the names in Arrow.

Every rule of a locator looks at directories, so files of one directory go to one directory. Other locations are located one
by one: relative ones, those without a name, those that are a root themselves, and those that no rule could place, which the
locator keeps a list of.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from lakelens.io.relocation import Locator, split_location

if TYPE_CHECKING:
    import pyarrow as pa

_NAME = "\x01name"  # no directory and no root ends with it


def locate_all(locator: Locator, recorded: pa.Array) -> pa.Array:
    """`locator.locate` of each recorded location; null stays null.

    >>> import pyarrow as pa
    >>> locate_all(Locator("/now/t", ["file:/was/t"]), pa.array(["file:/was/t/data/a", None])).to_pylist()
    ['/now/t/data/a', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(recorded) - recorded.null_count:
        return recorded
    filled = recorded.drop_null() if recorded.null_count else recorded
    pieces = pc.split_pattern(filled, "/", max_splits=1, reverse=True)
    if not pc.all(pc.equal(pc.list_value_length(pieces), 2)).as_py():
        return _locate_singly(locator, recorded)
    flat = pieces.flatten()
    folders, names = flat[::2].dictionary_encode(), flat[1::2]
    places = _locate_folders(locator, folders, filled)
    located = pc.binary_join_element_wise(places.take(folders.indices), names, "")
    odd = pc.or_(pc.is_null(located), pc.is_in(names, _odd_names(locator)))
    if pc.any(odd).as_py():
        mask = odd.to_pylist()
        texts = [
            locator.locate(was) if one else now
            for one, now, was in zip(mask, located.to_pylist(), filled.to_pylist(), strict=True)
        ]
        located = pa.array(texts, pa.string())
    if not recorded.null_count:
        return located
    numbers = pc.cumulative_sum(recorded.is_valid().cast(pa.int64()))
    return located.take(pc.if_else(recorded.is_valid(), pc.subtract(numbers, 1), pa.scalar(None, pa.int64())))


def _locate_folders(locator: Locator, folders: pa.DictionaryArray, recorded: pa.Array) -> pa.Array:
    """What each directory becomes, with its slash; null where its files are located one by one."""
    import numpy as np
    import pyarrow as pa

    probe = deepcopy(locator)
    indices = folders.indices.to_numpy()
    _, first = np.unique(indices, return_index=True)
    places: list[str | None] = []
    for folder, row in zip(folders.dictionary.to_pylist(), first.tolist(), strict=True):
        now = _locate_folder(probe, folder)
        if now is not None:
            locator.locate(recorded[row].as_py())  # so that the mapping has it
        places.append(now)
    return pa.array(places, pa.string())


def _locate_folder(probe: Locator, folder: str) -> str | None:
    if folder.endswith("/") or not folder:
        return None
    known = len(probe.unmapped)
    location = f"{folder}/{_NAME}"
    now = probe.locate(location)
    if len(probe.unmapped) > known or not now.endswith("/" + _NAME):
        return None
    return now.removesuffix(_NAME) if split_location(location)[1].startswith("/") else None


def _odd_names(locator: Locator) -> pa.Array:
    """Names of files that could be roots themselves, and no name at all."""
    import pyarrow as pa

    return pa.array(["", *(root.rpartition("/")[2] for root in locator.roots)], pa.string())


def _locate_singly(locator: Locator, recorded: pa.Array) -> pa.Array:
    import pyarrow as pa

    return pa.array(
        [None if one is None else locator.locate(one) for one in recorded.to_pylist()], pa.string()
    )
