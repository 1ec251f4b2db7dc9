"""The updates of optimizers, as nodes."""
