"""Metrics: values that gather over many batches."""
