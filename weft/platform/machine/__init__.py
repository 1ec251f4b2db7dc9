"""What the machine has: memory for arrays, processors, GPUs."""
