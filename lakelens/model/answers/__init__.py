"""The verbs of a table: what people ask of it, and where they walk through it or write it down."""
