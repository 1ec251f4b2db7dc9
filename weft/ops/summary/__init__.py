"""Summaries as nodes."""
