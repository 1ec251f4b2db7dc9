"""The way through XLA: programs traced into compiled functions."""
