"""A server and the clusters of servers that one process starts."""
