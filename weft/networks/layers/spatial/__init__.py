"""Layers of signals, images and volumes: convolutions, pooling, and what changes their borders."""
