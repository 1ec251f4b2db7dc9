"""Probability distributions: samples, densities, moments and divergences as tensors of the graph."""
