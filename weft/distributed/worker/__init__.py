"""What a task does for the masters of others: its services, its connections with its peers, its worker near and far."""
