"""Further transformations, sources and uses of datasets: tf.data.experimental."""
