"""The columns at the snapshot, and every schema, partitioning and sort order that the table knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lakelens.errors import Missing
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.listing import make_listing
from lakelens.explorer.page import Page, Part
from lakelens.model.schema import Schema
from lakelens.model.table import Table
from lakelens.views.card import named
from lakelens.views.card.model import Card, Grid, Note
from lakelens.views.cards.table import grid_specs
from lakelens.views.listing import make_source
from lakelens.views.present import present

_LISTS: dict[str, tuple[str, Callable[[Table, Schema], Any]]] = {
    "columns": ("Columns", lambda table, schema: schema.fields),
    "schemas": ("Schemas", lambda table, schema: table.schemas),
    "specs": ("Partitionings", lambda table, schema: table.specs),
}


@page("schema")
def make_schema(visit: Visit) -> Page:
    """Show one schema with what happened to its columns, all schemas, and how rows were divided and sorted."""
    table, schema, chosen = visit.table, _find(visit), visit.place.get("part")
    if chosen:
        if chosen not in _LISTS:
            raise Missing(f"no part {chosen!r} of a schema", hint=", ".join(_LISTS))
        title, find = _LISTS[chosen]
        back = Note("The schema", "mute", target=named.page("schema", id=visit.place.get("id") or None))
        words = f"of schema {schema.id}" if chosen == "columns" else "all that the table knows"
        head = Card(title, words, body=(back,))
        return Page(visit.place, title, [head, make_listing(make_source(find(table, schema)), visit.place)])
    parts: list[Part] = [present(schema)]
    if len(table.schemas) > 1:
        card, more = present(table.schemas), named.page("schema", part="schemas")
        body = tuple(replace(body, target=more) if isinstance(body, Grid) else body for body in card.body)
        parts.append(replace(card, body=body))
    specs = table.specs
    if any(len(spec) for spec in specs):
        grid = grid_specs(specs, [])
        parts.append(Card("Partitionings", f"{len(specs):,}, field by field", body=(grid,)))
    if any(len(order.fields) for order in table.sort_orders):
        parts.append(present(table.sort_orders))
    return Page(visit.place, "Schema", parts)


def _find(visit: Visit) -> Schema:
    """Find the schema of an id; without one that of the snapshot, today's where that is not known."""
    number = visit.place.get("id")
    if number:
        wanted = visit.place.get_number("id")
        for schema in visit.table.schemas:
            if schema.id == wanted:
                return schema
        known = ", ".join(str(schema.id) for schema in visit.table.schemas[-20:])
        raise Missing(f"no schema {wanted}", hint=f"there are {known}")
    is_listing = visit.snapshot is None or visit.snapshot.id is None
    return visit.table.schema if is_listing or visit.snapshot is None else visit.snapshot.schema
