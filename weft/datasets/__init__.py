"""Datasets and iterators as programs see them: they build the nodes of `weft.ops.data`."""
