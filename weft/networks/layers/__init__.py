"""The layers of tf.keras."""
