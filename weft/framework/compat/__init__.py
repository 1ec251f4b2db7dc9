"""What TensorFlow's own Python offers programs around the graph: switches of behaviour, decorators, inspection."""
