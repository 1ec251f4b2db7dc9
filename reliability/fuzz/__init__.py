"""Mutated input for everything that weft reads from others: GraphDefs, frames, gRPC messages, checkpoint files."""
