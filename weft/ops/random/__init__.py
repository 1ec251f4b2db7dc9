"""Random tensors, with TensorFlow's generators and numbers."""
