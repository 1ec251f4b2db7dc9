"""Datasets: sources of elements, transformations of them and iterators over them, as operations.

A dataset is a tensor of type variant. Its value is a `Source`, a small immutable object that knows how to make an
`ElementIterator`, which has the state. An iterator's resource keeps one of these between steps.
"""
