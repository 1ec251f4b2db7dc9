"""The graph as plain data: dtypes, shapes, op declarations, graphs, devices, cluster specs and their serial forms."""
