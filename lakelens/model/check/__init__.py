"""What a check of a table is made of: the figures that were compared, and the entries that they are compared with."""
