"""TensorFlow's V2 checkpoints as a library: the sorted table, the tensor bundle on top of it, and the `checkpoint`
state file.

Nothing here knows of graphs or sessions: names and NumPy arrays go in and come out. What is written, TensorFlow
reads, and the other way round.
"""
