"""The ways in which a stage runs: compiled, or one of those on NumPy."""
