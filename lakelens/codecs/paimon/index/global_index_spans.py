"""Paimon's global index files with a name for every byte: B-trees and bitmaps, by the magic at their end.

    … footer, whose last four bytes are "ITBP" (`lakelens.codecs.paimon.index.btree_index_spans`)
                                     or "BGIX" (`lakelens.codecs.paimon.index.bitmap_index_spans`)

Indexes of other kinds (full text, vectors) have no public layout: they stay unexplained.
"""

from __future__ import annotations

from functools import partial

from lakelens.codecs.paimon.index import bitmap_index_spans, btree_index_spans
from lakelens.codecs.paimon.index.bitmap_index_spans import explain_bitmap_index
from lakelens.codecs.paimon.index.btree_index_spans import explain_btree_index
from lakelens.codecs.paimon.types import TypeLike
from lakelens.codecs.span.span import Octets, Span


def explain_global_index(
    data: Octets, start: int = 0, end: int | None = None, *, type: TypeLike | None = None
) -> Span:
    """Explain a global index file that fills `data[start:end]`: which row ids each key has.

    `type` is the Paimon type of the indexed column: without it keys are bytes. Row ids count from the first row that the
    index covers.

    >>> explain_global_index(b"of another kind").role
    'unexplained'
    """
    end = len(data) if end is None else end
    magic, size = bytes(data[max(start, end - 4) : end]), end - start
    if magic == btree_index_spans.MAGIC and size >= btree_index_spans.FOOTER:
        label, explain = "B-tree index", explain_btree_index
    elif magic == bitmap_index_spans.MAGIC and size >= bitmap_index_spans.FOOTER:
        label, explain = "bitmap index", explain_bitmap_index
    else:
        return Span(start, end, "global index", None, "of an unknown kind", role="unexplained")
    children = partial(explain, data, start, end, type)
    return Span(start, end, label, None, "from keys to row ids", children, origin=start)
