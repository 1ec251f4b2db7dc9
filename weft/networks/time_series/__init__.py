"""Time series (contrib.timeseries): models that predict what comes next, their estimators, and readers of series."""
