"""Rows of a Parquet file as Python values, without any package: whole nested schemas, a batch in memory at a time.

    schema                                   here                 a value
    optional, required leaf                  leaf                 as its logical type says
    group                                    struct               dict
    group (LIST) of a repeated one, or repeated alone             list    list: three levels, two, or one
    group (MAP) of repeated key and value    map                  list of pairs

    levels of a column     definition   how much of its path is there: less than all is null, or an empty list
                           repetition   which of its lists goes on: 0 begins a row

Structs and lists take their levels from their first column; what their others hold has to fit. Follows "Nested Types",
"Nested Encoding" and the rules for older lists of the Apache Parquet format. Refused with `Corrupt`: levels that make no
rows, columns that hold another number of values, values that do not fit their type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from lakelens.codecs.parquet.footer import ParquetFooter
from lakelens.codecs.parquet.leaf_values import Convert, LeafPage, iterate_pages
from lakelens.codecs.parquet.logical_values import Shape, choose_conversion
from lakelens.codecs.parquet.records import check_claims, count_batch_rows
from lakelens.codecs.parquet.schema_tree import Node, decode_tree
from lakelens.codecs.parquet.structure import RowGroup, SchemaLeaf
from lakelens.codecs.span.reader import in_file
from lakelens.errors import Corrupt


def iterate_rows(
    data: bytes,
    footer: ParquetFooter,
    names: Collection[str] | None = None,
    shape: Shape = "python",
    groups: Collection[int] | None = None,
) -> Iterator[list[dict[str, Any]]]:
    """Iterate the rows of a file in batches: all top-level columns or those of some names, of all row groups or some.

    As the shape `python` values are those of Python, as `stored` counts and bytes, as Avro gives the same records. Raises
    `Corrupt` and `Unsupported` naming the file.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> from lakelens.codecs.parquet.footer import decode_footer
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"a": [[1, None], [], None], "b": [{"c": "x"}, None, {"c": None}]}), sink)
    >>> list(iterate_rows(sink.getvalue(), decode_footer(sink)))
    [[{'a': [1, None], 'b': {'c': 'x'}}, {'a': [], 'b': None}, {'a': None, 'b': {'c': None}}]]
    """
    with in_file(footer.path):
        check_claims(data, footer, footer.path)
        columns = [node for node in decode_tree(footer).children if names is None or node.name in names]
        if sum(group.num_rows for group in footer.row_groups) != footer.num_rows:
            seen = sum(group.num_rows for group in footer.row_groups)
            raise Corrupt("row groups of another number of rows", expected=footer.num_rows, seen=seen)
        size = count_batch_rows(footer)
        for number, group in enumerate(footer.row_groups):
            if groups is None or number in groups:
                yield from _iterate_group(data, footer.leaves, group, columns, shape, size)


def _iterate_group(
    data: bytes,
    leaves: Sequence[SchemaLeaf],
    group: RowGroup,
    columns: Sequence[Node],
    shape: Shape,
    size: int,
) -> Iterator[list[dict[str, Any]]]:
    streams = {
        number: _Stream(data, group, number, leaves[number], choose_conversion(leaves[number], shape))
        for column in columns
        for number in column.leaves
    }
    names = [column.name for column in columns]
    for start in range(0, group.num_rows, size):
        count = min(size, group.num_rows - start)
        pieces = {number: stream.take(count) for number, stream in streams.items()}
        assembly = _Assembly(pieces, leaves, shape)
        made = [assembly.make(column, 0, 0) for column in columns]
        for column, values in zip(columns, made, strict=True):
            _check_count(values, count, column)
        rows = zip(*made, strict=True) if made else iter([()] * count)
        yield [dict(zip(names, row, strict=True)) for row in rows]
    for stream in streams.values():
        stream.finish()


def _check_count(values: Sequence[Any], count: int, node: Node) -> None:
    if len(values) != count:
        message = f"another number of values of {node.name} than of what holds them"
        raise Corrupt(message, expected=count, seen=len(values))


class _Stream:
    """The pages of a column in one row group, taken by rows."""

    def __init__(
        self, data: bytes, group: RowGroup, number: int, leaf: SchemaLeaf, convert: Convert | None
    ) -> None:
        self.leaf, self.chunk = leaf, group.columns[number]
        self._pages = iterate_pages(data, self.chunk, leaf, convert)
        self._waiting = LeafPage(0, None, None, [])

    def take(self, rows: int) -> LeafPage:
        """Take what belongs to the next rows. Raises `Corrupt` where there are fewer."""
        taken = LeafPage(0, [], [], [])
        while True:
            page = self._waiting
            cut, begun = self._find_cut(page, rows)
            rows -= begun
            self._move(page, cut, taken)
            if self._waiting.count:  # the next row begins in it
                break
            following = next(self._pages, None)
            if following is None:
                break
            self._waiting = following
        if rows:
            message = f"fewer values of {self.leaf.path} than rows"
            raise Corrupt(message, offset=self.chunk.start, expected=f"{rows} rows more")
        return taken

    def _find_cut(self, page: LeafPage, rows: int) -> tuple[int, int]:
        """Find how much of a page belongs to the next rows, and how many rows begin in that."""
        if page.repetitions is None:
            return (min(rows, page.count),) * 2
        begun = page.repetitions.count(0)
        if begun <= rows:
            return page.count, begun
        place = -1
        for _ in range(rows + 1):
            place = page.repetitions.index(0, place + 1)
        return place, rows

    def _move(self, page: LeafPage, cut: int, taken: LeafPage) -> None:
        most = self.leaf.max_definition_level
        held = cut if page.definitions is None else page.definitions[:cut].count(most)
        taken.repetitions += [0] * cut if page.repetitions is None else page.repetitions[:cut]  # type: ignore[operator]
        taken.definitions += [most] * cut if page.definitions is None else page.definitions[:cut]  # type: ignore[operator]
        taken.values += page.values[:held]
        taken.count += cut
        self._waiting = LeafPage(
            page.count - cut,
            page.repetitions and page.repetitions[cut:],
            page.definitions and page.definitions[cut:],
            page.values[held:],
        )

    def finish(self) -> None:
        """Raises `Corrupt` where more is there than the rows of the group."""
        left = self._waiting.count + sum(page.count for page in self._pages)
        if left:
            message = f"more values of {self.leaf.path} than rows"
            raise Corrupt(message, offset=self.chunk.start, seen=f"{left} more")


class _Assembly:
    """Values of columns put together: `make` gives one for each place that what holds them has."""

    def __init__(self, pieces: dict[int, LeafPage], leaves: Sequence[SchemaLeaf], shape: Shape) -> None:
        self._pieces, self._leaves, self._shape = pieces, leaves, shape

    def make(self, node: Node, depth: int, defined: int) -> list[Any]:
        """Make the values of a node, one for each element of the list that it is in: the `depth`th, there if `defined`."""
        if node.kind == "leaf":
            return self._make_leaf(node, depth, defined)
        if node.kind == "struct":
            return self._make_structs(node, depth, defined)
        return self._make_lists(node, depth, defined)

    def _list_places(self, node: Node, depth: int, defined: int) -> list[int]:
        """List the definition level of each place of a node."""
        piece = self._pieces[node.leaves[0]]
        assert piece.repetitions is not None and piece.definitions is not None
        if not defined and self._leaves[node.leaves[0]].max_repetition_level == depth:
            return piece.definitions
        pairs = zip(piece.repetitions, piece.definitions, strict=True)
        return [
            definition for repetition, definition in pairs if repetition <= depth and definition >= defined
        ]

    def _make_leaf(self, node: Node, depth: int, defined: int) -> list[Any]:
        places, values = self._list_places(node, depth, defined), self._pieces[node.leaves[0]].values
        if len(values) == len(places):
            return values
        following = iter(values)
        return [next(following) if level == node.definition else None for level in places]

    def _make_structs(self, node: Node, depth: int, defined: int) -> list[Any]:
        places = self._list_places(node, depth, defined)
        children = [self.make(child, depth, defined) for child in node.children]
        for child, values in zip(node.children, children, strict=True):
            _check_count(values, len(places), child)
        names = [child.name for child in node.children]
        rows = zip(*children, strict=True)
        return [
            dict(zip(names, row, strict=True)) if level >= node.definition else None
            for level, row in zip(places, rows, strict=True)
        ]

    def _make_lists(self, node: Node, depth: int, defined: int) -> list[Any]:
        elements = [self.make(child, depth + 1, node.inner) for child in node.children]
        for child, values in zip(node.children, elements, strict=True):
            _check_count(values, len(elements[0]), child)
        if node.kind == "list":
            following = iter(elements[0])
        elif self._shape == "stored":
            following = ({"key": key, "value": value} for key, value in zip(*elements, strict=True))
        else:
            following = zip(*elements, strict=True)
        piece, made = self._pieces[node.leaves[0]], list[Any]()
        current: list[Any] | None = None
        assert piece.repetitions is not None and piece.definitions is not None
        for repetition, definition in zip(piece.repetitions, piece.definitions, strict=True):
            if repetition <= depth:
                current = [] if definition >= node.inner else None
                if definition >= defined:
                    made.append([] if current is None and definition >= node.definition else current)
            if repetition <= depth + 1 and definition >= node.inner:
                if current is None:
                    raise Corrupt(f"a list of {node.name} that goes on where it has not begun")
                current.append(next(following))
        return made
