"""The inventory of a whole warehouse: its data sets, the run that fills them, and how to read them."""
