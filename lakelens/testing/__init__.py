"""A conformance kit: what a table format has to do so that all of lakelens works on its tables.

For the package of a format, on a directory of its tables, with pytest::

    from lakelens.testing import CHECKS, find_subjects

    @pytest.mark.parametrize("check", CHECKS, ids=str)
    @pytest.mark.parametrize("subject", find_subjects("ledger", "tests/tables"), ids=str)
    def test_conforms(check, subject):
        check(subject)

or without: `run_checks("ledger", "tests/tables")` is a list of what does not conform. Tables are opened through a store that
only reads; damage is done to bytes on their way, and copies are made in a temporary directory.

>>> from lakelens.samples import sample
>>> run_checks("iceberg", sample("iceberg").location, CHECKS[:2])
[]
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from lakelens.formats.base import Format
from lakelens.testing.checks import CHECKS, Check, NotConforming, Subject, find_subjects

__all__ = ["CHECKS", "Check", "NotConforming", "Subject", "find_subjects", "run_checks"]


def run_checks(
    format: Format | str, directory: str | os.PathLike[str], checks: Iterable[Check] | None = None
) -> list[str]:
    """Every check on every table of a directory; a line for each that does not conform.

    Parameters
    ----------
    format
        The format, or the name of one that is installed.
    directory
        A table, or a directory of tables, at any depth.
    checks
        By default all `CHECKS`.

    Returns
    -------
    list of str
        `format:table check: what is wrong`, in order; empty where everything conforms.

    Examples
    --------
    >>> from lakelens.samples import sample
    >>> run_checks("hive", sample("hive").location, [check for check in CHECKS if str(check) == "walks"])
    []
    """
    said = []
    for subject in find_subjects(format, directory):
        for check in CHECKS if checks is None else checks:
            try:
                check(subject)
            except Exception as error:  # an error of the format's own is what does not conform
                said.append(f"{subject} {check}: {type(error).__name__}: {error}")
    return said
