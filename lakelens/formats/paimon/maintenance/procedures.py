"""The maintenance procedures of Paimon that `Table.dry_run` knows."""

from __future__ import annotations

from collections.abc import Mapping

from lakelens.formats.paimon.maintenance import compact, expire_partitions, expire_snapshots, refs
from lakelens.model.maintenance import Procedure

PROCEDURES: Mapping[str, Procedure] = {
    one.name: one
    for one in (
        compact.PROCEDURE,
        expire_snapshots.PROCEDURE,
        expire_partitions.PROCEDURE,
        refs.DELETE,
        refs.EXPIRE,
        expire_snapshots.ORPHANS_PROCEDURE,
        refs.PROCEDURE,
    )
}
