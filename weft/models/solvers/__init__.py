"""Solvers that see a matrix only through its products with vectors: conjugate gradients, least squares, Lanczos."""
