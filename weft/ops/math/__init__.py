"""Arithmetic: elementwise functions, comparisons, reductions, cumulative and segment sums, transforms."""
