"""Layers: objects that make their variables when they are first called."""
