"""The log of weft and its programs."""
