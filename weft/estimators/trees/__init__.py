"""Estimators of gradient boosted decision trees."""
