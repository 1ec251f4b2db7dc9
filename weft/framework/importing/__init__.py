"""Graphs that come from elsewhere: files, clients, GraphDefs that are cut to what is needed."""
