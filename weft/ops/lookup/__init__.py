"""Lookup tables and vocabularies."""
