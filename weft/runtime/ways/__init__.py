"""The two ways of a stage, on the host and compiled, each with what it keeps between runs."""
