"""The health of a table: its figures by column, the limits they are compared with, and what a format says of them."""
