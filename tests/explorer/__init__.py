"""The explorer: addresses, pages, and how they look in a browser."""
