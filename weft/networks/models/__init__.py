"""Model and Sequential."""
