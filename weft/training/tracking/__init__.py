"""Checkpoints of Python objects: which objects hold which, their values by the paths to them, and the matching of both."""
