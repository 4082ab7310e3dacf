"""Tables behind a network."""
