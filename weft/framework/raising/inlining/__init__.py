"""Calls of functions, cases and gradients of functions, replaced by the nodes that they stand for."""
