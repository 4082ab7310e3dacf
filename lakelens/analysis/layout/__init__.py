"""What a table would read if its rows were arranged otherwise: a layout, the rows that are known, files laid out of them."""
