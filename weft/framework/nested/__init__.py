"""Nested structures of values, and the ways to their leaves."""
