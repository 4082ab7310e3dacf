"""The part of a Paimon table that says what its health is measured against."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from lakelens.model.health.measurable import Measurable

if TYPE_CHECKING:
    from lakelens.formats.paimon.health.rules import PaimonHealth
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.snapshot import Snapshot


class PaimonMeasurable(Measurable):
    """A Paimon table's limits, calls and own figures."""

    def make_health_rules(self, snapshot: Snapshot | None) -> PaimonHealth:
        """See `Measurable.make_health_rules`."""
        from lakelens.formats.paimon.health.rules import PaimonHealth

        return PaimonHealth(cast("PaimonTable", self), snapshot)
