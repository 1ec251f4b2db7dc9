"""contrib.learn: the estimators before tf.estimator, with experiments and monitors, on the same engine."""
