"""Canned estimators: linear models, feed-forward networks, both together, and baselines, with heads for their tasks."""
