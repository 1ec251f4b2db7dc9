"""What tests of weft share: conformance suites that any implementation of a seam must pass."""
