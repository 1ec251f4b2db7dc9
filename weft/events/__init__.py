"""Event files: written for TensorBoard, and read again."""
