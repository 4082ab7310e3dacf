"""File indexes asked about the files that would be read: what is proved by them is in no manifest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lakelens.analysis.explain.judgement import Judgement, Proof

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.analysis.explain.file_facts import FileFacts
    from lakelens.model.fileset import FileSet


def try_indexes(judgement: Judgement, take: Callable[[NDArray[np.int64]], FileSet], facts: FileFacts) -> None:
    """Skip the files whose own indexes hold no row that fits; only those are opened that would be read."""
    import numpy as np

    indexed = _find_indexed(facts)
    places = np.flatnonzero(judgement.kept & indexed)
    if not len(places):
        return
    chosen = list(take(places))
    for term in judgement.terms:
        none = np.zeros(judgement.count, np.bool_)
        for place, found in zip(places.tolist(), chosen, strict=True):
            none[place] = found.find_index_proof(term) is not None
        judgement.add(term, "file_index", Proof(none, None, none), facts.find_limit(term))
    judgement.settle("file_index")


def _find_indexed(facts: FileFacts) -> NDArray[np.bool_]:
    """Which files have an index, beside them or in their entry."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    found = np.zeros(len(facts), np.bool_)
    extra, embedded = facts.column("extra_files"), facts.column("embedded_file_index")
    if extra is not None and pa.types.is_list(extra.type) and not pa.types.is_null(extra.type.value_type):
        has_index = pc.ends_with(pc.fill_null(extra.flatten(), ""), ".index")
        owners = pc.list_parent_indices(extra).filter(has_index)
        found[owners.to_numpy()] = True
    if embedded is not None:
        found |= embedded.is_valid().to_numpy(zero_copy_only=False)
    return found
