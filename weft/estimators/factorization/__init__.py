"""Factors of sparse matrices by alternating least squares, as graph and as estimator."""
