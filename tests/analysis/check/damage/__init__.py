"""Kinds of damage, one file each: a table that an engine wrote, what is done to a copy of it, and what a check must find.

`LAKE` is the table's folder below `tests/lakes`; `damage` gets the copy. `CODE` is the finding's code, `PATH` a part of the
path that it must name, `SAYS` words that its message must have; `SEVERITY` is "error" unless the module says otherwise.
"""
