"""The formats that a local session of Spark can know: their jars, SQL extensions and settings, as `formats.toml` says."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field

from lakelens.installed import read_text


@dataclass(frozen=True)
class SparkFormat:
    """What Spark needs to know one format; `formats.toml` says what each field means."""

    name: str
    jars: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_part: bool = False
    families: tuple[str, ...] = ()
    extension: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    refuses_special_characters: str | None = None

    def fill_settings(self, warehouse: str) -> dict[str, str]:
        """Fill in the directory of the warehouse.

        >>> SPARK_FORMATS["paimon"].fill_settings("/lake")["spark.sql.catalog.paimon.warehouse"]
        '/lake/paimon'
        """
        return {key: value.replace("{warehouse}", warehouse) for key, value in self.settings.items()}


def _read_formats() -> dict[str, SparkFormat]:
    described = tomllib.loads(read_text(__package__, "formats.toml"))
    return {
        name: SparkFormat(
            name,
            **{
                **facts,
                "jars": {minor: tuple(jars) for minor, jars in facts.get("jars", {}).items()},
                "families": tuple(facts.get("families", ())),
            },
        )
        for name, facts in described.items()
    }


SPARK_FORMATS: Mapping[str, SparkFormat] = _read_formats()
"""By name, in the order of the file."""

FORMATS = tuple(SPARK_FORMATS)
"""Their names: what a session starts with by default."""
