"""Arrays: making, shaping, indexing, joining and rearranging tensors."""
