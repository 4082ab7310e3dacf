"""The command line: `lakelens demo`, `show`, `tree`, `find`, `html`, `bytes`."""

from lakelens.cli.commands import main

__all__ = ["main"]
