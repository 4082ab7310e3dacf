"""The questions as tools for agents."""
