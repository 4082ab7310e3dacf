"""The index manifest records more deleted rows than a deletion vector has."""

from tests.support.damage import Paimon, Records, edit_avro

LAKE = "paimon-java/2.0.0-append-deletion-vectors"
CODE, PATH, SAYS = "vector-cardinality", "index", "deleted rows"


def damage(lake: Paimon) -> None:
    def edit(entries: Records) -> None:
        for entry in entries:
            for found in entry["_DELETIONS_VECTORS_RANGES"] or []:
                found["_CARDINALITY"] += 1

    for path in (lake.root / "manifest").glob("index-manifest-*"):
        edit_avro(path, edit)
