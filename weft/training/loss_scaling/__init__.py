"""Scales of losses, which keep gradients in float16 from becoming zero: what they are, and the optimizers that use them."""
