"""Modules that are imported when something first looks into them, and what importing costs."""
