"""The names of devices, and of the tasks of a cluster."""
