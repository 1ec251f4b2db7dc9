"""Calls of layers: one under way, the record of those on tensors that lead back to an Input, and the graph around them."""
