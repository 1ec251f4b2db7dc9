"""How what a program passes becomes nodes: conversions, typing, kernels' context, the functions on the default graph."""
