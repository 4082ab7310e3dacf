"""One card for each kind of object, one file for each card."""
