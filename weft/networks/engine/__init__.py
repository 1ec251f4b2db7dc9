"""Layers, the record of how they were called, and networks made of them."""
