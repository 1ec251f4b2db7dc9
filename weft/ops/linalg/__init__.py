"""Linear algebra: products, decompositions, and the parts of matrices."""
