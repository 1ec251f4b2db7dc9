"""Clustering by k-means, as graph and as estimator."""
