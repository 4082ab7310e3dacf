"""The types of Apache Paimon; `types_sql` parses their spellings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

MAX_LENGTH = 2147483647
MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class PaimonField:
    """One field of a ROW or of a table: its id survives renames; `default` is the text of the default value."""

    id: int
    name: str
    type: PaimonType
    description: str | None = None
    default: str | None = None

    def __str__(self) -> str:
        name = "`" + self.name.replace("`", "``") + "`"
        comment = "" if self.description is None else " COMMENT '" + self.description.replace("'", "''") + "'"
        default = "" if self.default is None else f" DEFAULT {self.default}"
        return f"{name} {self.type}{comment}{default}"


@dataclass(frozen=True, slots=True)
class PaimonType:
    """A type; `name` is its root without synonyms: STRING is VARCHAR(2147483647), BYTES is VARBINARY(2147483647).

    >>> str(PaimonType("DECIMAL", precision=10, scale=2, nullable=False))
    'DECIMAL(10, 2) NOT NULL'
    """

    name: str
    nullable: bool = True
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    element: PaimonType | None = None
    key: PaimonType | None = None
    value: PaimonType | None = None
    fields: tuple[PaimonField, ...] = ()
    crs: str | None = None
    algorithm: str | None = None

    def __str__(self) -> str:
        return self._spell() + ("" if self.nullable else " NOT NULL")

    def _spell(self) -> str:
        match self.name:
            case "VARCHAR" if self.length == MAX_LENGTH:
                return "STRING"
            case "VARBINARY" if self.length == MAX_LENGTH:
                return "BYTES"
            case "CHAR" | "VARCHAR" | "BINARY" | "VARBINARY":
                return f"{self.name}({self.length})"
            case "DECIMAL":
                return f"DECIMAL({self.precision}, {self.scale})"
            case "TIME" | "TIMESTAMP":
                return f"{self.name}({self.precision})"
            case "TIMESTAMP_LTZ":
                return f"TIMESTAMP({self.precision}) WITH LOCAL TIME ZONE"
            case "GEOMETRY":
                return f"GEOMETRY({self.crs})"
            case "GEOGRAPHY":
                return f"GEOGRAPHY({self.crs}, {self.algorithm})"
            case "ARRAY" | "MULTISET":
                return f"{self.name}<{self.element}>"
            case "MAP":
                return f"MAP<{self.key}, {self.value}>"
            case "ROW":
                return f"ROW<{', '.join(str(field) for field in self.fields)}>"
            case "VECTOR":
                return f"VECTOR<{self.element}, {self.length}>"
            case _:
                return self.name


TypeLike = str | PaimonType | Mapping[str, Any]


def make_nullable(type_: PaimonType, nullable: bool) -> PaimonType:
    """The same type with another nullability.

    >>> print(make_nullable(PaimonType("INT"), False))
    INT NOT NULL
    """
    return replace(type_, nullable=nullable)
