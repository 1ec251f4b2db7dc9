"""Sequences, text and images as arrays."""
