"""Reports about a graph: its parameters, operations, times and bytes by scope, type of op or line of the program."""
