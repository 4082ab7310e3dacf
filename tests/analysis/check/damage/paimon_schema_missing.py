"""The schema that older files were written with is gone."""

from tests.support.damage import Paimon

LAKE = "paimon-java/2.0.0-schema-evolution"
CODE, PATH, SAYS = "schema-missing", "", "schema"


def damage(lake: Paimon) -> None:
    (lake.root / "schema" / "schema-1").unlink()
