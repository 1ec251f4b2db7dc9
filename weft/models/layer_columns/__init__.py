"""tf.contrib.layers' feature columns, which contrib.learn's programs use: older makers of what `feature_columns` has."""
