"""Rows of one layout: written with one schema, with statistics of the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.codecs.paimon.types import PaimonField
from lakelens.errors import LakeError
from lakelens.formats.paimon.scan.entries import EntryRows
from lakelens.formats.paimon.scan.identity import encode_lists
from lakelens.model.scan.columnar import NotColumnar

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.paimon.context import TableContext
    from lakelens.formats.paimon.metadata.schemas import PaimonSchema


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows of one layout; `schema` is None where it cannot be read.

    `stats_columns` are those that statistics are over, `writes_some` says whether the files hold some columns alone.
    """

    rows: EntryRows
    schema: PaimonSchema | None
    stats_columns: tuple[PaimonField, ...]
    writes_some: bool


@dataclass(frozen=True, slots=True)
class RowGroups:
    """All rows in groups; `places` has the place of each row of the whole (None: the only group has them in order)."""

    groups: tuple[RowGroup, ...]
    places: Any

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(len(group.rows) for group in self.groups)

    def merge(self, pieces: Sequence[pa.Array]) -> pa.Array:
        """Columns of the groups as one column of all rows, in their order."""
        import pyarrow as pa

        if self.places is None:
            return pieces[0]
        return pa.concat_arrays(pieces).take(self.places)


def group_rows(context: TableContext, rows: EntryRows) -> RowGroups:
    """The rows by the id of their schema, `_VALUE_STATS_COLS` and `_WRITE_COLS`.

    Raises `NotColumnar` where statistics name a column that the schema does not have.
    """
    import numpy as np
    import pyarrow as pa

    codes = _code_rows(rows)
    if len(codes) and (codes == codes[0]).all():
        return RowGroups((_make_group(context, rows),), None)
    order = np.argsort(codes, kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    groups = (_make_group(context, rows.choose(part)) for part in np.split(order, cuts) if len(part))
    return RowGroups(tuple(groups), pa.array(places))


def _code_rows(rows: EntryRows) -> Any:
    import numpy as np

    codes = np.zeros(len(rows), np.int64)
    for column in _list_keys(rows):
        coded = column.dictionary_encode("encode")
        _, codes = np.unique(
            codes * (len(coded.dictionary) + 1) + coded.indices.to_numpy(zero_copy_only=False),
            return_inverse=True,
        )
    return codes


def _list_keys(rows: EntryRows) -> Iterator[pa.Array]:
    schemas = rows.find("_SCHEMA_ID", "integer")
    if schemas.null_count < len(schemas):
        yield schemas
    for name in ("_VALUE_STATS_COLS", "_WRITE_COLS"):
        lists = rows.find(name, "list")
        if lists.null_count < len(lists):
            yield encode_lists(lists)


def _make_group(context: TableContext, rows: EntryRows) -> RowGroup:
    number = rows.find("_SCHEMA_ID", "integer")[0].as_py() or 0
    schema = context.schemas.find(number)
    lists = {name: rows.find(name, "list")[0].as_py() for name in ("_VALUE_STATS_COLS", "_WRITE_COLS")}
    try:
        columns = () if schema is None else schema.find_stats_columns(lists)
    except LakeError as error:
        raise NotColumnar(error.message) from error
    return RowGroup(rows, schema, columns, lists["_WRITE_COLS"] is not None)
