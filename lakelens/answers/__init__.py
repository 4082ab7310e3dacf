"""What can be asked of a table: one declaration an answer, from which every way to ask it is made."""
