"""`weft saved-model`: shows what a SavedModel offers, and runs it."""
