"""What Paimon's maintenance procedures would do to a table, by the rules of the engine's own code."""
