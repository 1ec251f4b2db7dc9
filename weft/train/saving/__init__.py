"""Checkpoints and meta graphs."""
