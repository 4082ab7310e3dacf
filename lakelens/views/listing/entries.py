"""The entries of a manifest for a reader who pages: of a large one those of a page are decoded, and columns of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.model.manifest import Entries, Entry
from lakelens.views.card import wording
from lakelens.views.card.model import About, Grid
from lakelens.views.cards.items import about_items
from lakelens.views.cards.manifest import grid_entries
from lakelens.views.listing.sources import Source
from lakelens.views.render.html import render_card

if TYPE_CHECKING:
    import pyarrow as pa

#: The columns of a list of entries, each with that of `Entries.to_arrow`.
ENTRY_COLUMNS = {
    "status": "status",
    "file": "path",
    "content": "content",
    "partition": "partition",
    "bucket": "bucket",
    "level": "level",
    "rows": "record_count",
    "bytes": "size_bytes",
    "snapshot": "snapshot_id",
    "sequence": "sequence_number",
}
_KEPT = 400  # entries that were decoded last
_WORDS = ("status", "content", "partition", "path")


class EntrySource(Source):
    """The entries of one manifest: `read` decodes one of `count`, `load` some columns of all of them.

    `subject` is the manifest.
    """

    nouns = ("Entries", "entry", "entries")

    def __init__(
        self,
        manifest: Any,
        count: int,
        read: Callable[[int], Entry],
        load: Callable[[Sequence[str]], pa.Table],
    ) -> None:
        self.subject = manifest
        self._count, self._read, self._load = count, read, load
        self._kept: dict[int, Entry] = {}  # replaced as a whole: other threads may read it

    def __len__(self) -> int:
        return self._count

    def list_keys(self, name: str) -> Sequence[Any]:
        """See `Source.list_keys`."""
        values: list[Any] = self._columns.column(ENTRY_COLUMNS[name]).to_pylist()
        if name == "file":
            return [wording.name(path) for path in values]
        return [None if value == "" else value for value in values]

    @cached_property
    def _columns(self) -> pa.Table:
        return self._load(list(ENTRY_COLUMNS.values()))

    def filter(self, text: str) -> Sequence[int]:
        """The entries that have every word in their status, content, partition or file name, in any case."""
        import pyarrow as pa
        import pyarrow.compute as pc

        texts = [pc.fill_null(self._columns.column(name).cast(pa.string()), "") for name in _WORDS]
        texts[-1] = pc.replace_substring_regex(texts[-1], "^.*/", "")
        whole = pc.binary_join_element_wise(*texts, " ")
        kept = pa.chunked_array([pa.repeat(True, len(self._columns))])
        for word in text.split():
            kept = pc.and_(kept, pc.match_substring(whole, word, ignore_case=True))
        found: list[int] = pc.indices_nonzero(kept).to_pylist()
        return found

    def choose(self, positions: Sequence[int]) -> Entries:
        """See `Source.choose`: in the order of the file, so that each of its blocks is decoded once; the last are kept."""
        made = {position: self._kept.get(position) or self._read(position) for position in sorted(positions)}
        self._kept = dict([*self._kept.items(), *made.items()][-_KEPT:])
        return Entries([made[position] for position in positions])

    def render(self, position: int) -> str:
        """See `Source.render`."""
        return render_card(self._read(position), style=False)

    def write_code(self, position: int) -> str:
        """See `Source.write_code`."""
        return f"entries[{position}]"

    def _grid(self, positions: Sequence[int]) -> Grid:
        return grid_entries(self.choose(positions), how="")

    @cached_property
    def _about(self) -> About:
        return about_items(self.choose(range(min(1, self._count))))
