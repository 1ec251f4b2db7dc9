"""Pages of a process by HTTP, behind the same admission as its other services."""
