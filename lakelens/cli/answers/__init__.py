"""The verbs that answer a question about a table, after what it is made of: each a file of its own."""
