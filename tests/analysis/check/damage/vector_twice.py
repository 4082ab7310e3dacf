"""A data file has two deletion vectors in one snapshot."""

from copy import deepcopy

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v3-deletion-vectors"
CODE, PATH, SAYS = "two-vectors", ".avro", "second vector"


def damage(lake: Iceberg) -> None:
    def edit(entries: Records) -> Records:
        live = next(entry for entry in entries if entry["status"] != 2)
        return [*entries, deepcopy(live)]

    lake.edit_manifest(lake.manifest_path(content=1), edit)
