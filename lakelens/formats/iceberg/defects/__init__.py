"""Known defects of those who write Iceberg tables, a function each; `book.py` lists them."""
