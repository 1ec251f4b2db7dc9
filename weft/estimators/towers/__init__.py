"""Models as towers: one copy of the forward pass for each device, which share their variables."""
