"""AutoGraph: Python functions whose branches and loops over tensors become nodes, and `tf.function`, which calls them."""
