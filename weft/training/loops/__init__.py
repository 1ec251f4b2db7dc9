"""Whole training and evaluation loops in one call, those of tf.contrib.slim and tf.contrib.training."""
