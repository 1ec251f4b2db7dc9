"""Training: optimizers, savers, sessions that survive failures, hooks, input queues, the device setter."""
