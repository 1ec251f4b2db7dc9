"""Simulated quantization of a graph as it stands: batch norms go into their layers, weights and activations are rounded."""
