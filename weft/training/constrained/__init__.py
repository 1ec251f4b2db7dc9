"""Minimizing under constraints: problems, the two players that solve them, and the best of what they found."""
