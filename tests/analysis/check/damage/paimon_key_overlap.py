"""Two files of one sorted run have overlapping keys: readers that merge by runs miss the newer version."""

from copy import deepcopy

from tests.support.damage import Paimon, Records

LAKE = "spark/paimon/pk-compacted"
CODE, PATH, SAYS = "key-overlap", "data-", "same sorted run"


def damage(lake: Paimon) -> None:
    def edit(entries: Records) -> Records:
        kept = next(entry for entry in entries if entry["_KIND"] == 0 and entry["_FILE"]["_LEVEL"] > 0)
        twin = deepcopy(kept)
        twin["_FILE"]["_FILE_NAME"] = "data-twin-0.parquet"
        return [*entries, twin]

    number = next(n for n in range(lake.last, 0, -1) if lake.snapshot(n)["commitKind"] == "COMPACT")
    lake.edit_manifest(lake.manifest_path(number), edit)
