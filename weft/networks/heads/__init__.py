"""The heads of tf.estimator: tasks whose metrics are Keras's, and which Keras's optimizers train."""
