"""What a Paimon table answers when its map is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from lakelens.model.map.mappable import Mappable

if TYPE_CHECKING:
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.map.boxes import Chart
    from lakelens.model.map.mappable import Since


class PaimonMappable(Mappable):
    """Gives a Paimon table its chart."""

    __slots__ = ()

    def draw_chart(self, since: Since) -> Chart:
        """See `Mappable.draw_chart`."""
        from lakelens.formats.paimon.map import draw_chart

        return draw_chart(cast("PaimonTable", self), since)
