"""Models of sequences to sequences: attention, decoders and what feeds them."""
