"""Estimators: a model as a function, and the loops that train, evaluate, predict and export it."""
