"""The session of a client whose master is at the other end of a connection."""
