"""State that steps exchange values through: queues, accumulators, notes between replicas."""
