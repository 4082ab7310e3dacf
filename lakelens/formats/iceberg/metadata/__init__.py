"""The metadata document: opened lazily, typed, and its schemas, specs, columns and defaults."""
