"""What a map shows of a table: who names whom, and what is new, as plain data."""
