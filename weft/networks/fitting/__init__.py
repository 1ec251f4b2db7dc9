"""The training of a compiled model: losses, batches, epochs."""
