"""What is checked before a release: the built distributions, and every Python of the machine."""
