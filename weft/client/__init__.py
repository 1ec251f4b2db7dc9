"""Sessions: what a program runs its graph with, here or on a server."""
