"""The part of a table that says what its health is measured against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from lakelens import display

if TYPE_CHECKING:
    from lakelens.analysis.health.health import Health
    from lakelens.model.health.rules import HealthRules
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table


class Measurable:
    """A table whose health can be measured. A format gives its limits and calls; files are measured in any format."""

    def make_health_rules(self, snapshot: Snapshot | None) -> HealthRules:
        """The limits, calls and own figures of this format, for one of the table's states."""
        from lakelens.model.health.rules import HealthRules

        return HealthRules(cast("Table", self), snapshot)

    def health(self, *, snapshot: Any = None) -> Health:
        """Whether the table is well: its figures against its own limits, and the calls that would help.

        Sizes of files against the size that writers aim at, skew of partitions and buckets, deletes and whom they reach,
        how many files a look-up of one value must open (from bounds alone), manifests, what makes the metadata large,
        levels and sorted runs (Paimon), columns without statistics. Each limit says whose it is: a property's, an
        engine's default, or lakelens's own. Ages are measured from the table's newest commit. No data file is opened but
        one for its footer; nothing is written.

        Parameters
        ----------
        snapshot
            An id, a branch, a tag or a time; by default the current snapshot.

        Returns
        -------
        Health
            `measures`, `calls` (the most worth first), `parts` by partition, bucket, column and document, `who_can_read`.

        Raises
        ------
        Missing
            There is no such snapshot.

        Examples
        --------
        >>> import lakelens as ll
        >>> health = ll.sample("iceberg").health()
        >>> health.measures["metadata.json files"].compared_with
        'write.metadata.previous-versions-max, and the one in use'
        >>> [column.name for column in health.parts.columns][:2]
        ['name', 'id']
        """
        return display.measure_health(cast("Table", self), snapshot)
