"""A program as code for XLA while it is traced: its nodes, branches, loops, variables and streams of random numbers."""
