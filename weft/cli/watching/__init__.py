"""`weft top` and `weft watch`: a cluster while it runs, in a terminal and in a browser."""
