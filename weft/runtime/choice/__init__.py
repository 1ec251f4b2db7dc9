"""The choice of a stage's way, on the host or through XLA, and what a stage tells of it."""
