"""The replicas of a strategy: their devices, their values and variables, and the building of each of them."""
