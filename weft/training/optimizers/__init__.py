"""Optimizers, learning rates, slots, and averages of variables."""
