"""What is said of each thing as a row of facts: by which names, of which types; and what is true by format."""
