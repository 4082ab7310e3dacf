"""The cards of what tables answer: one file an answer."""
