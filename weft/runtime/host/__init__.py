"""The way on the host: programs planned for NumPy."""
