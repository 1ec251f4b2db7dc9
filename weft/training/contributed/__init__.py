"""The optimizers of tf.contrib.opt: rules of their own, and those that wrap another optimizer."""
