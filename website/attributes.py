"""Has the reference show a `cached_property` of ours as the attribute that it is, which griffe does for functools' alone."""

from __future__ import annotations

from typing import Any

import griffe

_OURS = "lakelens.caching.cached_property"


class CachedProperties(griffe.Extension):
    """Turns each method below `cached_property` into an attribute with the same words."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Look through the members of a class that was read."""
        for name, member in list(cls.members.items()):
            if isinstance(member, griffe.Function) and any(
                decorator.callable_path == _OURS for decorator in member.decorators
            ):
                attribute = griffe.Attribute(
                    name,
                    annotation=member.returns,
                    docstring=member.docstring,
                    lineno=member.lineno,
                    endlineno=member.endlineno,
                    runtime=True,
                )
                attribute.labels |= {"property", "cached"}
                cls.set_member(name, attribute)
