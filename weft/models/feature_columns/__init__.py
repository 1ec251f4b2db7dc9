"""Feature columns: how named features of examples become the tensors that a model reads, and the variables in between."""
