"""Training sessions: they initialize or restore a model, survive lost tasks, and end cleanly."""
