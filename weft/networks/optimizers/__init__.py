"""The optimizers of tf.keras and those of tf.train under their interface."""
