"""Where the bytes under a table's directory are, who keeps them, and what would free them."""
