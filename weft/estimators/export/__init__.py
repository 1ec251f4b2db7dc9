"""Exporting estimators as SavedModels: their outputs, their inputs, and the writing."""
