"""The command line: `lakelens demo`, `show`, `tree`, `find`, `html`."""

from lakelens.cli.commands import main

__all__ = ["main"]
