"""Explicit kernel methods: features mapped so that linear models of them approximate models of a kernel."""
