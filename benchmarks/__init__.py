"""weft against TensorFlow, and both against the machine: `python -m benchmarks --help`."""
