"""Default values of columns, decoded from the JSON of the schema document ("Default values", version 3).

A default that does not fit its type is a finding, and stays as the document has it: the table is readable without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lakelens.codecs.iceberg.types import IcebergField, IcebergType
from lakelens.codecs.iceberg.value_json import parse_json_value
from lakelens.errors import Corrupt, LakeError


class DefaultValues:
    """Decodes the defaults of one document's schemas; `report` gets those that are malformed."""

    def __init__(self, path: str, report: Callable[[LakeError], None]) -> None:
        self._path, self._report = path, report

    def decode(self, type_: IcebergType, place: str) -> IcebergType:
        """The type with every default below it decoded; `place` is where it is in the document."""
        if not type_.fields:
            return type_
        fields = (
            self._decode_field(field, self._find_place(type_, index, place))
            for index, field in enumerate(type_.fields)
        )
        return replace(type_, fields=tuple(fields))

    @staticmethod
    def _find_place(type_: IcebergType, index: int, place: str) -> str:
        return f"{place}.fields[{index}]" if type_.name == "struct" else f"{place}.{type_.fields[index].name}"

    def _decode_field(self, field: IcebergField, place: str) -> IcebergField:
        # elements, keys and values have their type in their own place, fields in a member of theirs
        below = f"{place}.type" if place.endswith("]") else place
        return replace(
            field,
            type=self.decode(field.type, below),
            initial_default=self._parse(field.initial_default, field.type, f"{place}.initial-default"),
            write_default=self._parse(field.write_default, field.type, f"{place}.write-default"),
        )

    def _parse(self, json: Any, type_: IcebergType, place: str) -> Any:
        try:
            return parse_json_value(json, type_, place, path=self._path)
        except Corrupt as error:
            self._report(error)
            return json
