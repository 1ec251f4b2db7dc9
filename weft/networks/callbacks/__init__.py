"""Callbacks: what runs beside the training of a model."""
