"""The inventory of a whole warehouse: what is kept, how a run fills it, how it is read."""
