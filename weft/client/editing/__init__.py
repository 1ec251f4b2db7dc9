"""Finding, copying and rewiring of a graph's nodes: what `tf.contrib.graph_editor` has."""
