"""One description of a job, and what the schedulers that run it make of it and tell its tasks. Computes nothing."""
