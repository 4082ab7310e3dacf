"""The documents that verbs tell with `--json`, run in this process and checked against the schemas kept here."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from lakelens.cli.commands import commands

SCHEMAS = Path(__file__).parent / "schemas"


def invoke(*arguments: str) -> Result:
    """Run a verb."""
    return CliRunner().invoke(commands, list(arguments))


def read_document(*arguments: str, status: int = 0) -> Any:
    """The document of a verb, valid by the schema of that verb."""
    result = invoke(*arguments, "--json") if "--json" not in arguments else invoke(*arguments)
    if not isinstance(result.exception, SystemExit | None):
        raise result.exception
    assert result.exit_code == status, (arguments, result.stderr)
    assert result.stdout.isascii(), "nothing in a document acts on a terminal"
    document = json.loads(result.stdout)
    make_validator(arguments[0]).validate(document)
    return document


@cache
def make_validator(verb: str) -> Draft202012Validator:
    """The validator of a verb's schema."""
    schemas = {path.name: json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*.json")}
    registry: Registry[Any] = Registry().with_resources(
        [(name, Resource.from_contents(schema)) for name, schema in schemas.items()]
    )
    return Draft202012Validator(schemas[f"{verb}.json"], registry=registry)
