"""The common parts of weft's tests: conformance suites that any implementation of a seam must pass."""
