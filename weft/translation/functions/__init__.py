"""tf.function: functions that are traced once for each signature, and called as nodes of the graph."""
