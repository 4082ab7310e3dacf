"""A manifest list records a higher min_sequence_number than its files have: planning leaves deletes out."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-rewrite-manifests"
CODE, PATH, SAYS = "min-sequence-number", ".avro", "min_sequence_number"


def damage(lake: Iceberg) -> None:
    def edit(lines: Records) -> None:
        for line in lines:
            line["min_sequence_number"] = line["sequence_number"] + 1

    lake.edit_list(edit)
