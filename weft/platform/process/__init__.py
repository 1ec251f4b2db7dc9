"""This process: its signals, forks and end, its name, what it takes, who started it."""
