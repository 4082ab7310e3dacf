"""A whole table as one page: its sections and what each is made of."""
