"""The maintenance commands of Delta that can be tried, with their options."""

from __future__ import annotations

from lakelens.model.maintenance import Procedure

PROCEDURES = Procedure.read_all(__package__, "procedures.toml")
