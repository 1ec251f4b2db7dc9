"""Branches and loops as graphs of TensorFlow have them, where a graph is written for it."""
