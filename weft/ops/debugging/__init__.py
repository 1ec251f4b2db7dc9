"""Checks: what is refused while a graph is built, and while it runs."""
