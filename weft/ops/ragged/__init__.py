"""Ragged tensors: rows of different lengths, as the values of all rows and the places where rows begin."""
