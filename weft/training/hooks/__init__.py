"""Hooks: what a training session calls around its life and its runs."""
