"""XLA in this process: its start, its devices, its options."""
