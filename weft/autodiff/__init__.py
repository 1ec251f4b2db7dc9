"""Differentiation of graphs: gradients() walks backwards and asks each op's declaration for its rule."""
