"""Variables: the nodes that hold state, the objects in front of them, scopes, initializers, partitions."""
