"""Metrics of evaluations, summed up over runs."""
