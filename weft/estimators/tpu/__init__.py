"""TPUEstimator on CPUs and GPUs: programs written for both run as they do with `use_tpu=False`."""
