"""Graph and FuncGraph, and the parts that they are made of."""
