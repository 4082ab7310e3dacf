"""Tables by their names in a catalog."""
