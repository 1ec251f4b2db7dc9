"""What is open while a graph is built: default graphs and sessions, scopes, the strategy."""
