"""Models as files: weights, configurations, both."""
