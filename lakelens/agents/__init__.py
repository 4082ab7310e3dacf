"""The questions as tools for agents: what is asked and answered, within a root, in marks and in bounds; a server over it."""
