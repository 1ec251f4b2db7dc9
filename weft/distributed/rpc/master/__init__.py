"""The master service as its clients know it: its methods, and requests that need no session."""
