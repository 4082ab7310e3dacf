"""Tables that show the known defects of writers."""
