"""`weft checkpoint`: looks into checkpoints, weft's and TensorFlow's, without a graph."""
