"""The file index beside a data file is gone."""

from tests.support.damage import Paimon

LAKE = "paimon-java/2.0.0-file-index-in-file"
CODE, PATH, SAYS = "file-missing", ".index", "it is not there"


def damage(lake: Paimon) -> None:
    lake.find("**/*.index").unlink()
