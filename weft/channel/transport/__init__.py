"""Carries bytes between two tasks: the interface of a transport, and one file for each kind of it."""
