"""Decides which thread reads a connection: its own, one of a pool, or one that waits for a message."""
