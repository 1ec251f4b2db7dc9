"""Hooks that look at evaluations while a model trains."""
