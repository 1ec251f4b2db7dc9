"""A task and its peers: the connections between them, what travels on these, and what becomes of it when one is lost."""
