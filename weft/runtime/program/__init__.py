"""A stage as a list of instructions, with its branches and loops."""
