"""A manifest list's range of buckets leaves a bucket out: readers skip its files."""

from tests.support.damage import Paimon, Records

LAKE = "paimon-java/2.0.0-append-buckets"
CODE, PATH, SAYS = "manifest-range", "manifest-", "_BUCKET"


def damage(lake: Paimon) -> None:
    def edit(lines: Records) -> None:
        for line in lines:
            line["_MIN_BUCKET"] = line["_MAX_BUCKET"] = 99

    lake.edit_list(1, edit)
