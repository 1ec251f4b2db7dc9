"""The objects that layers are configured with, by name or by config."""
