"""The nodes and edges of a graph, what is known of their values, and what is said of them in errors."""
