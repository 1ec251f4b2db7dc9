"""The public names: each module here is importable as weft.NAME, and has no more than names and thin adaptors."""
