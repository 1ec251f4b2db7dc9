"""Recurrent layers: cells, the loop over time steps, and the layers that run cells over sequences."""
