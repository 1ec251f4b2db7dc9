"""`weft doctor`: looks for what keeps weft's programs from running, here and between here and servers."""
