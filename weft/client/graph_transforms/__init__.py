"""Transforms of GraphDefs by their names, as TensorFlow's graph transform tool has them."""
