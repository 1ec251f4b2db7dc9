"""Data sets that are fetched once and read from a cache."""
