"""`lifetimes`: every kind of file of each format that is installed, as the format's driver has it."""

from __future__ import annotations

import tomllib

from lakelens.errors import LakeError, list_nearest
from lakelens.formats.registry import load_formats, read_resource
from lakelens.model.life.lifetimes import Lifetime, Lifetimes


def list_lifetimes(format: str | None = None) -> Lifetimes:
    """List every kind of file of each format: who writes it, who names it, whether it may change, and when it goes.

    Parameters
    ----------
    format
        `"iceberg"`, `"paimon"`, `"hive"` or another format that is installed and says it; all by default.

    Returns
    -------
    Lifetimes
        A card, text, a page that prints on one sheet, and `to_arrow()` with a row for each kind of file.

    Raises
    ------
    LakeError
        There is no such format; the hint has the nearest.

    Examples
    --------
    >>> [line.file for line in list_lifetimes("hive") if not line.may_change]
    ['part-…, 000000_0']
    """
    # those without files of their own come last, as in detection
    drivers = sorted(load_formats().values(), key=lambda driver: not getattr(driver, "looks_at", ()))
    places = {driver.name: place for driver in drivers if (place := getattr(driver, "lifetimes", ""))}
    known = list(places)
    if format is not None and format not in known:
        raise LakeError(f"no lifetimes are known of the format {format!r}", hint=list_nearest(format, known))
    chosen = known if format is None else [format]
    return Lifetimes(
        Lifetime(name, **line)
        for name in chosen
        for line in tomllib.loads(read_resource(places[name]))["files"]
    )
