"""What Iceberg records of a file's rows beside metrics: their order, and the partition that all of them are in.

Follows "Sorting", "Position Delete Files" and "Partition Transforms" of the Iceberg table specification. Readers that go by
a sort order that the file does not have, or by a partition that one of its rows is not in, give wrong rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.codecs.iceberg.transforms import Transform
from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
from lakelens.model.check.checking import OrderCheck, RowCheck
from lakelens.model.check.ledger import Ledger, format_figure

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.metadata.partitions import PartitionColumn

#: Different values of a column that are transformed, of one file.
_MOST_VALUES = 10_000
_ORDERED = ("identity",)


def list_row_checks(context: TableContext, file: IcebergDataFile) -> Iterator[RowCheck]:
    """List the checks of a file: the order of position deletes, a sort order, partition values."""
    if file.file_format == "avro":
        return  # its rows come without their logical types
    if file.content == "position_deletes":
        columns = [("file_path", False, True), ("pos", False, True)]
        yield OrderCheck(file.path, columns, "position deletes are sorted", "warning")
        return
    if file.content != "data":
        return
    names = {field.id: field.name for field in context.schemas.current_struct.fields}
    yield from _list_orders(context, file, names)
    for column in context.specs.columns(file.spec_id) or ():
        spec = context.specs.specs.get(file.spec_id or 0)
        fields = () if spec is None else spec.fields
        source = next((field.source_id for field in fields if field.field_id == column.field_id), None)
        if source in names and column.source is not None and column.transform.is_known:
            yield PartitionCheck(file, column, names[source])


def _list_orders(context: TableContext, file: IcebergDataFile, names: dict[int, str]) -> Iterator[OrderCheck]:
    """List the sort order that the entry claims, as far as it is of columns and not of what is made of them."""
    if not file.sort_order_id:
        return
    orders = {order.order_id: order for order in context.typed.sort_orders or []}
    order = orders.get(file.sort_order_id)
    columns: list[tuple[str, bool, bool]] = []
    for field in () if order is None else order.fields:
        name = names.get(field.source_id or -1)
        if field.transform not in _ORDERED or name is None:
            break
        columns.append((name, field.direction == "desc", field.null_order != "nulls-last"))
    if columns:
        what = f"the entry claims sort order {file.sort_order_id}"
        yield OrderCheck(file.path, columns, what, "warning")


class PartitionCheck(RowCheck):
    """Whether a transform of every row's value is the file's partition value."""

    def __init__(self, file: IcebergDataFile, column: PartitionColumn, name: str) -> None:
        self._file, self._column, self._name = file, column, name
        self._values: set[Any] = set()
        self._is_found = column.transform.name != "void"

    def add(self, rows: pa.Table) -> None:
        """See `RowCheck.add`."""
        import pyarrow as pa

        if not self._is_found or self._name not in rows.column_names:
            self._is_found = False
            return
        column = rows[self._name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_nested(column.type) or len(self._values) > _MOST_VALUES:
            return
        try:
            self._values.update(column.unique().to_pylist())
        except (ValueError, OverflowError, pa.ArrowException, TypeError):
            self._is_found = False

    def finish(self, ledger: Ledger, snapshots: Sequence[int]) -> None:
        """See `RowCheck.finish`."""
        if not self._is_found:
            return
        column, line = self._column, ledger.line("partition values", "entries", "rows")
        recorded = self._file.partition.get(column.shown)
        for value in self._values:
            found = _apply(column.transform, value, column)
            if found is not _UNKNOWN and _differ(recorded, found):
                said = (
                    f"{format_figure(recorded)} recorded, {format_figure(value)} is in {format_figure(found)}"
                )
                message = f"partition field {column.name}, {column.transform} of {self._name}: {said}"
                line.differ("error", "partition-value", self._file.path, message, snapshots)
                return
        line.agree(len(self._values))


_UNKNOWN = object()


def _differ(recorded: Any, found: Any) -> bool:
    """Check whether two partition values of one type differ; of two types nothing can be said."""
    if recorded is None or found is None:
        return recorded is not found
    if type(recorded) is not type(found):
        return False
    if (getattr(recorded, "tzinfo", None) is None) != (getattr(found, "tzinfo", None) is None):
        return False  # a time with a zone and one without
    both_nan = recorded != recorded and found != found
    return bool(recorded != found) and not both_nan


def _apply(transform: Transform, value: Any, column: PartitionColumn) -> Any:
    """Apply the partition value of a row's value; `_UNKNOWN` where it cannot be computed."""
    if column.source is None:
        return _UNKNOWN
    try:
        return column.to_value(transform.apply(value, column.source)) if value is not None else None
    except (TypeError, ValueError, OverflowError, AttributeError):
        return _UNKNOWN
