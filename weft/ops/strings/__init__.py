"""Strings, byte by byte and as wholes."""
