"""`cached_property` for objects that threads share.

Python 3.11 guards all objects of a class with one lock for each property: while one thread computes it for a table, others
wait that ask for it of other tables, and two that compute two properties in turn may wait for each other for ever. Python
3.12 has no lock any more. This is the newer one: two threads may compute the same value twice, and both get the first.

>>> class Word:
...     @cached_property
...     def letters(self):
...         return ["a"]
>>> word = Word()
>>> word.letters is word.letters, Word.letters.attrname
(True, 'letters')
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - it stands for the one of functools
        """A value that is computed when it is first asked for, and kept with its object."""

        def __get__(self, thing: Any, owner: type | None = None) -> Any:
            if thing is None:
                return self
            kept = thing.__dict__
            if self.attrname in kept:
                return kept[self.attrname]
            return kept.setdefault(self.attrname, self.func(thing))


__all__ = ["cached_property"]
