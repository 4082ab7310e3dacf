"""Bytes to values, no reading and no clock: every codec takes bytes and gives values, or an error naming the byte."""
