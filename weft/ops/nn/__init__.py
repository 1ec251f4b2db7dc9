"""Neural networks: convolutions, pooling, normalization, activations, losses, embeddings."""
