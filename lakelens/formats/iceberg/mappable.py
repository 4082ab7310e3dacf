"""What an Iceberg table answers when its map is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from lakelens.errors import LakeError
from lakelens.model.map.mappable import Mappable

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.map.boxes import Chart
    from lakelens.model.map.mappable import Since


class IcebergMappable(Mappable):
    """Gives an Iceberg table its chart."""

    __slots__ = ()

    def draw_chart(self, since: Since) -> Chart:
        """See `Mappable.draw_chart`."""
        from lakelens.formats.iceberg.map import draw_chart, find_hint

        table = cast("IcebergTable", self)
        path, text = find_hint(table.evidence.files), None
        if path is not None:
            try:
                text = str(table.storage.read_document(path)).strip()
            except LakeError:
                text = "nothing that can be read"
        return draw_chart(table, since, None if path is None or text is None else (path, text))
