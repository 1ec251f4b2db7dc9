"""Waits: when they are told of, to whom, and how long they may last."""
