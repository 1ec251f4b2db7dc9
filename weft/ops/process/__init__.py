"""Ops that stand for what is around a graph in its process: clocks, Python functions, kept tensors, the borders of a part."""
