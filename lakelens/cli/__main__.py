"""`python -m lakelens.cli`."""

from lakelens.cli.commands import main

main()
