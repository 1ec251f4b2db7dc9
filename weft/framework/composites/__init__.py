"""Values that are made of several tensors, and what is asked of tensors that are not there yet."""
