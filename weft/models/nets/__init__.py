"""Whole networks for images, as contrib.slim has them: the variables have the names and shapes of published checkpoints."""
