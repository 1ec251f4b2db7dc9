"""Graphs, nodes and functions as protos, both ways, and what is wrong with bytes that are none."""
