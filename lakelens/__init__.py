"""lakelens."""
