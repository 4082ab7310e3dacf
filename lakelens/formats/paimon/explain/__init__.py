"""The bytes behind the objects of a Paimon table, and what nests in them."""
