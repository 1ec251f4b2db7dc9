"""tf.keras.backend: functions of tensors in the words of Keras."""
