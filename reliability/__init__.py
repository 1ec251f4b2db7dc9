"""Commands that prove what docs/reliability.md promises: chaos, leaks, fuzz, soak. Each takes a seed."""
