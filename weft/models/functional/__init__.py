"""The layers of tf.contrib.layers, which are functions, and summaries of what they make."""
