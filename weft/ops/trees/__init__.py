"""Boosted decision trees: gains of splits, ensembles of trees, quantiles of numeric features."""
