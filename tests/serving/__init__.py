"""The server of the explorer: who may ask, how long it takes, what it never gives."""
